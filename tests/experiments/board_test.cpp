#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "experiments/runner.hpp"

namespace tyche::experiments {
namespace {

using testing::HasSubstr;

std::string contents(std::FILE* file) {
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  return text;
}

}  // namespace

TEST(Board, InAFileLeavesALineForEachGroupAndNoBar) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  {
    Board board(file, 4);
    board.begin("GCN", 4, 1, 4);
    board.add(4, "fold 0");
    board.end("GCN 50.00 %");
  }
  EXPECT_EQ(contents(file), "GCN 50.00 %\n");
  std::fclose(file);
}

TEST(Board, OnATerminalShowsTheWholeAndTheGroupUnderWay) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) GTEST_SKIP() << "no terminals here";
  std::FILE* file = std::fopen(::ptsname(terminal), "w");
  if (file == nullptr) GTEST_SKIP() << "no terminals here";
  {
    Board board(file, 40);
    // Half of this group was done in an earlier call: what is left is 10 + 20 of 30.
    board.begin("GCN", 10, 1, 20);
    board.end("GCN 50.00 %");
    board.begin("3-GCN", 20, 1, 20);
  }
  std::fclose(file);
  // A terminal hands over what it has so far; all of it has come when reading fails.
  std::string text;
  char some[512];
  for (ssize_t size = 0; (size = ::read(terminal, some, sizeof some)) > 0;) {
    text.append(some, static_cast<std::size_t>(size));
  }
  ::close(terminal);
  EXPECT_THAT(text, HasSubstr("GCN 0/10 epochs"));
  EXPECT_THAT(text, HasSubstr("GCN 50.00 %"));
  EXPECT_THAT(text, HasSubstr("3-GCN 0/20 epochs"));
  EXPECT_THAT(text, HasSubstr("\x1b[?7l"));  // cut off at the right edge, not wrapped
  EXPECT_TRUE(text.ends_with("\r\x1b[K")) << "the bar is gone at the end";
}

TEST(Board, WithNowhereToWriteIsSilent) {
  Board board(nullptr, 1);
  board.begin("GCN", 1, 1, 1);
  board.add(1, "");
  board.end("GCN");
}

}  // namespace tyche::experiments
