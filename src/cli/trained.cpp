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

TrainedModel::Opened TrainedModel::open(std::optional<std::uint32_t> graph) const {
  const bool folder = std::filesystem::is_directory(run);
  if (!folder && (fold || !which.empty())) {
    throw InputError("--fold and --checkpoint are of a run folder, and RUN is a file");
  }
  const auto read = [&](std::optional<std::uint32_t> chosen) {
    return train::read_checkpoint(folder ? train::checkpoint_in(run, chosen, which) : std::filesystem::path(run));
  };
  const std::vector<std::uint32_t> there = folder ? train::folds_in(run) : std::vector<std::uint32_t>();
  const bool several = !fold && there.size() > 1;
  Opened out{read(several ? there.front() : fold), {}};
  const train::RunConfig::DataPart& own = out.model.config.data;
  out.dataset = read_data(path.empty() ? own.path : path, path.empty() && format.empty() ? own.format : format,
                          clean || own.clean);
  if (several) {
    std::string why = fmt::format("has {} folds; fold {}", there.size(), there.front());
    if (graph && path.empty() && out.model.config.model.unit == Unit::graph) {
      const std::vector<datasets::Fold> folds = train::folds_of(out.dataset, out.model.config);
      const auto tester =
          std::ranges::find_if(there, [&](std::uint32_t f) { return std::ranges::count(folds[f].test, *graph) > 0; });
      if (tester != there.end()) {
        why = fmt::format("fold {}, which tested graph {},", *tester, *graph);
        out.model = read(*tester);
      }
    }
    fmt::print(stderr, "tyche: {}: {} is looked into; --fold names another\n", run, why);
  }
  for (const std::string& note : out.model.notes) fmt::print(stderr, "tyche: {}\n", note);
  for (const std::string& line : train::unseen(out.dataset.set, own.features, own.labels, out.model.config.model)) {
    fmt::print(stderr, "tyche: warning: {}\n", line);
  }
  return out;
}

}  // namespace tyche::cli
