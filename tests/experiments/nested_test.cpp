// Nested selection: who wins, what is trained then, and that the test part is not looked at before.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "experiments/fixture.hpp"
#include "experiments/plan.hpp"
#include "experiments/runner.hpp"
#include "support/error.hpp"
#include "support/ranks.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"
#include "train/samples.hpp"

namespace tyche::experiments {
namespace {

using testing::HasSubstr;

// One split in which every part has both classes; labels of small_dataset alternate.
nlohmann::json parts() {
  nlohmann::json split;
  for (std::uint32_t g = 0; g < 24; ++g) {
    split[g < 12 ? "train" : g < 18 ? "validation" : "test"].push_back(g);
  }
  return split;
}

std::string nested_toml(const std::string& data) {
  return R"toml(selection = "nested"
[data]
path = "small.txt"
)toml" + data +
         R"toml(
[defaults]
model.width = 8
model.layers = 2
model.rni = 0.5
training.batch = 4
training.epochs = 6
selection.by = "accuracy"
[[models]]
name = "narrow"
[[models]]
name = "tanh"
model.activation = "tanh"
[grid]
training.learning_rate = [1e-5, 2e-2]
training.clip_norm = [0.0, 0.5]
)toml";
}

struct Nested : testing::Test {
  TemporaryFolder folder;
  datasets::Dataset dataset = train::small_dataset();

  void SetUp() override {
    write_graphs(folder / "small.txt", dataset.set, Format::gin);
    write_file(folder / "split.json", parts().dump());
    write_file(folder / "small.toml", nested_toml("split = \"split.json\""));
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder / name).string(); }
  [[nodiscard]] RunResult run(const std::string& out, std::vector<std::string> more = {}) const {
    std::vector<std::string> args = {"reproduce", path("small.toml"), "--out", path(out), "--quiet"};
    args.insert(args.end(), more.begin(), more.end());
    return run_program(args);
  }
  /// The whole of it in this process; `change` may touch the data that is prepared.
  void run_here(const std::string& out, const std::function<void(train::TrainingData&)>& change) const {
    Plan plan = make_plan(load_experiments(find_experiment(folder / "small.toml"), "standard"), folder / out,
                          {.engine = "cpu", .threads = 1});
    for (PlannedFolds& folds : plan.folds) change(folds.prepared);
    const Ranks ranks;
    (void)run_plan(plan, ranks, {.threads = 1});
    add_finals(plan);
    (void)run_plan(plan, ranks, {.threads = 1});
    write_nested(plan);
  }
  [[nodiscard]] nlohmann::json json_of(const std::string& file) const {
    return nlohmann::json::parse(read_file(folder / file));
  }
};

TEST_F(Nested, TheWinnerIsTheFirstOfTheBestByValidationAndIsTrainedThreeTimes) {
  const RunResult result = run("one-results");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("each the mean of 3 trainings"));
  const auto nested = json_of("one-results/nested/small.json");
  const auto record = json_of("one-results/experiments/small.json");
  ASSERT_EQ(nested["models"].size(), 2u);
  ASSERT_EQ(record["rows"].size(), 2u);
  // Who must have won, from the folders of the candidates alone.
  std::map<std::string, std::vector<std::pair<double, std::string>>> by_model;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "one-results/trials")) {
    const train::RunConfig config = train::read_config(entry.path() / "config.toml");
    if (config.selection.test != "never") continue;
    const auto summary = nlohmann::json::parse(read_file(entry.path() / "summary.json"));
    const std::string model = config.model.activation == nn::Activation::tanh ? "tanh" : "narrow";
    by_model[model].emplace_back(
        summary["folds"][0]["validation_accuracy"].get<double>(),
        fmt::format("{}, learning_rate {}, clip_norm {}", model, nlohmann::json(config.training.learning_rate).dump(),
                    nlohmann::json(config.training.optimiser.clip_norm).dump()));
  }
  for (std::size_t m = 0; m < 2; ++m) {
    const auto& model = nested["models"][m];
    const auto& fold = model["folds"][0];
    const auto& candidates = by_model[model["model"].get<std::string>()];
    ASSERT_EQ(candidates.size(), 4u);
    double best = 0;
    for (const auto& [value, name] : candidates) best = std::max(best, value);
    EXPECT_EQ(fold["validation_accuracy"], best);
    EXPECT_THAT(candidates, testing::Contains(testing::Pair(best, fold["winner"].get<std::string>())));
    ASSERT_EQ(fold["test_accuracy"].size(), 3u);
    double sum = 0;
    for (const double value : fold["test_accuracy"]) sum += value;
    EXPECT_NEAR(model["test_accuracy_mean"].get<double>(), sum / 3, 1e-12);
    EXPECT_EQ(record["rows"][m]["trials"].size(), 3u);
    EXPECT_EQ(record["rows"][m]["selected"][0], fold["winner"]);
    // "A row alone" trains what won, as it was trained: its rate and clipping, tested at the end.
    ASSERT_EQ(record["rows"][m]["commands"].size(), 1u);
    const std::string command = record["rows"][m]["commands"][0];
    const train::RunConfig won = train::read_config(folder / "one-results/trials" /
                                                    record["rows"][m]["trials"][0].get<std::string>() / "config.toml");
    EXPECT_THAT(command, HasSubstr(fmt::format("--lr {}", nlohmann::json(won.training.learning_rate).dump())));
    EXPECT_EQ(command.find("--clip-norm") != std::string::npos, won.training.optimiser.clip_norm > 0);
    EXPECT_THAT(command, testing::AllOf(HasSubstr("--test end"), HasSubstr("--repeat 1")));
    const RunResult report = run_program({"report", path("one-results"), "--format", "md"});
    EXPECT_THAT(report.out, HasSubstr("A row alone:"));
    EXPECT_THAT(report.out, HasSubstr(command + " --out RUN\n"));
    EXPECT_THAT(report.out, testing::Not(HasSubstr("--test never")));
  }
  EXPECT_EQ(nlohmann::json::parse(run("one-results", {"--json"}).out)["trained"], 0) << "all is there";
}

TEST_F(Nested, NoFileOfACandidateHoldsATestMeasure) {
  ASSERT_EQ(run("one-results").exit_code, 0);
  std::size_t candidates = 0, finals = 0;
  for (const auto& trial : std::filesystem::directory_iterator(folder / "one-results/trials")) {
    const bool final = train::read_config(trial.path() / "config.toml").selection.test == "end";
    (final ? finals : candidates) += 1;
    for (const auto& file : std::filesystem::recursive_directory_iterator(trial.path())) {
      if (!file.is_regular_file()) continue;
      const std::string name = file.path().filename().string();
      if (final && (name == "test.json" || name == "summary.json")) continue;
      EXPECT_EQ(read_file(file.path()).find("test_accuracy\":"), std::string::npos) << file.path();
      EXPECT_NE(name, "test.json");
    }
  }
  EXPECT_EQ(candidates, 8u);
  EXPECT_EQ(finals, 6u);
}

TEST_F(Nested, PermutingTheTestLabelsChangesTheFinalTestMeasuresAlone) {
  const auto flip = [](train::TrainingData& data) {
    for (const std::uint32_t g : data.folds[0].test) data.classes[g] = 1 - data.classes[g];
  };
  run_here("one-results", [](train::TrainingData&) {});
  run_here("two-results", flip);
  const auto one = records_of(folder / "one-results"), two = records_of(folder / "two-results");
  ASSERT_EQ(one.size(), two.size());
  std::size_t different = 0;
  for (const auto& [name, text] : one) {
    ASSERT_TRUE(two.contains(name)) << name;
    if (two.at(name) == text) continue;
    ++different;
    const bool allowed = name.ends_with("test.json") || name.ends_with("summary.json") || name.starts_with("nested/");
    EXPECT_TRUE(allowed) << name;
    if (!name.ends_with("summary.json")) continue;
    EXPECT_EQ(train::read_config(folder / "one-results" / std::filesystem::path(name).parent_path() / "config.toml")
                  .selection.test,
              "end");
  }
  EXPECT_GT(different, 0u) << "the final measures do change";
  const auto strip = [&](const std::string& out) {
    auto json = json_of(out + "/nested/small.json");
    json.erase("check");
    const auto without_tests = [](nlohmann::json& object) {
      for (auto at = object.begin(); at != object.end();) at = at.key().starts_with("test_") ? object.erase(at) : ++at;
    };
    for (auto& model : json["models"]) {
      without_tests(model);
      for (auto& fold : model["folds"]) without_tests(fold);
    }
    return json;
  };
  EXPECT_EQ(strip("one-results"), strip("two-results"));
}

TEST_F(Nested, ThreadsAndStopsChangeNothing) {
  ASSERT_EQ(run("one-results", {"--threads", "1"}).exit_code, 0);
  ASSERT_EQ(run("two-results", {"--threads", "3"}).exit_code, 0);
  EXPECT_THAT(differing(folder / "one-results", folder / "two-results"), testing::IsEmpty());
  // Killed as soon as there is something, again and again.
  const std::vector<std::string> args = {"reproduce", path("small.toml"), "--out",     path("six-results"),
                                         "--quiet",   "--resume",         "--threads", "1"};
  for (int life = 0; life < 4; ++life) {
    StartedProgram child(args);
    std::this_thread::sleep_for(std::chrono::milliseconds(60 + 90 * life));
    child.signal(SIGKILL);
    (void)child.wait();
  }
  ASSERT_EQ(run_program(args).exit_code, 0);
  // But for a file that was being written when the end came.
  EXPECT_THAT(differing(folder / "one-results", folder / "six-results"), testing::Each(HasSubstr(".tmp-")));
}

TEST_F(Nested, FoldsOfASchemeStayThoseOfTheSeed) {
  std::string toml = nested_toml("");
  toml.insert(toml.find("[[models]]"), "folds.count = 3\nfolds.scheme = \"stratified\"\nfolds.validation = 0.25\n");
  write_file(folder / "small.toml", toml);
  Plan plan = make_plan(load_experiments(find_experiment(folder / "small.toml"), "standard"), folder / "one-results",
                        {.engine = "cpu", .threads = 1});
  const Ranks ranks;
  (void)run_plan(plan, ranks, {.threads = 1});
  const std::size_t candidates = plan.trials.size();
  add_finals(plan);
  EXPECT_EQ(candidates, 2u * 4 * 3);
  EXPECT_EQ(plan.trials.size() - candidates, 2u * 3 * 3);
  for (std::size_t t = candidates; t < plan.trials.size(); ++t) {
    EXPECT_EQ(plan.trials[t].folds, plan.trials[0].folds);
    EXPECT_NE(plan.trials[t].config.training_seed(), plan.trials[0].config.training_seed());
  }
}

TEST_F(Nested, AWrongWordIsRefused) {
  std::string toml = nested_toml("");
  toml.replace(toml.find("nested"), 6, "nexted");
  EXPECT_THAT(
      [&] {
        (void)load_experiments({"x.toml", toml, folder.path()}, "paper");
      },
      testing::ThrowsMessage<InputError>(HasSubstr("expected \"nested\"")));
}

TEST_F(Nested, TheListKnowsTheSplit) {
  // Three folds of the split, of which each trains on two graphs: ten folds of the scheme would train on 19.
  nlohmann::json folds = nlohmann::json::array();
  for (std::uint32_t f = 0; f < 3; ++f) {
    folds.push_back({{"train", {6 * f, 6 * f + 1}}, {"validation", {6 * f + 2, 6 * f + 3}}, {"test", {20, 21}}});
  }
  write_file(folder / "split.json", folds.dump());
  const auto listed = nlohmann::json::parse(run_program({"reproduce", path("small.toml"), "--list", "--json"}).out);
  EXPECT_EQ(listed[0]["trials"], 8 * 3 + 2 * 3 * 3);
  DataSpec data = load_experiments(find_experiment(folder / "small.toml"), "standard").front().data;
  const ExperimentRow row = load_experiments(find_experiment(folder / "small.toml"), "standard").front().rows.front();
  CostModel cost("reference", 1);
  const double split = cost.epoch_seconds(data, row.config);
  data.split.clear();
  EXPECT_LT(split, 0.5 * cost.epoch_seconds(data, row.config)) << "each shape is timed once, so sizes alone differ";
}

}  // namespace
}  // namespace tyche::experiments
