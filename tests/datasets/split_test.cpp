#include "datasets/split.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>

#include "support/error.hpp"
#include "support/file.hpp"
#include "support/temporary_folder.hpp"

namespace tyche::datasets {
namespace {

using List = std::vector<std::uint32_t>;

std::string refusal(std::string_view text, std::uint64_t graphs = 10) {
  try {
    (void)parse_split(text, "s.json", graphs);
  } catch (const InputError& error) {
    return error.what();
  }
  return "taken";
}

TEST(Split, OneObjectIsOneFoldWithSortedParts) {
  const auto folds = parse_split(R"({"train": [4, 0, 2], "validation": [1], "test": [9, 3]})", "s.json", 10);
  ASSERT_EQ(folds.size(), 1u);
  EXPECT_EQ(folds[0].train, (List{0, 2, 4}));
  EXPECT_EQ(folds[0].validation, (List{1}));
  EXPECT_EQ(folds[0].test, (List{3, 9}));
  EXPECT_EQ(left_out(folds[0], 10), 4u);
}

TEST(Split, FoldsAreReadAsErricaEtAlPublishThem) {
  const auto folds = parse_split(R"([
    {"test": [0, 1], "model_selection": [{"train": [2, 3], "validation": [4, 5]}]},
    {"test": [2, 3], "model_selection": [{"train": [0, 1, 4], "validation": [5]}]}
  ])",
                                 "s.json", 6);
  ASSERT_EQ(folds.size(), 2u);
  EXPECT_EQ(folds[1].test, (List{2, 3}));
  EXPECT_EQ(folds[1].train, (List{0, 1, 4}));
  EXPECT_EQ(folds[1].validation, (List{5}));
}

TEST(Split, AValidationPartMayBeAbsentOrHaveAShortName) {
  EXPECT_TRUE(parse_split(R"({"train": [0], "test": [1]})", "s.json", 2)[0].validation.empty());
  EXPECT_EQ(parse_split(R"({"train": [0], "val": [2], "test": [1]})", "s.json", 3)[0].validation, (List{2}));
}

TEST(Split, BadFilesAreRefusedWithTheirPlace) {
  EXPECT_EQ(refusal("{\"train\": [0],\n\n  oops"), "s.json: line 3: expected JSON: the folds of a data set");
  EXPECT_EQ(refusal(R"([{"train": [0], "test": [1]}, {"train": [0, 3], "test": [3]}])"),
            "s.json: [1]: graph 3 is in two parts, train and test");
  EXPECT_EQ(refusal(R"({"train": [0], "validation": [0], "test": [1]})"),
            "s.json: graph 0 is in two parts, train and validation");
  EXPECT_EQ(refusal(R"({"train": [0, 10], "test": [1]})"),
            "s.json: .train[1]: graph 10 is out of range: the data has 10 graphs (0 to 9)");
  EXPECT_EQ(refusal(R"({"train": [0, -1], "test": [1]})"),
            "s.json: .train[1]: expected the index of a graph, found '-1'");
  EXPECT_EQ(refusal(R"({"train": [0, 1e999], "test": [1]})"),
            "s.json: a number in it is too large; expected indices of graphs");
  EXPECT_EQ(refusal(R"({"train": [0, 0], "test": [1]})"), "s.json: .train[1]: graph 0 is in this part already");
  EXPECT_EQ(refusal(R"({"train": [], "test": [1]})"), "s.json: the train part is empty; expected at least one graph");
  EXPECT_EQ(refusal(R"({"train": [0], "test": []})"), "s.json: the test part is empty; expected at least one graph");
  EXPECT_EQ(refusal(R"({"train": [0]})"), "s.json: has no \"test\"");
  EXPECT_EQ(refusal(R"([{"test": [0], "model_selection": []}])"),
            "s.json: [0].model_selection: expected a list of one {\"train\": …, \"validation\": …}, found an array");
  EXPECT_EQ(refusal(R"([])"), "s.json: the list has no folds");
  EXPECT_EQ(refusal(std::string(100000, '[')).substr(0, 7), "s.json:");
}

TEST(Split, IndexFilesOfAFolderAreASplit) {
  const TemporaryFolder folder;
  write_file(folder.path() / "train.txt", "0\n2, 4\n");
  write_file(folder.path() / "valid.txt", "1 3");
  write_file(folder.path() / "test.txt", "5\r\n");
  const auto folds = read_split(folder.path(), 6);
  ASSERT_EQ(folds.size(), 1u);
  EXPECT_EQ(folds[0].train, (List{0, 2, 4}));
  EXPECT_EQ(folds[0].validation, (List{1, 3}));
  EXPECT_EQ(folds[0].test, (List{5}));
}

TEST(Split, NumberedIndexFilesAreFolds) {
  const TemporaryFolder folder;
  for (int f = 1; f <= 2; ++f) {
    const std::string ending = "_idx-" + std::to_string(f) + ".txt";
    write_file(folder.path() / ("train" + ending), f == 1 ? "0\n1\n" : "2\n3\n");
    write_file(folder.path() / ("test" + ending), f == 1 ? "2\n3\n" : "0\n1\n");
  }
  const auto folds = read_split(folder.path(), 4);
  ASSERT_EQ(folds.size(), 2u);
  EXPECT_EQ(folds[1].train, (List{2, 3}));
}

TEST(Split, BadIndexFilesAreRefusedWithTheirLine) {
  const auto refused = [](std::string_view text) -> std::string {
    try {
      (void)parse_indices(text, "train.txt", 10);
    } catch (const InputError& error) {
      return error.what();
    }
    return "taken";
  };
  EXPECT_EQ(refused("0\n1\n10\n"), "train.txt: line 3: graph 10 is out of range: the data has 10 graphs (0 to 9)");
  EXPECT_EQ(refused("0\n0\n"), "train.txt: line 2: graph 0 is in this part already");
  EXPECT_EQ(refused("0\nx\n").substr(0, 18), "train.txt: line 2:");
  const TemporaryFolder folder;
  EXPECT_THROW((void)read_split(folder.path(), 3), InputError);
  write_file(folder.path() / "train.txt", "0");
  EXPECT_THROW((void)read_split(folder.path(), 3), InputError);  // no test.txt
}

RC_GTEST_PROP(Split, EqualFoldsHaveEqualHashesHoweverTheyAreWritten, ()) {
  auto marks = *rc::gen::container<std::vector<int>>(12, rc::gen::inRange(0, 4));
  marks[3] = 0;  // neither part may be empty
  marks[7] = 2;
  std::string parts[3];
  for (std::size_t g = marks.size(); g-- > 0;) {  // descending, which the reader sorts
    if (marks[g] < 3) parts[marks[g]] += (parts[marks[g]].empty() ? "" : ", ") + std::to_string(g);
  }
  const auto plain =
      parse_split("{\"train\":[" + parts[0] + "],\"val\":[" + parts[1] + "],\"test\":[" + parts[2] + "]}", "a", 12);
  const auto published = parse_split("[{\"test\":[" + parts[2] + "],\"model_selection\":[{\"train\":[" + parts[0] +
                                         "],\"validation\":[" + parts[1] + "]}]}]",
                                     "b", 12);
  RC_ASSERT(split_hash(plain) == split_hash(published));
  auto other = plain;
  std::swap(other[0].train, other[0].test);
  RC_ASSERT(split_hash(other) != split_hash(plain));
}

}  // namespace
}  // namespace tyche::datasets
