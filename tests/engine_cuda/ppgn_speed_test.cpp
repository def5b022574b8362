// How fast PPGN's kernels are at the paper's size, tile by tile, and a training step: to be asked for by name, on a
// GPU,
//   test_engine_gpu --gtest_also_run_disabled_tests --gtest_filter='*PpgnSpeed*'
// ppgn_kernels_test.cpp checks the same kernels' results.
#ifndef TYCHE_CUDA_EMULATED
#include <cstdio>
#include <functional>

#include "engine/cases.hpp"
#include "engine/cuda/device.hpp"
#include "engine/cuda/ppgn_products.hpp"
#include "engine_cuda/device_fixture.hpp"

namespace tyche::engine::cuda {
namespace {

using PpgnSpeed = DeviceTest;

constexpr unsigned kNodes = 50, kGraphs = 5, kRows = kNodes * kNodes * kGraphs, kWidth = 400;

double seconds_of(Stream& stream, const std::function<void()>& work) {
  for (int i = 0; i < 3; ++i) work();
  Event begin, end;
  begin.record(stream);
  constexpr int kTimes = 50;
  for (int i = 0; i < kTimes; ++i) work();
  end.record(stream);
  stream.sync();
  return Event::ms(begin, end) * 1e-3 / kTimes;
}

void say(const char* what, double seconds, double operations, double bytes) {
  std::printf("%-44s %8.1f us %7.0f TFLOP/s %6.2f TB/s\n", what, seconds * 1e6, operations / seconds * 1e-12,
              bytes / seconds * 1e-12);
}

DeviceArray<Half> zeros(std::size_t count, Stream& stream) {
  DeviceArray<Half> array(count, "zeros");
  array.zero(stream);
  return array;
}

TEST_F(PpgnSpeed, DISABLED_Products) {
  Stream stream;
  const std::size_t entries = std::size_t{kRows} * kWidth, weights = std::size_t{kWidth} * 2 * kWidth;
  std::vector<DeviceArray<Half>> tensor;
  for (int i = 0; i < 8; ++i) tensor.push_back(zeros(entries, stream));
  const DeviceArray<Half> weight = zeros(2 * weights, stream);
  DeviceArray<float> bias(kWidth, "bias");
  bias.zero(stream);
  DeviceArray<unsigned> flag(1, "flag");
  const double once = 2.0 * static_cast<double>(entries) * kWidth, bytes = static_cast<double>(entries) * 2;
  const char* const names[kPpgnRowsTiles] = {"192 x 208", "96 x 208", "128 x 128", "64 x 32"};
  for (int tile = 0; tile < kPpgnRowsTiles; ++tile) {
    for (const bool back : {false, true}) {
      PpgnProducts<Half> mlp{}, skip{};
      mlp.count = 2;
      skip.count = 1;
      mlp.rows = skip.rows = kRows;
      mlp.flag = skip.flag = flag.data();
      for (unsigned k = 0; k < 2; ++k) {
        mlp.product[k].terms[0] = {tensor[k].data(), weight.data() + k * weights, kWidth, kWidth, kWidth};
        mlp.product[k].count = 1;
        mlp.product[k].columns = kWidth;
        mlp.product[k].out = tensor[2 + k].data();
        mlp.product[k].bias = back ? nullptr : bias.data();
        mlp.product[k].mask = back ? tensor[4 + k].data() : nullptr;
        mlp.product[k].relu = !back;
      }
      skip.product[0] = mlp.product[0];
      skip.product[0].mask = nullptr;
      skip.product[0].relu = false;
      for (unsigned t = 0; t < 3; ++t) {
        skip.product[0].terms[t] = {tensor[t].data(), weight.data(), kWidth, kWidth, kWidth};
      }
      skip.product[0].count = back ? 3 : 2;
      skip.product[0].residual = back ? nullptr : tensor[6].data();
      const RightOperand order = back ? RightOperand::depth_by_columns : RightOperand::columns_by_depth;
      const std::string name = std::string(names[tile]) + (back ? " back" : " forward");
      say((name + ", two MLPs").c_str(), seconds_of(stream, [&] { queue_rows(mlp, order, {stream}, tile); }), 2 * once,
          (back ? 6 : 4) * bytes);
      say((name + (back ? ", to the input" : ", skip")).c_str(),
          seconds_of(stream, [&] { queue_rows(skip, order, {stream}, tile); }), (back ? 3 : 2) * once, 4 * bytes);
    }
  }
  const char* const weight_names[kPpgnWeightTiles] = {"weights 80 x 224", "weights 128 x 128", "weights 64 x 32"};
  for (int tile = 0; tile < kPpgnWeightTiles; ++tile) {
    constexpr unsigned kTasks = 46;  // of eight blocks
    std::vector<PpgnWeightTask<Half>> tasks;
    for (unsigned t = 0; t < kTasks; ++t) {
      tasks.push_back({tensor[t % 4].data(), tensor[4 + t % 4].data(), kWidth, kWidth, kWidth, kWidth,
                       std::size_t{t} * kWidth * (kWidth + 1), kWidth,
                       static_cast<long long>((std::size_t{t} * (kWidth + 1) + kWidth) * kWidth), 0, 0});
    }
    PpgnWeightPlan<Half> plan(tasks, stream, tile);
    const std::size_t size = std::size_t{kTasks} * kWidth * (kWidth + 1);
    DeviceArray<float> slots(size * plan.slots(kRows), "slots");
    const double seconds = seconds_of(stream, [&] { plan.queue(0, kTasks, kRows, slots.data(), size, {stream}); });
    say(weight_names[tile], seconds, kTasks * once, kTasks * 2 * bytes);
  }
  std::vector<PpgnGraph> graphs;
  unsigned tiles = 0;
  // Every pair a class of its own.
  std::vector<std::uint32_t> pairs;
  for (unsigned i = 0; i < kNodes * kNodes; ++i) pairs.push_back(i | kPpgnFirst);
  for (unsigned g = 0; g < kGraphs; ++g) {
    graphs.push_back({g, kNodes, kNodes * kNodes, kNodes, g * kNodes * kNodes, tiles, 0, 0});
    tiles += channel_tiles(graphs.back());
  }
  const auto pairs_there = DeviceArray<std::uint32_t>::from(pairs, "pairs", stream);
  const auto there = DeviceArray<PpgnGraph>::from(graphs, "graphs", stream);
  for (const unsigned count : {1u, 2u}) {
    PpgnChannelTasks<Half> tasks{};
    tasks.task[0] = {
        tensor[0].data(), tensor[1].data(), tensor[2].data(), count == 2 ? tensor[4].data() : nullptr, nullptr, false,
        count == 2};
    tasks.task[1] = {tensor[1].data(), tensor[0].data(), tensor[3].data(), tensor[5].data(), nullptr, true, false};
    tasks.pairs = pairs_there.data();
    tasks.count = count;
    tasks.graphs = there.data();
    tasks.graph_count = kGraphs;
    tasks.channels = kWidth;
    tasks.flag = flag.data();
    say(count == 1 ? "channels forward" : "channels back",
        seconds_of(stream, [&] { queue_channels(tasks, tiles, {stream}); }),
        count * 2.0 * kGraphs * kNodes * kNodes * kNodes * kWidth, (count == 1 ? 3 : 8) * bytes);
  }
}

// 40 steps of the paper's size, alone and two trials side by side.
TEST_F(PpgnSpeed, DISABLED_Training) {
  nn::ModelConfig config;
  config.kind = "ppgn";
  config.width = kWidth;
  config.layers = 8;
  tyche::Stream random(derive_key(1, Purpose::test));
  Toy toy;
  double rows = 0;
  for (unsigned g = 0; g < 200; ++g) {
    const Node n = 36 + static_cast<Node>(random.below(29));
    toy.add(random_graph(n, 0.05, random), config, random);
    rows += static_cast<double>(n * n);
  }
  Job job = toy.job(config);
  job.batch = kGraphs;
  job.epochs = 3;
  job.eval_every = 100;
  double operations = 0;  // of a row
  for (unsigned b = 0; b < 8; ++b) {
    const double in = b == 0 ? 3 : kWidth;
    operations += 2.0 * (2 * (in + kWidth) * kWidth + (in + kWidth) * kWidth);
  }
  operations *= 3 * rows;
  for (const Precision precision : {Precision::mixed, Precision::fp32}) {
    for (const std::size_t trials : {1u, 2u}) {
      std::vector<Trial> group;
      for (std::size_t t = 0; t < trials; ++t) {
        Trial trial;
        trial.seed = t;
        trial.learning_rate = 1e-4;
        trial.train = toy.all();
        trial.state = fresh_state(config, t, 0);
        group.push_back(std::move(trial));
      }
      if (precision == Precision::fp32) job.epochs = 1;
      Recorder recorder(trials);
      EXPECT_TRUE(make_ppgn_path(precision, 0)->train(job, group, recorder).empty());
      const EpochResult& last = recorder.results[0].back();
      std::printf(
          "%s, %zu trial%s: %.4f s for 40 steps of a trial, %.0f TFLOP/s, loss %.4f; an epoch of 195 steps: %.3f s\n",
          precision == Precision::mixed ? "mixed" : "fp32", trials, trials > 1 ? "s" : "", last.seconds,
          operations / last.seconds * 1e-12, last.train_loss, last.seconds * 195 / 40);
    }
  }
}

}  // namespace
}  // namespace tyche::engine::cuda
#endif
