// How fast PPGN's kernels are at the paper's size, tile by tile, and a training step: to be asked for by name, on a
// GPU,
//   test_engine_gpu --gtest_also_run_disabled_tests --gtest_filter='*PpgnSpeed*'
// ppgn_kernels_test.cpp checks the same kernels' results.
#ifndef TYCHE_CUDA_EMULATED
#include <chrono>
#include <cstdio>
#include <functional>

#include "engine/cases.hpp"
#include "engine/cuda/ppgn/products.hpp"
#include "engine/cuda/ppgn/wgmma.hpp"
#include "engine/cuda/runtime/device.hpp"
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

// Work of `streams` trials side by side, each on a stream of its own: seconds for one. Recorded, so that the host's
// launches do not hold it up.
double seconds_beside(std::size_t streams, const std::function<void(std::size_t, Stream&)>& work) {
  constexpr int kTimes = 50;
  std::vector<Stream> several(streams);
  std::vector<Graph> graphs;
  for (std::size_t s = 0; s < streams; ++s) {
    graphs.push_back(Graph::capture(several[s], [&] {
      for (int i = 0; i < kTimes; ++i) work(s, several[s]);
    }));
  }
  const auto run = [&] {
    for (std::size_t s = 0; s < streams; ++s) graphs[s].launch(several[s]);
    for (Stream& stream : several) stream.sync();
  };
  run();
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / kTimes /
         static_cast<double>(streams);
}

// The products of a block: MLPs forward and back, the skip and the way back to the input.
struct Products {
  Products(unsigned rows, Stream& stream)
      : weight(zeros(2 * kWeights, stream)), bias(kWidth, "bias"), flag(1, "flag"), rows_(rows) {
    for (int i = 0; i < 8; ++i) tensor.push_back(zeros(std::size_t{rows} * kWidth, stream));
    bias.zero(stream);
    stream.sync();
  }
  [[nodiscard]] PpgnProducts<Half> mlps(bool back) {
    PpgnProducts<Half> mlp{};
    mlp.count = 2;
    mlp.rows = rows_;
    mlp.flag = flag.data();
    for (unsigned k = 0; k < 2; ++k) {
      mlp.product[k].terms[0] = {tensor[k].data(), weight.data() + k * kWeights, kWidth, kWidth, kWidth};
      mlp.product[k].count = 1;
      mlp.product[k].columns = kWidth;
      mlp.product[k].out = tensor[2 + k].data();
      mlp.product[k].bias = back ? nullptr : bias.data();
      mlp.product[k].mask = back ? tensor[4 + k].data() : nullptr;
      mlp.product[k].relu = !back;
    }
    return mlp;
  }
  [[nodiscard]] PpgnProducts<Half> skip(bool back) {
    PpgnProducts<Half> one = mlps(back);
    one.count = 1;
    one.product[0].mask = nullptr;
    one.product[0].relu = false;
    for (unsigned t = 0; t < 3; ++t) {
      one.product[0].terms[t] = {tensor[t].data(), weight.data(), kWidth, kWidth, kWidth};
    }
    one.product[0].count = back ? 3 : 2;
    one.product[0].residual = back ? nullptr : tensor[6].data();
    return one;
  }
  [[nodiscard]] std::vector<PpgnWeightTask<Half>> weights(unsigned tasks) {
    std::vector<PpgnWeightTask<Half>> list;
    for (unsigned t = 0; t < tasks; ++t) {
      list.push_back({tensor[t % 4].data(), tensor[4 + t % 4].data(), kWidth, kWidth, kWidth, kWidth,
                      std::size_t{t} * kWidth * (kWidth + 1), kWidth,
                      static_cast<long long>((std::size_t{t} * (kWidth + 1) + kWidth) * kWidth), 0, 0});
    }
    return list;
  }

  static constexpr std::size_t kWeights = std::size_t{kWidth} * 2 * kWidth;
  std::vector<DeviceArray<Half>> tensor;
  DeviceArray<Half> weight;
  DeviceArray<float> bias;
  DeviceArray<unsigned> flag;

 private:
  unsigned rows_;
};

constexpr const char* kRowsNames[kPpgnRowsTiles + kPpgnWgmmaTiles] = {
    "192 x 208", "96 x 208", "128 x 128", "64 x 32", "wgmma 128 x 200", "wgmma 128 x 128", "wgmma 128 x 64"};
constexpr const char* kWeightNames[kPpgnWeightTiles + kPpgnWgmmaTiles] = {
    "weights 80 x 224",         "weights 128 x 128",        "weights 64 x 32",
    "weights, wgmma 256 x 200", "weights, wgmma 128 x 128", "weights, wgmma 128 x 64"};
constexpr unsigned kTasks = 46;  // of eight blocks
constexpr std::size_t kSlotSize = std::size_t{kTasks} * kWidth * (kWidth + 1);

TEST_F(PpgnSpeed, DISABLED_Products) {
  Stream stream;
  for (const unsigned rows : {3500u, kRows}) {
    Products all(rows, stream);
    const double bytes = 2.0 * rows * kWidth, once = bytes * kWidth;
    std::printf("%u rows\n", rows);
    for (int tile = 0; tile < kPpgnRowsTiles + (wgmma_answers() ? kPpgnWgmmaTiles : 0); ++tile) {
      for (const bool back : {false, true}) {
        const RightOperand order = back ? RightOperand::depth_by_columns : RightOperand::columns_by_depth;
        const std::string name = std::string(kRowsNames[tile]) + (back ? " back" : " forward");
        const auto mlps = all.mlps(back), skip = all.skip(back);
        say((name + ", two MLPs").c_str(), seconds_of(stream, [&] { queue_rows(mlps, order, {stream}, tile); }),
            2 * once, (back ? 6 : 4) * bytes);
        say((name + (back ? ", to the input" : ", skip")).c_str(),
            seconds_of(stream, [&] { queue_rows(skip, order, {stream}, tile); }), (back ? 3 : 2) * once, 4 * bytes);
      }
    }
    for (int tile = 0; tile < kPpgnWeightTiles + (wgmma_answers() ? kPpgnWgmmaTiles : 0); ++tile) {
      PpgnWeightPlan<Half> plan(all.weights(kTasks), stream, tile);
      DeviceArray<float> slots(kSlotSize * plan.slots(rows), "slots");
      say(kWeightNames[tile],
          seconds_of(stream, [&] { plan.queue(0, kTasks, rows, slots.data(), kSlotSize, {stream}); }), kTasks * once,
          kTasks * 2 * bytes);
    }
  }
}

// The same, with trials of 3,500 rows side by side.
TEST_F(PpgnSpeed, DISABLED_ProductsSideBySide) {
  constexpr std::size_t kTrials = 8;
  constexpr unsigned kTrialRows = 3500;
  Stream stream;
  std::vector<Products> trial;
  for (std::size_t t = 0; t < kTrials; ++t) trial.emplace_back(kTrialRows, stream);
  const double bytes = 2.0 * kTrialRows * kWidth, once = bytes * kWidth;
  for (const int tile : {0, 1, kPpgnRowsTiles}) {
    if (tile >= kPpgnRowsTiles && !wgmma_answers()) continue;
    for (const bool back : {false, true}) {
      const RightOperand order = back ? RightOperand::depth_by_columns : RightOperand::columns_by_depth;
      const std::string name = std::string(kRowsNames[tile]) + (back ? " back" : " forward");
      say((name + ", two MLPs").c_str(),
          seconds_beside(kTrials,
                         [&](std::size_t t, Stream& on) {
                           queue_rows(trial[t].mlps(back), order, {on, false}, tile);
                         }),
          2 * once, (back ? 6 : 4) * bytes);
      say((name + (back ? ", to the input" : ", skip")).c_str(),
          seconds_beside(kTrials,
                         [&](std::size_t t, Stream& on) {
                           queue_rows(trial[t].skip(back), order, {on, false}, tile);
                         }),
          (back ? 3 : 2) * once, 4 * bytes);
    }
  }
  for (const int tile : {0, kPpgnWeightTiles}) {
    if (tile >= kPpgnWeightTiles && !wgmma_answers()) continue;
    std::vector<PpgnWeightPlan<Half>> plan;
    std::vector<DeviceArray<float>> slots;
    for (std::size_t t = 0; t < kTrials; ++t) {
      plan.emplace_back(trial[t].weights(kTasks), stream, tile);
      slots.emplace_back(kSlotSize * plan[t].slots(kTrialRows), "slots");
    }
    say(kWeightNames[tile],
        seconds_beside(kTrials,
                       [&](std::size_t t, Stream& on) {
                         plan[t].queue(0, kTasks, kTrialRows, slots[t].data(), kSlotSize, {on, false});
                       }),
        kTasks * once, kTasks * 2 * bytes);
  }
}

TEST_F(PpgnSpeed, DISABLED_Channels) {
  Stream stream;
  Products all(kRows, stream);
  auto& tensor = all.tensor;
  const double bytes = 2.0 * kRows * kWidth;
  std::vector<PpgnGraph> graphs;
  unsigned tiles = 0;
  // Every pair a class of its own.
  std::vector<std::uint32_t> pairs;
  for (unsigned i = 0; i < kNodes * kNodes; ++i) pairs.push_back(i | kPpgnFirst);
  for (unsigned g = 0; g < kGraphs; ++g) {
    graphs.push_back({g, kNodes, kNodes * kNodes, kNodes, g * kNodes * kNodes, tiles, 0, 0, 0});
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
    tasks.flag = all.flag.data();
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
