#include "cli/tree.hpp"
#include "experiments/experiment.hpp"
#include "nn/kinds.hpp"

namespace tyche::cli {

namespace {

struct OfferedAt {
  std::string_view command;  ///< empty: any
  std::string_view argument;
  Offer offer;
};

// The first entry that fits counts.
std::vector<OfferedAt> make_table() {
  using Takes = Argument::Takes;
  const auto names = [](std::string_view command, std::string_view argument, std::vector<std::string> list) {
    return OfferedAt{command, argument, {std::move(list), Takes::name, "NAME"}};
  };
  const auto paths = [](std::string_view command, std::string_view argument, Takes takes, std::string placeholder) {
    return OfferedAt{command, argument, {{}, takes, std::move(placeholder)}};
  };
  const std::vector<std::string> profiles(std::begin(experiments::kProfiles), std::end(experiments::kProfiles));
  return {
      names("tyche generate", "kind",
            {"exp", "cexp", "sparse-exp", "sparse-cexp", "tseitin", "csl", "counting", "triangle", "lcc", "orbits",
             "matching"}),
      names("tyche generate", "--format", {"tu", "graph6", "sparse6", "jsonl", "dimacs"}),
      paths("tyche generate", "--out", Takes::folder, "FOLDER"),
      paths("tyche generate", "--planar-source", Takes::file, "FILE"),
      paths("tyche certify", "path", Takes::file, "PATH"),
      {"tyche predict", "--checkpoint", {{"best", "last"}, Takes::file, "NAME"}},
      {"tyche reproduce", "names", {experiments::catalogue(), Takes::file, "NAME"}},
      names("tyche reproduce", "--profile", profiles),
      names("tyche distinguish", "--scoring", {"exact", "released"}),
      names("tyche distinguish", "--only", {"basic", "regular", "str", "extension", "cfi", "4vtx", "dr"}),
      {"tyche theory approximate",
       "--function",
       {{"connected", "triangle", "bipartite", "hamiltonian", "planar", "edges", "chromatic", "diameter", "all",
         "in-triangle", "on-square", "in-largest", "orbit", "nodes"},
        Takes::file,
        "NAME"}},
      names("tyche theory approximate", "--construction", {"order", "paper"}),
      paths("", "--graph", Takes::file, "GRAPH"),
      paths("", "--dot", Takes::file, "FILE"),
      paths("", "--svg", Takes::file, "FILE"),
      paths("tyche theory separate", "A", Takes::file, "GRAPH"),
      paths("tyche theory separate", "B", Takes::file, "GRAPH"),
      names("", "--format",
            {"gin", "graph6", "sparse6", "tu", "dimacs", "planar_code", "npy", "jsonl", "graphml", "csv", "packed"}),
      paths("", "--data", Takes::file, "PATH"),
      paths("", "--split", Takes::file, "PATH"),
      paths("", "--out", Takes::file, "FILE"),
      names("", "--model", nn::model_kinds()),
      names("", "--random", {"features", "marks", "colours", "uniform-marks", "class-marks"}),
      names("", "--rni-dist", {"normal", "uniform", "xavier-normal", "xavier-uniform"}),
      names("", "--activation", {"elu", "tanh", "relu"}),
      names("", "--aggregation", {"mean", "sum"}),
      names("", "--readout", {"max", "mean", "sum"}),
      names("", "--two-sets", {"edges", "all"}),
      names("", "--loss", {"cross-entropy", "squared", "absolute", "huber"}),
      names("", "--target", {"labels", "attributes"}),
      names("", "--schedule", {"constant", "cosine", "plateau"}),
      names(
          "", "--select-by",
          {"none", "loss", "accuracy", "balanced_accuracy", "f1", "roc_auc", "average_precision", "mae", "rmse", "r2"}),
      names("", "--test", {"epochs", "end", "never"}),
      names("", "--fold-scheme", {"contiguous", "stratified"}),
      names("", "--cell", {"first-largest", "first-smallest", "first-non-singleton"}),
      names("", "--engine", {"auto", "cpu", "cpu-portable", "reference", "cuda", "cuda-fp32"}),
  };
}

}  // namespace

Offer offer_of(std::string_view command, std::string_view argument) {
  static const std::vector<OfferedAt> table = make_table();
  for (const OfferedAt& entry : table) {
    if (entry.argument == argument && (entry.command.empty() || entry.command == command)) return entry.offer;
  }
  return {};
}

}  // namespace tyche::cli
