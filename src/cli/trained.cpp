#include "cli/trained.hpp"

#include <fmt/format.h>

#include "support/error.hpp"
#include "train/features.hpp"
#include "train/run.hpp"

namespace tyche::cli {

void TrainedModel::add(CLI::App& app) {
  app.add_option("run", run, "A run folder of tyche train, or a checkpoint's file")->type_name("RUN")->required();
  app.add_option("--checkpoint", which, "Of a run folder: best (by validation) or last")
      ->default_str("best where there is one, else last");
  app.add_option("--fold", fold, "Of a run folder that has several: the fold whose model is looked into");
  app.add_option("--data", path, "Graphs: a file or folder; by default those that RUN trained on")->type_name("PATH");
  app.add_option("--format", format, "Format of --data; told by content unless given");
  app.add_flag("--clean", clean, fmt::format("{} (default: as the model's own data)", kCleanHelp));
}

train::Checkpoint TrainedModel::checkpoint() const {
  const bool folder = std::filesystem::is_directory(run);
  if (!folder && (fold || !which.empty()))
    throw InputError("--fold and --checkpoint are of a run folder, and RUN is a file");
  train::Checkpoint model =
      train::read_checkpoint(folder ? train::checkpoint_in(run, fold, which) : std::filesystem::path(run));
  for (const std::string& note : model.notes) fmt::print(stderr, "tyche: {}\n", note);
  return model;
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
