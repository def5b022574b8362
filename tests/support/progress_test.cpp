#include "support/progress.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

namespace tyche {
namespace {

// A signal that comes twice at once, as timeout(1) sends it, is one wish to stop; a second wish ends the program.
TEST(Interrupts, OneSignalSentTwiceIsOneWish) {
  const auto twice_at_once = [] {
    catch_interrupts();
    std::raise(SIGINT);
    std::raise(SIGINT);
    _exit(interrupted() ? 7 : 1);
  };
  EXPECT_EXIT(twice_at_once(), testing::ExitedWithCode(7), "");
}

TEST(Interrupts, ASecondWishEndsTheProgram) {
  const auto twice = [] {
    catch_interrupts();
    // Again and again: the first that comes late enough to be a second wish must end it.
    for (int i = 0; i < 3000; ++i) {
      std::raise(SIGINT);
      usleep(10000);
    }
    _exit(1);
  };
  EXPECT_EXIT(twice(), testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace tyche
