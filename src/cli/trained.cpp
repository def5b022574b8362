#include "cli/trained.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/error.hpp"
#include "train/data.hpp"
#include "train/features.hpp"
#include "train/run.hpp"

namespace tyche::cli {

Trained open_trained(const Call& call, std::optional<std::uint32_t> graph) {
  const std::string run = call.word("run");
  const std::optional<std::uint32_t> fold = call.small("fold");
  const bool folder = std::filesystem::is_directory(run);
  if (!folder && (fold || call.says("checkpoint"))) {
    throw InputError("--fold and --checkpoint are of a run folder, and RUN is a file");
  }
  const auto read = [&](std::optional<std::uint32_t> chosen) {
    return train::read_checkpoint(folder ? train::checkpoint_in(run, chosen, call.word("checkpoint"))
                                         : std::filesystem::path(run));
  };
  const std::vector<std::uint32_t> there = folder ? train::folds_in(run) : std::vector<std::uint32_t>();
  const bool several = !fold && there.size() > 1, same = !call.says("data");
  Trained out{read(several ? there.front() : fold), {}};
  const train::RunConfig::DataPart& own = out.model.config.data;
  out.dataset =
      read_data(call.text("data").value_or(own.path), same && !call.says("format") ? own.format : call.word("format"),
                call.flag("clean") || own.clean);
  if (several) {
    std::string why = fmt::format("has {} folds; fold {}", there.size(), there.front());
    if (graph && same && out.model.config.model.unit == Unit::graph) {
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

train::LookOptions look_of(const Call& call, std::uint32_t draws) {
  return {.draws = call.small("draws").value_or(draws), .seed = call.whole("seed"), .threads = call.threads()};
}

}  // namespace tyche::cli
