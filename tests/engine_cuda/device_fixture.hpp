#pragma once
/// Tests of this room are compiled twice: against the emulator (test_engine_cuda), and against the GPU engine
/// (test_engine_gpu), where they skip if no GPU answers.
#include <gtest/gtest.h>

#include "engine/cuda/cuda_engine.hpp"
#include "engine/cuda/path.hpp"

namespace gpu = tyche::engine::TYCHE_CUDA_NS;

class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    const gpu::DeviceState device = gpu::device_state();
    if (!device.usable) GTEST_SKIP() << "needs a GPU: " << device.text;
  }
};
