#include "cli/trained.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/error.hpp"
#include "train/data.hpp"
#include "train/features.hpp"
#include "train/run.hpp"

namespace tyche::cli {

void TrainedModel::add(CLI::App& app) {
  app.add_option("run", run, "A run folder of tyche train, or a checkpoint's file")->type_name("RUN")->required();
  app.add_option("--checkpoint", which, "Of a run folder: best (by validation) or last")
      ->default_str("best where there is one, else last");
  app.add_option("--fold", fold, "Of a run folder that has several: the fold whose model is looked into")
      ->default_str("the first; explain: that which tested the graph");
  app.add_option("--data", path, "Graphs: a file or folder; by default those that RUN trained on")->type_name("PATH");
  app.add_option("--format", format, "Format of --data; told by content unless given");
  app.add_flag("--clean", clean, fmt::format("{} (default: as the model's own data)", kCleanHelp));
}

train::Checkpoint TrainedModel::read(std::optional<std::uint32_t> chosen) const {
  const bool folder = std::filesystem::is_directory(run);
  train::Checkpoint model =
      train::read_checkpoint(folder ? train::checkpoint_in(run, chosen, which) : std::filesystem::path(run));
  for (const std::string& note : model.notes) fmt::print(stderr, "tyche: {}\n", note);
  return model;
}

train::Checkpoint TrainedModel::checkpoint() const {
  if (!std::filesystem::is_directory(run)) {
    if (fold || !which.empty()) throw InputError("--fold and --checkpoint are of a run folder, and RUN is a file");
    return read(std::nullopt);
  }
  const std::vector<std::uint32_t> folds = train::folds_in(run);
  if (fold || folds.size() == 1) return read(fold);
  fmt::print(stderr, "tyche: {}: has {} folds; fold {} is looked into; --fold names another\n", run, folds.size(),
             folds.front());
  return read(folds.front());
}

train::Checkpoint TrainedModel::tester_of(std::uint32_t graph) const {
  const bool folder = std::filesystem::is_directory(run);
  if (!folder || fold || !path.empty() || train::folds_in(run).size() == 1) return checkpoint();
  const train::Checkpoint first = read(train::folds_in(run).front());
  const std::vector<datasets::Fold> folds = train::folds_of(data(first), first.config);
  for (const std::uint32_t f : train::folds_in(run)) {
    const std::vector<std::uint32_t>& test = folds[f].test;
    if (first.config.model.unit != Unit::graph || std::find(test.begin(), test.end(), graph) == test.end()) continue;
    fmt::print(stderr, "tyche: {}: fold {}, which tested graph {}, is looked into; --fold names another\n", run, f,
               graph);
    return read(f);
  }
  return checkpoint();
}

datasets::Dataset TrainedModel::data(const train::Checkpoint& model) const {
  const train::RunConfig::DataPart& own = model.config.data;
  datasets::Dataset dataset = read_data(path.empty() ? own.path : path,
                                        path.empty() && format.empty() ? own.format : format, clean || own.clean);
  for (const std::string& line : train::unseen(dataset.set, own.features, own.labels, model.config.model)) {
    fmt::print(stderr, "tyche: warning: {}\n", line);
  }
  return dataset;
}

}  // namespace tyche::cli
