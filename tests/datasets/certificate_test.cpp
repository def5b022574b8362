#include "datasets/certificate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "datasets/dataset.hpp"
#include "datasets/generate.hpp"
#include "graph/encoding.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace tyche::datasets {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// A folder of its own that goes with the test.
class Scratch {
 public:
  Scratch() {
    path_ = std::filesystem::temp_directory_path() / ("tyche-datasets-" + std::to_string(::getpid()) + "-" +
                                                      testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

struct Made {
  LabelledGraph sat;
  LabelledGraph unsat;
  ExpPair pair;
};

Made made(Kind kind, Subset subset) {
  ExpParameters p;
  p.kind = kind;
  for (std::uint64_t i = 0;; ++i) {
    ExpPair pair = make_pair(p, i);
    if (pair.subset != subset) continue;
    return {{encode(pair.sat), 1}, {encode(pair.unsat), 0}, std::move(pair)};
  }
}

std::vector<std::string> properties(const PairCertificate& c) {
  std::vector<std::string> out;
  for (const Failure& f : c.failures) out.push_back(f.property);
  return out;
}

Graph with_edges(const Graph& g, std::vector<Edge> extra) {
  std::vector<Edge> edges = g.edges();
  edges.insert(edges.end(), extra.begin(), extra.end());
  return Graph::from_edges(g.num_nodes(), edges, {g.types().begin(), g.types().end()});
}

TEST(Certificate, OfAnExpPairHoldsWhateverTheNumberingOfItsNodes) {
  const Made m = made(Kind::exp, Subset::exp);
  EXPECT_TRUE(certify_pair(0, m.sat, m.unsat, {}).failures.empty());
  std::vector<Node> reversed(m.sat.graph.num_nodes());
  for (Node v = 0; v < reversed.size(); ++v) reversed[v] = static_cast<Node>(reversed.size()) - 1 - v;
  const LabelledGraph moved{m.sat.graph.relabelled(reversed), 1};
  const PairCertificate c = certify_pair(0, moved, m.unsat, {});
  EXPECT_TRUE(c.failures.empty());
  EXPECT_EQ(c.core, m.pair.core);
  EXPECT_TRUE(c.exhaustive);
  EXPECT_TRUE(c.bridgeless);
}

TEST(Certificate, SeesSwappedLabels) {
  const Made m = made(Kind::exp, Subset::exp);
  const PairCertificate c = certify_pair(0, {m.sat.graph, 0}, {m.unsat.graph, 1}, {});
  EXPECT_THAT(properties(c), Contains("label"));
  EXPECT_FALSE(c.labels_ok);
  EXPECT_THAT(properties(certify_pair(0, {m.sat.graph, 1}, {m.unsat.graph, 1}, {})), Contains("label"));
}

TEST(Certificate, SeesIsomorphicGraphs) {
  const Made m = made(Kind::exp, Subset::exp);
  EXPECT_THAT(properties(certify_pair(0, {m.unsat.graph, 1}, m.unsat, {})),
              testing::IsSupersetOf({"label", "isomorphic", "2-wl"}));
}

TEST(Certificate, SeesAGraphThatIsNotPlanarAndThat1WLTellsApart) {
  const Made m = made(Kind::exp, Subset::exp);
  // Three disjunctions joined to the same three literals: K_{3,3}.
  const Node first = 2 * m.pair.sat.variables;
  std::vector<Edge> extra;
  for (const Node d : {first, first + 1, first + 2}) {
    for (const Node l : {0u, 2u, 4u}) {
      if (!m.sat.graph.has_edge(d, l)) extra.emplace_back(d, l);
    }
  }
  const PairCertificate c = certify_pair(3, {with_edges(m.sat.graph, extra), 1}, m.unsat,
                                         {.subset = Subset::exp, .core = {}, .published = false});
  EXPECT_THAT(properties(c), testing::IsSupersetOf({"planar", "1-wl"}));
  EXPECT_EQ(c.failures.front().of, 3u);
}

TEST(Certificate, SeesWideDisjunctionsBridgesAndWrongCoresUnlessPublished) {
  // A planar part of one disjunction over six variables: wide, and all its edges are bridges.
  Formula part{6, {{1, 2, 3, 4, 5, 6}}};
  const Made m = made(Kind::exp, Subset::exp);
  const auto core = [&](const Formula& f) {
    return Formula{2 * m.pair.core,
                   {f.disjunctions.begin(), f.disjunctions.begin() + static_cast<long>(4 * m.pair.core)}};
  };
  const LabelledGraph sat{encode(conjunction_of_disjoint(core(m.pair.sat), part)), 1};
  const LabelledGraph unsat{encode(conjunction_of_disjoint(core(m.pair.unsat), part)), 0};
  const PairCertificate strict =
      certify_pair(0, sat, unsat, {.subset = {}, .core = m.pair.core + 1, .published = false});
  EXPECT_THAT(properties(strict), testing::UnorderedElementsAre("width", "bridges", "core"));
  const PairCertificate published = certify_pair(0, sat, unsat, {.subset = {}, .core = {}, .published = true});
  EXPECT_TRUE(published.failures.empty());
  EXPECT_EQ(published.wide, 2u);
  EXPECT_FALSE(published.bridgeless);
}

TEST(Certificate, RecognisesACorruptPairWithoutAManifestAndSeesASpareEdge) {
  const Made m = made(Kind::cexp, Subset::corrupt);
  const PairCertificate good = certify_pair(0, m.sat, m.unsat, {});
  EXPECT_TRUE(good.failures.empty());
  EXPECT_EQ(good.subset, Subset::corrupt);
  EXPECT_TRUE(good.corrupt_minimal);
  EXPECT_FALSE(good.wl1_equal);
  // One more literal in a disjunction that has room is not needed.
  for (Node d = 2 * m.pair.sat.variables; d < m.sat.graph.num_nodes(); ++d) {
    const Node literal = 2 * m.pair.core;  // the first variable of the planar part
    if (m.sat.graph.degree(d) >= 5 || m.sat.graph.has_edge(d, literal) || m.sat.graph.has_edge(d, literal + 1))
      continue;
    const PairCertificate c = certify_pair(0, {with_edges(m.sat.graph, {{d, literal}}), 1}, m.unsat, {});
    EXPECT_EQ(properties(c), std::vector<std::string>{"corrupt-minimal"});
    return;
  }
  FAIL() << "no disjunction with room";
}

TEST(Certificate, SaysThatAGraphIsNoFormula) {
  const std::vector<Edge> edge = {{0, 1}};
  const LabelledGraph a{Graph::from_edges(2, edge), 1};
  const LabelledGraph b{Graph::from_edges(2, {}), 0};
  EXPECT_THAT(properties(certify_pair(0, a, b, {})), Contains("encoding"));
}

GenerateOptions options(Kind kind, std::uint64_t pairs, unsigned threads) {
  GenerateOptions o;
  ExpParameters parameters;
  parameters.kind = kind;
  parameters.pairs = pairs;
  o.recipe = parameters;
  o.threads = threads;
  return o;
}

TEST(Generate, WritesTheSameBytesOnAnyNumberOfThreads) {
  const Scratch scratch;
  for (const Kind kind : {Kind::exp, Kind::sparse_cexp}) {
    const GenerateResult one = generate(options(kind, 13, 1), scratch / "one");
    ASSERT_TRUE(one.certificate);
    EXPECT_EQ(std::get<Certificate>(*one.certificate).pairs, 13u);
    const std::string graphs = read_file(scratch / "one/graphs.txt");
    const std::string manifest = read_file(scratch / "one/manifest.json");
    for (const unsigned threads : {2u, 3u, 4u}) {
      const GenerateResult more = generate(options(kind, 13, threads), scratch / "more");
      EXPECT_EQ(more.nodes, one.nodes);
      EXPECT_EQ(read_file(scratch / "more/graphs.txt"), graphs);
      EXPECT_EQ(read_file(scratch / "more/manifest.json"), manifest);
      std::filesystem::remove_all(scratch / "more");
    }
    std::filesystem::remove_all(scratch / "one");
  }
}

TEST(Generate, WritesADataSetThatLoadsAndCertifies) {
  const Scratch scratch;
  (void)generate(options(Kind::cexp, 10, 2), scratch / "d");
  const Dataset data = load_dataset(scratch / "d");
  EXPECT_EQ(data.set.graphs.size(), 20u);
  EXPECT_EQ(data.set.labels[0], 1);
  EXPECT_EQ(data.set.labels[1], 0);
  EXPECT_EQ(std::count(data.subset.begin(), data.subset.end(), Subset::corrupt), 10);
  EXPECT_EQ(data.pair[19], 9u);
  const Certificate c = certify(scratch / "d", {.threads = 2, .published = false, .format = {}, .progress = nullptr});
  EXPECT_TRUE(c.failures.empty());
  EXPECT_EQ(c.corrupt_pairs, 5u);
  EXPECT_EQ(c.corrupt_minimal, 5u);
  EXPECT_EQ(c.wl1_equal, 5u);
  EXPECT_EQ(c.wl2_distinct, 10u);
  // Without the manifest the CORRUPT pairs are found all the same.
  EXPECT_EQ(to_json(certify(scratch / "d/graphs.txt", {})), to_json(c));
}

TEST(Generate, DoesNotReplaceADataSetUnasked) {
  const Scratch scratch;
  (void)generate(options(Kind::exp, 2, 1), scratch / "d");
  EXPECT_THROW((void)generate(options(Kind::exp, 3, 1), scratch / "d"), InputError);
  EXPECT_EQ(load_dataset(scratch / "d").set.graphs.size(), 4u);
  GenerateOptions force = options(Kind::exp, 3, 1);
  force.replace = true;
  (void)generate(force, scratch / "d");
  EXPECT_EQ(load_dataset(scratch / "d").set.graphs.size(), 6u);
}

TEST(Certify, RefusesWhatDoesNotMakePairsAndAManifestThatDoesNotFit) {
  const Scratch scratch;
  write_file(scratch / "odd.txt", "1\n1 0\n0 0\n");
  EXPECT_THROW((void)certify(scratch / "odd.txt", {}), InputError);
  (void)generate(options(Kind::exp, 2, 1), scratch / "d");
  const std::string manifest = read_file(scratch / "d/manifest.json");
  for (const std::string& bad : {std::string("{"), std::string("[]"), std::string(R"({"graphs": [{"pair": 0}]})"),
                                 std::string(R"({"graphs": []})"), manifest.substr(0, manifest.size() / 2)}) {
    write_file(scratch / "d/manifest.json", bad);
    EXPECT_THROW((void)load_dataset(scratch / "d"), InputError) << bad;
  }
}

TEST(Dataset, TheHashSeesEveryEdgeTypeAndLabel) {
  const Scratch scratch;
  const auto hash = [&](const char* text) {
    write_file(scratch / "g.txt", text);
    return load_dataset(scratch / "g.txt").hash;
  };
  const std::uint64_t base = hash("1\n3 0\n0 1 1\n0 1 0\n0 0\n");
  EXPECT_EQ(base, hash("1\n3 0\n0 1 1\n0 1 0\n0 0\n"));
  EXPECT_NE(base, hash("1\n3 1\n0 1 1\n0 1 0\n0 0\n"));
  EXPECT_NE(base, hash("1\n3 0\n0 1 1\n0 1 0\n1 0\n"));
  EXPECT_NE(base, hash("1\n3 0\n0 1 2\n0 0\n0 1 0\n"));
}

}  // namespace
}  // namespace tyche::datasets
