// Every field of the configuration in every command that runs models: it changes what comes out, or it is refused with
// the reason. A field without a line here fails the test.
#include "train/fields.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "distinguish/call.hpp"
#include "graph/io.hpp"
#include "nn/program_text.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/run_program.hpp"
#include "train/samples.hpp"
#include "wl/sample_graphs.hpp"

namespace tyche {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::string>;

/// What to say to have a field differ; where it is seen by training.
struct Change {
  Words said;         ///< value; none of a flag
  Words beside = {};  ///< options that stand in both calls
  std::string data = "labels.txt";
  Words instead = {};  ///< options that the other call has where this one has the field
};

/// By key.
const std::map<std::string, Change>& changes() {
  static const Words chosen = {"--validation", "0.3", "--select-by", "loss"};
  static const std::map<std::string, Change> table = {
      {"seed", {{"2"}}},
      {"recipe", {{"paper"}, {}, "labels.txt", {"--recipe", "own"}}},
      {"data.format", {{"graph6"}}},  // which it is not
      {"data.clean", {{}, {}, "loops.jsonl"}},
      {"data.edges", {{}, {}, "coloured.jsonl"}},
      {"data.target", {{"attributes"}, {}, "both.jsonl"}},
      {"data.target_columns", {{"1"}, {}, "numbers.jsonl"}},
      {"data.scale_targets", {{}, {}, "numbers.jsonl"}},
      {"data.counts", {{"cycle3,path3"}}},
      {"data.standardise", {{}, {"--recipe", "own", "--folds", "3"}, "scaled.jsonl"}},
      {"model.kind", {{"gin"}}},
      {"model.width", {{"12"}}},
      {"model.layers", {{"3"}}},
      {"model.random", {{"marks"}}},
      {"model.depth", {{"2"}, {"--random", "colours"}, "regular.txt", {"--depth", "1"}}},
      {"model.rni", {{"0.5"}}},
      {"model.rni_dist", {{"uniform"}, {"--rni", "0.5"}}},
      {"model.activation", {{"tanh"}}},
      {"model.aggregation", {{"sum"}}},
      {"model.readout", {{"mean"}}},
      {"model.dropout", {{"0.25"}}},
      {"model.node_layers", {{"1"}, {"--model", "gcn123"}}},
      {"model.pair_layers", {{"1"}, {"--model", "gcn123"}}},
      {"model.two_sets", {{"all"}, {"--model", "gcn123"}}},
      {"model.mlp_depth", {{"1"}, {"--model", "ppgn"}}},
      {"model.node_readout", {{}, {"--model", "ppgn"}}},
      {"model.embed", {{"3"}, {"--rni", "0"}}},
      {"model.norm", {{"layer"}}},
      {"model.residual", {{}}},
      {"model.virtual_node", {{}}},
      {"model.global", {{}, {"--model", "subgraph"}}},
      {"model.roots", {{"2"}, {"--model", "subgraph"}}},
      {"model.eval_roots", {{"2"}, {"--model", "subgraph"}}},
      {"model.distance_cut", {{"1"}, {"--model", "subgraph"}}},
      {"model.network", {{"net.toml"}, {}, "labels.txt", {"--width", "8", "--layers", "2"}}},
      {"training.epochs", {{"3"}}},
      {"training.batch", {{"3"}}},
      {"training.accumulate", {{"2"}}},
      {"training.rate_rule", {{"linear"}, {"--accumulate", "2"}}},
      {"training.learning_rate", {{"0.02"}}},
      {"training.loss", {{"absolute"}, {"--target", "attributes"}, "both.jsonl"}},
      {"training.class_weights", {{"1,3"}}},
      {"training.repeat", {{"1"}}},
      {"training.start_from", {{"start.safetensors"}}},
      {"training.freeze", {{"2"}}},
      {"training.average", {{"2"}, {"--test", "end", "--epochs", "4"}}},
      {"training.clip_norm", {{"0.001"}}},
      {"training.weight_decay", {{"0.5"}}},
      {"training.beta2", {{"0.5"}}},
      {"training.adam_epsilon", {{"0.1"}}},
      {"training.schedule", {{"cosine"}}},
      {"training.warm_up", {{"2"}}},
      {"training.plateau_factor",
       {{"0.9"}, {"--schedule", "plateau", "--plateau-patience", "1", "--lr", "1", "--epochs", "8"}}},
      {"training.plateau_patience",
       {{"5"}, {"--schedule", "plateau", "--lr", "1", "--epochs", "8"}, "labels.txt", {"--plateau-patience", "1"}}},
      {"training.eval_every", {{"2"}}},
      {"training.eval_draws", {{"3"}, {"--rni", "0.5"}}},
      {"selection.by", {{"loss"}, {"--validation", "0.3", "--lr", "0.5", "--epochs", "6"}}},
      {"selection.early_stopping",
       {{}, {"--validation", "0.3", "--select-by", "loss", "--patience", "1", "--lr", "0.5", "--epochs", "12"}}},
      {"selection.patience",
       {{"1"}, {"--validation", "0.3", "--select-by", "loss", "--early-stopping", "--lr", "0.5", "--epochs", "12"}}},
      {"selection.test", {{"end"}, chosen}},
      {"folds.count", {{"4"}}},
      {"folds.scheme", {{"stratified"}}},
      {"folds.validation", {{"0.4"}}},
      {"folds.only", {{"1"}, {}, "labels.txt", {"--fold", "0"}}},
      {"folds.split", {{"split.json"}}},
      {"engine.name", {{"reference"}}},
      {"engine.compress", {{}, {"--model", "gcn3"}}},
  };
  return table;
}

class EveryField : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    datasets::Dataset dataset = train::small_dataset();
    GraphSet set = dataset.set;
    write_graphs(folder_ / "labels.txt", set, Format::gin);
    set.target_dim = 1;
    for (const Graph& graph : set.graphs) set.targets.push_back(static_cast<float>(graph.num_nodes()));
    write_graphs(folder_ / "both.jsonl", set, Format::jsonl);
    GraphSet numbers = set;
    numbers.labels.clear();
    numbers.targets.clear();
    numbers.target_dim = 2;
    for (const Graph& graph : set.graphs) {
      numbers.targets.push_back(static_cast<float>(graph.num_nodes()));
      numbers.targets.push_back(static_cast<float>(graph.num_edges() * graph.num_edges()));
    }
    write_graphs(folder_ / "numbers.jsonl", numbers, Format::jsonl);
    GraphSet regular;
    regular.graphs = {wl::cycle(8),  disjoint_union(wl::cycle(4), wl::cycle(4)),
                      wl::cycle(9),  disjoint_union(wl::cycle(4), wl::cycle(5)),
                      wl::cycle(10), disjoint_union(wl::cycle(5), wl::cycle(5)),
                      wl::rook(),    wl::shrikhande()};
    for (const Graph& graph : regular.graphs.all()) regular.graphs.push_back(graph);
    for (std::size_t g = 0; g < regular.graphs.size(); ++g) regular.labels.push_back(static_cast<int>(g % 2));
    write_graphs(folder_ / "regular.txt", regular, Format::gin);
    write_graphs(folder_ / "loops.jsonl", regular, Format::jsonl);
    std::string loops = read_file(folder_ / "loops.jsonl");
    loops.insert(loops.find("\"edges\": [") + 10, "[0, 0], ");
    write_file(folder_ / "loops.jsonl", loops);
    std::string coloured;
    for (int g = 0; g < 12; ++g) {
      coloured += fmt::format(R"({{"nodes": [0, 0, 1], "edges": [[0, 1, {}], [1, 2, {}]], "label": {}}})", g % 2, g % 3,
                              g / 2 % 2) +
                  "\n";
    }
    write_file(folder_ / "coloured.jsonl", coloured);
    write_graphs(folder_ / "scaled.jsonl", train::small_dataset(24, 2, true).set, Format::jsonl);
    const auto graphs = static_cast<int>(set.graphs.size());
    nlohmann::json fold = {{"train", nlohmann::json::array()}, {"test", nlohmann::json::array()}};
    for (int g = 0; g < graphs; ++g) fold[g % 3 == 1 ? "test" : "train"].push_back(g);
    nn::ModelConfig gin, elsewhere;
    for (nn::ModelConfig* model : {&gin, &elsewhere}) {
      model->kind = "gin";
      model->layers = 1;
    }
    ++elsewhere.classes;
    ++elsewhere.input_features;
    const nn::Program here = nn::program(gin), there = nn::program(elsewhere);
    write_file(folder_ / "net.toml", nn::to_toml(here, &there));
    write_file(folder_ / "split.json", nlohmann::json{{"folds", {fold}}}.dump());
  }
  [[nodiscard]] Words placed(Words words) const {
    for (std::string& word : words) {
      if (word == "split.json" || word == "net.toml" || word == "start.safetensors") word = (folder_ / word).string();
    }
    return words;
  }
  /// Without what differs from call to call whatever is said: times, and what was asked.
  [[nodiscard]] std::string outcome(const RunResult& r, const std::filesystem::path& run) const {
    std::string text = fmt::format("exit {}\n", r.exit_code);
    if (!std::filesystem::exists(run)) return text;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(run)) {
      const std::string name = entry.path().filename().string();
      if (name != "metrics.jsonl" && name != "results.jsonl" && name != "summary.json") continue;
      text += std::filesystem::relative(entry.path(), run).string() + "\n";
      const std::string own = read_file(entry.path());
      for (std::size_t begin = 0, end = 0; begin < own.size(); begin = end + 1) {
        end = std::min(own.find('\n', begin), own.size());
        const std::string line = own.substr(begin, end - begin);
        if (line.find("\"seconds\": ") != std::string::npos || line.find("\"check\"") == 2) continue;
        text += line.substr(0, line.find(",\"seconds\"")) + "\n";
      }
    }
    return text;
  }
  /// The call with the field and the one without, after `head`.
  void expect_seen(const Words& head, const train::Field& field, const Change& change, const char* command) const {
    Words with = head, without = head;
    for (Words* words : {&with, &without}) {
      const Words beside = placed(change.beside);
      words->insert(words->end(), beside.begin(), beside.end());
    }
    with.push_back(field.option);
    const Words said = placed(change.said);
    with.insert(with.end(), said.begin(), said.end());
    without.insert(without.end(), change.instead.begin(), change.instead.end());
    const std::filesystem::path one = folder_ / (std::string(command) + "-with"),
                                other = folder_ / (std::string(command) + "-without");
    with.insert(with.end(), {"--out", one.string()});
    without.insert(without.end(), {"--out", other.string()});
    const RunResult a = run_program(with), b = run_program(without);
    EXPECT_FALSE(a.exit_code == 2 && b.exit_code == 2) << command << " " << field.option << ": " << a.err << b.err;
    if (field.key == "engine.compress") {
      EXPECT_EQ(a.exit_code, b.exit_code) << a.err << b.err;  // the same results, by other work
      return;
    }
    EXPECT_NE(outcome(a, one), outcome(b, other)) << command << " takes " << field.option << " and ignores it";
  }
  /// Options as a call has them, with the reason in what it prints.
  void expect_refused(Words words, const train::Field& field, const Change& change, const std::string& why) const {
    words.push_back(field.option);
    const Words said = placed(change.said);
    words.insert(words.end(), said.begin(), said.end());
    const RunResult r = run_program(words);
    EXPECT_EQ(r.exit_code, 2) << words[0] << " " << field.option << "\n" << r.out;
    EXPECT_THAT(r.err, HasSubstr(fmt::format("{}: {}", field.option, why))) << words[0];
  }
  TemporaryFolder folder_;
};

TEST_P(EveryField, ChangesWhatComesOutOrIsRefusedWithTheReason) {
  const train::Field& field = *train::find_field(GetParam());
  ASSERT_TRUE(changes().contains(field.key)) << "say here how " << field.option << " is seen";
  const Change& change = changes().at(field.key);
  if (field.key == "training.start_from") {
    const std::string run = (folder_ / "start").string();
    ASSERT_EQ(run_program({"train",    "--data",   (folder_ / "labels.txt").string(),
                           "--width",  "8",        "--layers",
                           "2",        "--epochs", "1",
                           "--folds",  "3",        "--fold",
                           "0",        "--seed",   "7",
                           "--recipe", "paper",    "--quiet",
                           "--out",    run})
                  .exit_code,
              0);
    std::filesystem::copy_file(folder_ / "start" / "fold-0" / "last.safetensors", folder_ / "start.safetensors");
  }
  const std::string data = (folder_ / change.data).string();

  Words call = {"train", "--data", data,   "--quiet",  "--width", "8",         "--layers", "2",        "--batch",
                "6",     "--lr",   "0.01", "--epochs", "2",       "--threads", "1",        "--device", "cpu"};
  const auto given = [&](const std::string& option) {
    return field.option == option ||
           std::find(change.beside.begin(), change.beside.end(), option) != change.beside.end() ||
           std::find(change.instead.begin(), change.instead.end(), option) != change.instead.end();
  };
  const auto drop_given = [&](Words& words) {
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (!words[i].starts_with("--") || words[i] == "--quiet" || words[i] == "--data" || !given(words[i])) continue;
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i), words.begin() + static_cast<std::ptrdiff_t>(i + 2));
      --i;
    }
  };
  if (field.key == "engine.name") call.resize(call.size() - 2);  // --engine is as good as --device
  for (const Words& base : {Words{"--recipe", "paper"}, Words{"--folds", "3"}, Words{"--fold", "0"}}) {
    if (!given(base[0]) && field.key != "recipe") call.insert(call.end(), base.begin(), base.end());
  }
  drop_given(call);
  expect_seen(call, field, change, "train");

  const std::string why = distinguish::why_not(field);
  const std::string pairs = (folder_ / (change.data == "labels.txt" ? "regular.txt" : change.data)).string();
  Words judge = {"distinguish", pairs, "--quiet",   "--width", "8",        "--epochs", "3",        "--lr",   "0.01",
                 "--draws",     "64",  "--threads", "1",       "--device", "cpu",      "--random", "colours"};
  if (field.key == "engine.name") judge.erase(judge.end() - 4, judge.end() - 2);
  if (!why.empty()) {
    expect_refused(judge, field, change, why);
  } else {
    // Options that only some networks have.
    const bool of_features = field.key == "model.rni" || field.key == "model.rni_dist" || field.key == "model.kind" ||
                             given("--model") || field.key == "model.random" || field.key == "model.network";
    if (of_features) judge.resize(judge.size() - 2);
    drop_given(judge);
    expect_seen(judge, field, change, "distinguish");
  }

  if (field.key != "data.format" && field.key != "data.clean" && field.key != "seed" && field.key != "engine.name" &&
      field.key != "folds.only") {
    expect_refused({"predict", "--checkpoint", "none", "--data", data}, field, change,
                   "a model is asked as it was trained");
  }
  const bool tests_alone = field.key == "model.eval_roots";
  if (tests_alone ||
      (!field.key.starts_with("model.") && !field.key.starts_with("engine.") && field.key != "training.epochs")) {
    expect_refused({"bench", "train"}, field, change, "an epoch is measured as train makes it");
  } else if (field.key.starts_with("model.")) {
    Words measured = {"bench",    "train", "--data", data,        "--width", "8",        "--layers", "2",
                      "--epochs", "1",     "--json", "--threads", "1",       "--device", "cpu"};
    drop_given(measured);
    const auto learned = [&](const Words& more) {
      Words words = measured;
      for (const Words& part : {change.beside, more}) words.insert(words.end(), part.begin(), part.end());
      const RunResult r = run_program(words);
      EXPECT_EQ(r.exit_code, 0) << field.option << r.err;
      const auto json = nlohmann::json::parse(r.out, nullptr, false);
      return r.exit_code == 0 ? fmt::format("{} {}", json["parameters"].dump(), json["last_loss"].dump()) : "";
    };
    Words said = {field.option};
    const Words placed_words = placed(change.said);
    said.insert(said.end(), placed_words.begin(), placed_words.end());
    EXPECT_NE(learned(said), learned(change.instead)) << "bench takes " << field.option << " and ignores it";
  }
}

std::vector<std::string> keys() {
  std::vector<std::string> out;
  for (const train::Field& field : train::fields()) {
    if (!field.option.empty()) out.push_back(field.key);
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Cli, EveryField, testing::ValuesIn(keys()), [](const auto& which) {
  std::string name = which.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

}  // namespace
}  // namespace tyche
