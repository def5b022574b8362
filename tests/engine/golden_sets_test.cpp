// The graphs on sets that PyTorch's cases passed messages on, against ours.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/golden.hpp"
#include "wl/set_graph.hpp"

namespace tyche::engine {
namespace {

// Golden files number the nodes of all graphs through, and sets graph by graph.
void expect_sets(const GoldenCase& golden, const std::string& prefix, wl::SetKind kind) {
  const auto nodes = golden.integers(prefix + ".nodes");
  const auto iso = golden.integers(prefix + ".iso");
  const auto ends = golden.integers(prefix + ".edge_index");
  const auto batch = golden.integers(prefix + ".batch");
  const Job job = golden.job();
  const std::vector<wl::SetType> types = wl::set_types(job.data.graphs.all(), kind);
  std::set<std::pair<std::int64_t, std::int64_t>> expected, found;
  for (std::size_t e = 0; e < ends.size() / 2; ++e) expected.emplace(ends[e], ends[e + ends.size() / 2]);
  std::int64_t first_node = 0, first_set = 0;
  for (std::size_t g = 0; g < job.data.graphs.size(); ++g) {
    const wl::SetGraph sets = wl::make_set_graph(job.data.graphs[g], kind);
    for (std::size_t s = 0; s < sets.size(); ++s) {
      const std::size_t at = static_cast<std::size_t>(first_set) + s;
      ASSERT_LT(at, iso.size());
      EXPECT_EQ(batch[at], static_cast<std::int64_t>(g));
      for (unsigned i = 0; i < kind.k; ++i) EXPECT_EQ(nodes[at * kind.k + i], first_node + sets.set(s)[i]);
      EXPECT_EQ(types[static_cast<std::size_t>(iso[at])], sets.types[s]);
      for (const std::uint32_t t : sets.neighbours(s)) found.emplace(static_cast<std::int64_t>(at), first_set + t);
    }
    first_node += job.data.graphs[g].num_nodes();
    first_set += static_cast<std::int64_t>(sets.size());
  }
  EXPECT_EQ(static_cast<std::size_t>(first_set), iso.size());
  EXPECT_EQ(found, expected);
}

TEST(GoldenSets, TriplesOfGcn3) { expect_sets(GoldenCase("gcn3"), "set3", {.k = 3}); }

TEST(GoldenSets, PairsAndConnectedTriplesOfGcn123) {
  for (const char* name : {"gcn123", "gcn123_rni50"}) {
    const GoldenCase golden(name);
    expect_sets(golden, "set2", {.k = 2});
    expect_sets(golden, "set3", {.k = 3, .choice = wl::SetChoice::connected});
  }
}

}  // namespace
}  // namespace tyche::engine
