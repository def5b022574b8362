// Clipping, weight decay and schedules on every path of the device.
#include "engine/optimiser_cases.hpp"
#include "engine_cuda/device_fixture.hpp"
#include "nn/levels.hpp"

namespace tyche::engine {
namespace {

struct Way {
  std::string name;
  std::string kind;
  std::function<std::unique_ptr<gpu::Path>(std::uint32_t chunk)> make;
  double tolerance;
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

std::vector<Way> ways() {
  const auto fused = [](std::uint32_t chunk) {
    gpu::PathOptions options;
    options.chunk_epochs = chunk;
    return gpu::make_fused_path(options);
  };
  const auto layerwise = [](gpu::Precision precision) {
    return [precision](std::uint32_t chunk) {
      gpu::PathOptions options;
      options.precision = precision;
      options.chunk_epochs = chunk;
      return gpu::make_layerwise_path(options);
    };
  };
  return {{"fused", "gcn", fused, 5e-3},
          {"layerwise", "gcn", layerwise(gpu::Precision::mixed), 5e-3},
          {"layerwise_fp32", "gcn", layerwise(gpu::Precision::fp32), 1e-4},
          {"layerwise_gcn2", "gcn2", layerwise(gpu::Precision::fp32), 1e-4},
          {"ppgn", "ppgn",
           [](std::uint32_t) {
             return gpu::make_ppgn_path({gpu::Precision::mixed, 1});
           },
           5e-3},
          {"ppgn_fp32", "ppgn",
           [](std::uint32_t) {
             return gpu::make_ppgn_path({gpu::Precision::fp32, 1});
           },
           1e-4}};
}

class OptimiserOnDevice : public DeviceTest, public testing::WithParamInterface<Way> {
 protected:
  OptimiserOnDevice() {
    nn::ModelConfig model = plain_model(GetParam().kind);
    Stream stream(derive_key(63, Purpose::test));
    model.layers = 1;
    toy = random_toy(model, 6, 5, stream);
    nn::set_types_from(toy.graphs, model, 1);
    job = toy.job(model);
    job.batch = 4;
  }
  static Train train(std::uint32_t chunk) {
    return [chunk](const Job& own, std::span<Trial> trials, Observer& observer) {
      EXPECT_TRUE(GetParam().make(chunk)->train(own, trials, observer).empty());
    };
  }
  Toy toy;
  Job job;
};

TEST_P(OptimiserOnDevice, TakesStepsByTheFormulas) {
  const GradientOf gradient = [](const Job& own, std::span<const float> parameters,
                                 std::span<const std::uint32_t> which) {
    std::vector<float> out;
    Logits logits;
    (void)GetParam().make(1)->gradient(own, parameters, which, {}, out, logits);
    return out;
  };
  expect_a_step_by_the_formulas(train(1), gradient, job, GetParam().name, GetParam().tolerance);
}

TEST_P(OptimiserOnDevice, GivesASchedulesRatesInChunks) {
  expect_a_schedule_is_its_rates(train(3), job, GetParam().name);
}

TEST_P(OptimiserOnDevice, SurvivesAStop) { expect_options_survive_a_stop(train(2), job, GetParam().name); }

// Trials in lockstep have a norm and a rate each.
TEST_P(OptimiserOnDevice, HasTheSameBitsInCompany) {
  job.epochs = 3;
  job.schedule = {.kind = ScheduleKind::plateau, .plateau_factor = 0.5, .patience = 0};
  job.optimiser = {.clip_norm = 0.1, .weight_decay = 0.1};
  std::vector<Trial> together = three_trials(job), alone = three_trials(job);
  together[1].learning_rate = alone[1].learning_rate = 0.1;
  Gate gate(3);
  train(1)(job, together, gate);
  for (std::size_t t = 0; t < 3; ++t) {
    std::vector<Trial> one = {alone[t]};
    Gate own(1);
    train(1)(job, one, own);
    expect_same_state(together[t].state, one[0].state, GetParam().name);
    EXPECT_EQ(together[t].state.plateau, one[0].state.plateau);
  }
}

INSTANTIATE_TEST_SUITE_P(Paths, OptimiserOnDevice, testing::ValuesIn(ways()),
                         [](const auto& way) { return way.param.name; });

}  // namespace
}  // namespace tyche::engine
