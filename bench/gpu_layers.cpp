// Where the time of the layer-wise path goes on a GPU: one trial of fold 0, every kernel marked.
//
//   gpu_layers exp gcn3 mixed 3
#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <string>

#include "engine/cuda/layerwise/layerwise.hpp"
#include "engine/cuda/runtime/timeline.hpp"
#include "engine/sets/set_data.hpp"
#include "train/data.hpp"

namespace {

using namespace tyche;
namespace gpu = engine::TYCHE_CUDA_NS;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class Printer : public engine::Observer {
 public:
  bool on_epoch(std::size_t, const engine::EpochResult& result, const engine::State&) override {
    return on_passing_epoch(0, result);
  }
  bool on_passing_epoch(std::size_t, const engine::EpochResult& result) override {
    fmt::print("epoch {}: {:.2f} ms training, {:.2f} ms evaluation, loss {:.6f}, rows {} of {}\n", result.epoch,
               1e3 * result.seconds, 1e3 * result.eval_seconds, result.train_loss, result.rows, result.full_rows);
    return true;
  }
};

void run(const std::string& path, const std::string& kind, const std::string& precision, std::uint32_t epochs) {
  const datasets::Dataset dataset = datasets::load_dataset(path);
  train::RunConfig config = train::default_config(kind);
  train::resolve(config, dataset, path);
  const train::TrainingData data = train::prepare(dataset, config);
  engine::Job job = data.job(config);
  job.epochs = epochs;
  auto start = Clock::now();
  if (config.model.on_sets()) {
    engine::SetOptions sets;
    sets.cache.folder = wl::default_cache_folder();
    job.sets = engine::prepare_sets(config.model, job.data, sets);
  }
  fmt::print("classes of sets: {:.1f} s\n", since(start));
  for (const bool marked : {false, true}) {
    engine::Trial trial;
    trial.learning_rate = config.training.learning_rate;
    trial.train = data.folds[0].train;
    trial.test = data.folds[0].test;
    trial.state = engine::fresh_state(config.model, 1, 0);
    gpu::Timeline timeline;
    gpu::LayerwiseOptions options;
    options.precision = precision == "fp32" ? gpu::Precision::fp32 : gpu::Precision::mixed;
    options.lanes = 1;
    options.chunk_epochs = epochs;
    if (marked) options.timeline = &timeline;
    Printer printer;
    start = Clock::now();
    gpu::make_layerwise_path(options)->train(job, std::span(&trial, 1), printer);
    fmt::print("{} epochs and preparation on the device: {:.2f} s\n", epochs, since(start));
    for (const gpu::Timeline::Line& line : timeline.lines()) {
      fmt::print("  {:<12} {:>9.3f} ms an epoch, {:>8.2f} us each, {} times\n", line.label, line.ms / epochs,
                 1e3 * line.ms / static_cast<double>(line.count), line.count);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print("gpu_layers DATA gcn|gcn2|gcn3|gcn123 mixed|fp32 EPOCHS\n");
    return 2;
  }
  try {
    run(argv[1], argv[2], argv[3], static_cast<std::uint32_t>(std::stoul(argv[4])));
  } catch (const std::exception& error) {
    fmt::print("{}\n", error.what());
    return 2;
  }
  return 0;
}
