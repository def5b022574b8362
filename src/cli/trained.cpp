#include "cli/trained.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/error.hpp"
#include "train/data.hpp"
#include "train/features.hpp"
#include "train/run.hpp"

namespace tyche::cli {

namespace {

train::Checkpoint read_model(const Call& call, std::optional<std::uint32_t> fold) {
  const std::filesystem::path run = call.word("run");
  train::Checkpoint model = train::read_checkpoint(
      std::filesystem::is_directory(run) ? train::checkpoint_in(run, fold, call.word("checkpoint")) : run);
  for (const std::string& note : model.notes) fmt::print(stderr, "tyche: {}\n", note);
  return model;
}

}  // namespace

train::Checkpoint trained_model(const Call& call) {
  const std::string run = call.word("run");
  const std::optional<std::uint32_t> fold = call.small("fold");
  if (!std::filesystem::is_directory(run)) {
    if (fold || call.says("checkpoint")) {
      throw InputError("--fold and --checkpoint are of a run folder, and RUN is a file");
    }
    return read_model(call, std::nullopt);
  }
  const std::vector<std::uint32_t> folds = train::folds_in(run);
  if (fold || folds.size() == 1) return read_model(call, fold);
  fmt::print(stderr, "tyche: {}: has {} folds; fold {} is looked into; --fold names another\n", run, folds.size(),
             folds.front());
  return read_model(call, folds.front());
}

train::Checkpoint tester_of(const Call& call, std::uint32_t graph) {
  const std::string run = call.word("run");
  const bool folder = std::filesystem::is_directory(run);
  if (!folder || call.says("fold") || call.says("data") || train::folds_in(run).size() == 1) return trained_model(call);
  const train::Checkpoint first = read_model(call, train::folds_in(run).front());
  const std::vector<datasets::Fold> folds = train::folds_of(data_for(call, first), first.config);
  for (const std::uint32_t f : train::folds_in(run)) {
    const std::vector<std::uint32_t>& test = folds[f].test;
    if (first.config.model.unit != Unit::graph || std::find(test.begin(), test.end(), graph) == test.end()) continue;
    fmt::print(stderr, "tyche: {}: fold {}, which tested graph {}, is looked into; --fold names another\n", run, f,
               graph);
    return read_model(call, f);
  }
  return trained_model(call);
}

datasets::Dataset data_for(const Call& call, const train::Checkpoint& model) {
  const train::RunConfig::DataPart& own = model.config.data;
  const bool same = !call.says("data");
  datasets::Dataset dataset =
      read_data(call.text("data").value_or(own.path), same && !call.says("format") ? own.format : call.word("format"),
                call.flag("clean") || own.clean);
  for (const std::string& line : train::unseen(dataset.set, own.features, own.labels, model.config.model)) {
    fmt::print(stderr, "tyche: warning: {}\n", line);
  }
  return dataset;
}

train::LookOptions look_of(const Call& call, std::uint32_t draws) {
  return {.draws = call.small("draws").value_or(draws), .seed = call.whole("seed"), .threads = call.threads()};
}

}  // namespace tyche::cli
