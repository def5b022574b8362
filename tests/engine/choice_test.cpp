#include "engine/choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/engine.hpp"
#include "support/error.hpp"

namespace tyche::engine {
namespace {

using Device = EngineChoice::Device;

TEST(EngineChoice, ReadsAndPrintsEveryNameThereIs) {
  for (const char* name : {"auto", "cpu", "cpu-portable", "cpu-avx2", "reference", "cuda", "cuda-fp32", "cuda-fused",
                           "cuda-layerwise", "cuda-layerwise-fp32", "cuda-fused-fp32"}) {
    EXPECT_EQ(EngineChoice(name).name(), name);
  }
  const EngineChoice choice("cuda-layerwise-fp32");
  EXPECT_EQ(choice.device, Device::cuda);
  EXPECT_EQ(choice.path, EngineChoice::Path::layerwise);
  EXPECT_EQ(choice.precision, EngineChoice::Precision::fp32);
  EXPECT_EQ(EngineChoice("cpu-avx2").kernels, "avx2");
  EXPECT_EQ(EngineChoice().name(), "auto");
}

TEST(EngineChoice, RefusesWhatNamesNoEngine) {
  for (const char* name : {"", "abacus", "cuda-", "cuda-fp32-fused", "cpu-", "autocrat", "reference-fp32", "CPU"}) {
    EXPECT_THROW((void)EngineChoice(name), InputError) << name;
  }
  EXPECT_THROW((void)make_engine("cpu-mmix", 1), InputError) << "a name, but of kernels that are not here";
}

TEST(EngineChoice, KnowsWhatRunsOnAGpu) {
  EXPECT_TRUE(EngineChoice("cuda-fused").on_gpu());
  EXPECT_FALSE(EngineChoice("cpu").on_gpu());
  EXPECT_FALSE(EngineChoice("reference").on_gpu());
  EXPECT_EQ(EngineChoice("auto").on_gpu(), gpu_state().usable);
}

}  // namespace
}  // namespace tyche::engine
