#include "wl/quotient_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/file.hpp"
#include "wl/sample_graphs.hpp"

namespace tyche::wl {
namespace {

using testing::HasSubstr;

class QuotientCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("tyche-cache-" + std::to_string(::getpid()) + "-" +
                                                        testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    cache_.folder = folder_;
    cache_.least_sets = 0;
    cache_.say = [this](const std::string& line) { said_ += line + "\n"; };
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Quotient get() {
    said_.clear();
    return cached_quotient(graphs_, options_, cache_);
  }
  [[nodiscard]] std::filesystem::path file() const { return cache_file(folder_, graphs_, options_); }

  std::filesystem::path folder_;
  QuotientCache cache_;
  std::string said_;
  std::vector<Graph> graphs_ = {exp_core(2, true), exp_core(2, false)};
  QuotientOptions options_{.kind = {.k = 3}, .rounds = 4};
};

TEST_F(QuotientCacheTest, ReadsWhatItKept) {
  const Quotient made = get();
  EXPECT_THAT(said_, HasSubstr("kept in"));
  EXPECT_EQ(made, make_quotient(graphs_, options_));
  EXPECT_EQ(get(), made);
  EXPECT_THAT(said_, HasSubstr("read from"));
}

TEST_F(QuotientCacheTest, OtherDataOrOptionsAreAnotherFile) {
  (void)get();
  const auto first = file();
  options_.rounds = 5;
  EXPECT_NE(file(), first);
  EXPECT_EQ(get().rounds(), 5u);
  options_.rounds = 4;
  graphs_[0] = graphs_[0].relabelled(std::vector<Node>{1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  EXPECT_NE(file(), first);
}

TEST_F(QuotientCacheTest, ADamagedOrOldFileIsSaidToBeSoAndMadeAgain) {
  const Quotient made = get();
  const std::string good = read_file(file());
  const auto spoil = [&](const std::string& bytes, const std::string& reason) {
    write_file(file(), bytes);
    EXPECT_EQ(get(), made);
    EXPECT_THAT(said_, HasSubstr(reason));
    EXPECT_EQ(read_file(file()), good);
  };
  std::string flipped = good;
  flipped[good.size() / 2] = static_cast<char>(flipped[good.size() / 2] ^ 1);
  spoil(flipped, "checksum");
  spoil(good.substr(0, good.size() - 9), "checksum");
  spoil(good.substr(0, 20), "cut short");
  spoil("something else", "no file of sets");
  std::string old = good;
  old[11] = '0';
  spoil(old, "another version");
}

TEST_F(QuotientCacheTest, AFolderThatCannotBeMadeIsNoError) {
  write_file(folder_, "a file where the folder should be");
  EXPECT_EQ(get(), make_quotient(graphs_, options_));
  EXPECT_THAT(said_, HasSubstr("not kept"));
}

TEST_F(QuotientCacheTest, SmallDataIsNotKept) {
  cache_.least_sets = 1u << 20;
  (void)get();
  EXPECT_EQ(said_, "");
  EXPECT_FALSE(std::filesystem::exists(folder_));
}

TEST_F(QuotientCacheTest, TheFolderComesFromTheEnvironment) {
  ::setenv("TYCHE_CACHE_DIR", "/somewhere", 1);
  EXPECT_EQ(default_cache_folder(), "/somewhere");
  ::unsetenv("TYCHE_CACHE_DIR");
  ::setenv("XDG_CACHE_HOME", "/base", 1);
  EXPECT_EQ(default_cache_folder(), "/base/tyche");
  ::unsetenv("XDG_CACHE_HOME");
}

RC_GTEST_PROP(QuotientFormat, ReadsWhatItWrites, ()) {
  Stream stream = chosen_stream();
  const std::vector<Graph> graphs = sample_pair(8, stream);
  std::vector<std::vector<std::uint32_t>> colours;
  for (const Graph& graph : graphs) {
    colours.emplace_back(graph.num_nodes(), static_cast<std::uint32_t>(stream.below(3)));
  }
  QuotientOptions options{.kind = {.k = static_cast<unsigned>(1 + stream.below(3))}, .rounds = 3};
  if (stream.coin()) options.node_colours = colours;
  const Quotient q = make_quotient(graphs, options);
  RC_ASSERT(decode_quotient(encode(q), "memory") == q);
}

RC_GTEST_PROP(QuotientFormat, NeverTakesChangedBytesForGood, ()) {
  Stream stream = chosen_stream();
  const Quotient q = make_quotient(std::vector<Graph>{path(6), cycle(5)}, {.kind = {.k = 2}, .rounds = 3});
  std::string bytes = encode(q);
  const std::size_t at = static_cast<std::size_t>(stream.below(bytes.size()));
  bytes[at] = static_cast<char>(bytes[at] ^ (1 << stream.below(8)));
  RC_ASSERT_THROWS_AS((void)decode_quotient(bytes, "memory"), InputError);
}

}  // namespace
}  // namespace tyche::wl
