#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "datasets/certificate.hpp"
#include "datasets/generate.hpp"
#include "datasets/tasks.hpp"
#include "graph/patterns.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/temporary_folder.hpp"

namespace tyche::datasets {
namespace {

using ::testing::HasSubstr;

GenerateOptions counting(std::uint64_t graphs, unsigned threads) {
  GenerateOptions options;
  options.recipe = CountingParameters{.seed = 1, .graphs = graphs};
  options.threads = threads;
  return options;
}

TEST(Counting, GraphsAreRegularOnesLessAsManyEdgesAsNodes) {
  std::map<Node, std::uint64_t> edges;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const Graph graph = make_counting({}, i).graph;
    edges[graph.num_nodes()] = graph.num_edges();
    for (Node v = 0; v < graph.num_nodes(); ++v) EXPECT_LE(graph.degree(v), graph.num_nodes() < 20 ? 6u : 5u);
  }
  EXPECT_EQ(edges, (std::map<Node, std::uint64_t>{{10, 20}, {15, 30}, {20, 30}, {30, 45}}));
  Stream stream(derive_key(1, Purpose::test));
  const Graph regular = random_regular(9, 4, stream);
  for (Node v = 0; v < 9; ++v) EXPECT_EQ(regular.degree(v), 4u);
}

TEST(Counting, IsTheSameOnDiskInMemoryAndOnAnyNumberOfThreads) {
  const TemporaryFolder one, two;
  const GenerateResult result = generate(counting(40, 1), one.path());
  (void)generate(counting(40, 3), two.path());
  EXPECT_EQ(read_file(one / "graphs.jsonl"), read_file(two / "graphs.jsonl"));
  EXPECT_EQ(read_file(one / "manifest.json"), read_file(two / "manifest.json"));
  ASSERT_TRUE(result.certificate);
  EXPECT_EQ(std::get<TaskCertificate>(*result.certificate).right, 40u);
  const Dataset read = load_dataset(one.path());
  const Dataset made = make(counting(40, 2)).dataset;
  EXPECT_EQ(read.hash, made.hash);
  EXPECT_EQ(read.set.targets, made.set.targets);
  EXPECT_EQ(read.set.target_dim, 6u);
  EXPECT_TRUE(read.set.labels.empty() && read.subset.empty() && read.pair.empty());
  EXPECT_EQ(load_dataset(two.path()).hash, read.hash);
}

TEST(Counting, ACertificateNoticesOneWrongTarget) {
  const TemporaryFolder folder;
  (void)generate(counting(10, 1), folder.path());
  const auto certificate = std::get<TaskCertificate>(certify_any(folder.path(), {}));
  EXPECT_EQ(certificate.right, 10u);
  EXPECT_TRUE(certificate.failures.empty());
  GraphSet set = load_dataset(folder.path()).set;
  set.targets[6 * 7 + 3] += 1;
  const TaskCertificate wrong = certify_counting(set, {});
  ASSERT_EQ(wrong.failures.size(), 1u);
  EXPECT_EQ(wrong.failures[0].of, 7u);
  EXPECT_THAT(wrong.failures[0].detail, HasSubstr("cycle6: target"));
  set.target_dim = 0;
  set.targets.clear();
  EXPECT_THROW((void)certify_counting(set, {}), InputError);
}

TEST(Counting, FilesAreNotReplacedUnaskedAndDamageIsSeen) {
  const TemporaryFolder folder;
  (void)generate(counting(10, 1), folder.path());
  EXPECT_THROW((void)generate(counting(10, 1), folder.path()), InputError);
  GenerateOptions again;
  again.recipe = recipe_of("csl");
  EXPECT_THROW((void)generate(again, folder.path()), InputError);
  again.replace = true;
  (void)generate(again, folder.path());
  EXPECT_FALSE(std::filesystem::exists(folder / "graphs.jsonl")) << "or the folder would hold two data sets";
  GenerateOptions counts = counting(10, 1);
  counts.replace = true;
  (void)generate(counts, folder.path());
  EXPECT_FALSE(std::filesystem::exists(folder / "graphs.txt"));
  std::string text = read_file(folder / "graphs.jsonl");
  text[text.find("target") + 11] ^= 1;
  write_file(folder / "graphs.jsonl", text);
  EXPECT_THROW((void)load_dataset(folder.path()), InputError);
}

TEST(Counting, HasOneParameterMoreThanItsSeed) {
  Recipe recipe = recipe_of("counting");
  set_parameter(recipe, "graphs", "7");
  EXPECT_EQ(graphs_of(recipe), 7u);
  EXPECT_EQ(pairs_of(recipe), 0u);
  EXPECT_EQ(folder_name(recipe), "counting-7-seed1");
  EXPECT_THROW(set_parameter(recipe, "copies", "7"), InputError);
  set_parameter(recipe, "graphs", "0");
  EXPECT_THROW(check(recipe), InputError);
}

}  // namespace
}  // namespace tyche::datasets
