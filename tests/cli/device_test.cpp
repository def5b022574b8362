// --device and its kin as a user meets them, most of all where there is no GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/engine.hpp"
#include "support/run_program.hpp"

namespace tyche {
namespace {

using testing::HasSubstr;

class DeviceCommand : public testing::Test {
 protected:
  DeviceCommand() {
    const RunResult made = run_program({"generate", "exp", "--pairs", "10", "--seed", "2", "--out", path("exp")});
    EXPECT_EQ(made.exit_code, 0) << made.err;
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] RunResult train(const std::string& out, const std::vector<std::string>& more) const {
    std::vector<std::string> args = {"train",   "--recipe", "paper", "--data",   path("exp"), "--out",
                                     path(out), "--width",  "8",     "--layers", "2",         "--folds",
                                     "4",       "--fold",   "0",     "--epochs", "2"};
    args.insert(args.end(), more.begin(), more.end());
    return run_program(args);
  }
  TemporaryFolder folder_;
};

TEST_F(DeviceCommand, WithoutAGpuCudaIsAnErrorAndAutoIsTheCpu) {
  if (engine::gpu_state().usable) GTEST_SKIP() << "there is a GPU";
  const RunResult cuda = train("a", {"--device", "cuda"});
  EXPECT_EQ(cuda.exit_code, 2);
  EXPECT_THAT(cuda.err, HasSubstr("no GPU to use"));
  EXPECT_FALSE(std::filesystem::exists(path("a")));
  const RunResult any = train("b", {"--device", "auto"});
  EXPECT_EQ(any.exit_code, 0) << any.err;
  EXPECT_THAT(any.err, HasSubstr("engine  cpu"));
  EXPECT_EQ(run_program({"bench", "train", "--device", "cuda", "--epochs", "1"}).exit_code, 2);
}

TEST_F(DeviceCommand, OptionsOfTheGpuContradictTheCpu) {
  const RunResult fp32 = train("a", {"--device", "cpu", "--precision", "fp32"});
  EXPECT_EQ(fp32.exit_code, 2);
  EXPECT_THAT(fp32.err, HasSubstr("engine path and precision are for the device cuda"));
  EXPECT_EQ(train("b", {"--device", "gpu"}).exit_code, 2);
}

TEST_F(DeviceCommand, AModelTheMachineCannotHoldIsRefused) {
  const RunResult r = run_program({"train", "--recipe", "paper", "--data", path("exp"), "--out", path("a"), "--rni",
                                   "1", "--width", "65536", "--layers", "64"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.err, HasSubstr("reduce --width or --layers"));
}

}  // namespace
}  // namespace tyche
