#include "datasets/csl.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "datasets/certificate.hpp"
#include "datasets/dataset.hpp"
#include "datasets/folds.hpp"
#include "datasets/generate.hpp"
#include "graph/isomorphism.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/temporary_folder.hpp"
#include "wl/wl.hpp"

namespace tyche::datasets {
namespace {

GenerateOptions csl(std::uint64_t copies, unsigned threads) {
  GenerateOptions options;
  options.recipe = CslParameters{.seed = 1, .copies = copies};
  options.threads = threads;
  options.replace = true;
  return options;
}

TEST(Csl, SkipsAreOnePerClassByTheTheoremOnCirculantsOfPrimeOrder) {
  // On a prime number of nodes C(1, s) and C(1, t) are isomorphic only if t is s, -s, 1/s or -1/s.
  std::set<Node> covered;
  for (const Node s : kCslSkips) {
    for (Node t = 2; 2 * t < kCslNodes; ++t) {
      const Node product = s * t % kCslNodes;
      if (t == s || product == 1 || product == kCslNodes - 1) {
        EXPECT_TRUE(covered.insert(t).second) << t << " is in two classes";
        EXPECT_TRUE(isomorphism(csl_graph(kCslNodes, s), csl_graph(kCslNodes, t))) << s << " " << t;
      }
    }
  }
  EXPECT_EQ(covered.size(), 19u);  // 2 … 20
}

TEST(Csl, HoldsTenClassesInterleavedThatOneDimensionCannotTellApart) {
  const CslParameters parameters;
  ASSERT_EQ(parameters.graphs(), 150u);
  std::vector<Graph> graphs;
  for (std::uint64_t i = 0; i < 150; ++i) {
    LabelledGraph g = make_csl(parameters, i);
    EXPECT_EQ(g.label, static_cast<int>(i % 10));
    ASSERT_EQ(g.graph.num_nodes(), 41u);
    ASSERT_EQ(g.graph.num_edges(), 82u);
    ASSERT_TRUE(isomorphism(g.graph, csl_graph(41, kCslSkips[i % 10])));
    graphs.push_back(std::move(g.graph));
  }
  EXPECT_NE(graphs[0], graphs[10]);  // numbered afresh
  EXPECT_EQ(wl::group(graphs, {.dim = 1}).groups, 1u);
  EXPECT_EQ(wl::group(std::span(graphs).first(10), {.dim = 2}).groups, 10u);
}

TEST(GenerateCsl, WritesTheSameBytesOnAnyNumberOfThreadsAndCertifies) {
  const TemporaryFolder folder;
  const GenerateResult made = generate(csl(15, 1), folder / "one");
  ASSERT_TRUE(made.certificate);
  EXPECT_EQ(std::get<CslCertificate>(*made.certificate).graphs, 150u);
  (void)generate(csl(15, 4), folder / "four");
  for (const char* name : {"graphs.txt", "manifest.json"}) {
    EXPECT_EQ(read_file(folder / "one" / name), read_file(folder / "four" / name)) << name;
  }
  for (const char* path : {"one", "one/graphs.txt"}) {
    const auto any = certify_any(folder / path, {});
    ASSERT_TRUE(std::holds_alternative<CslCertificate>(any)) << path;
    const auto& c = std::get<CslCertificate>(any);
    EXPECT_TRUE(c.failures.empty());
    EXPECT_EQ(c.regular, 150u);
    EXPECT_EQ(c.wl1_equal, 150u);
    EXPECT_EQ(c.copies_ok, 150u);
    ASSERT_EQ(c.classes.size(), 10u);
    for (const auto& [label, own] : c.classes) {
      EXPECT_EQ(own.skip, kCslSkips[static_cast<std::size_t>(label)]);
      EXPECT_EQ(own.copies, 15u);
    }
  }
  const Dataset data = load_dataset(folder / "one");
  EXPECT_TRUE(data.pair.empty());
  for (const Fold& fold : make_folds(data.set.labels, data.pair, {.folds = 5})) {
    EXPECT_EQ(fold.test.size(), 30u);
    std::vector<int> of_label(10, 0);
    for (const std::uint32_t g : fold.test) ++of_label[static_cast<std::size_t>(data.set.labels[g])];
    EXPECT_THAT(of_label, testing::Each(3));
  }
}

TEST(CslCertificate, SeesWhatIsWrong) {
  const Graph reference = csl_graph(41, 2);
  CslCertificate c;
  const auto saying = [&](const LabelledGraph& graph, Node skip) {
    CslFacts facts = examine_csl(graph, reference);
    facts.said_skip = skip;
    return facts;
  };
  c.add(saying({csl_graph(41, 2), 0}, 2));
  EXPECT_TRUE(c.failures.empty());
  c.add(examine_csl({csl_graph(41, 3), 0}, reference));   // not its class
  c.add(examine_csl({csl_graph(41, 20), 7}, reference));  // the class of label 0 once more
  c.add(saying({csl_graph(41, 4), 4}, 5));                // the manifest is wrong
  c.add(examine_csl({csl_graph(40, 3), 3}, reference));   // another size
  const std::vector<Edge> triangle = {{0, 1}, {1, 2}, {0, 2}};
  c.add(examine_csl({Graph::from_edges(3, triangle), 5}, reference));
  std::vector<std::pair<std::uint64_t, std::string>> found;
  for (const Failure& f : c.failures) found.emplace_back(f.of, f.property);
  EXPECT_THAT(found,
              testing::ElementsAre(testing::Pair(1, "copy"), testing::Pair(2, "class"), testing::Pair(3, "skip"),
                                   testing::Pair(4, "1-wl"), testing::Pair(5, "1-wl"), testing::Pair(5, "regular")));
  // Two rings of ten with all neighbours joined across: 4-regular, connected, and no circular skip links.
  std::vector<Edge> prism;
  for (Node v = 0; v < 10; ++v) {
    prism.emplace_back(v, (v + 1) % 10);
    prism.emplace_back(10 + v, 10 + (v + 3) % 10);
    prism.emplace_back(v, 10 + v);
    prism.emplace_back(v, 10 + (v + 1) % 10);
  }
  const Graph other = Graph::from_edges(20, prism);
  CslCertificate d;
  d.add(examine_csl({other, 0}, other));
  ASSERT_EQ(d.failures.size(), 1u);
  EXPECT_EQ(d.failures[0].property, "skip");
}

TEST(CslParameters, RefuseNoCopiesAtAll) {
  EXPECT_THROW(check(CslParameters{.copies = 0}), InputError);
  EXPECT_THROW(check(CslParameters{.copies = 1000000000}), InputError);
}

}  // namespace
}  // namespace tyche::datasets
