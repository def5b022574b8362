// `tyche reproduce` as a user runs it: the same records whatever happens on the way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "experiments/fixture.hpp"
#include "support/ranks.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"

namespace tyche::experiments {
namespace {

using testing::HasSubstr;

struct Reproduce : testing::Test {
  TemporaryFolder folder;
  std::string toml = (folder / "small.toml").string();

  void SetUp() override { write_file(toml, small_experiment()); }

  [[nodiscard]] std::string out(const std::string& name) const { return (folder / name).string(); }
  [[nodiscard]] RunResult run(const std::string& name, std::vector<std::string> more = {}) const {
    std::vector<std::string> args = {"reproduce", toml, "--out", out(name), "--quiet"};
    args.insert(args.end(), more.begin(), more.end());
    return run_program(args);
  }
  /// Lines of metrics written so far.
  [[nodiscard]] std::size_t epochs_in(const std::string& name) const {
    std::size_t lines = 0;
    std::error_code ignored;
    for (std::filesystem::recursive_directory_iterator it(folder / name / "trials", ignored), end; it != end;
         it.increment(ignored)) {
      if (it->path().filename() != "metrics.jsonl") continue;
      const std::string text = read_file(it->path());
      lines += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    }
    return lines;
  }
};

TEST_F(Reproduce, ATrialThatTwoRowsNeedRunsOnce) {
  const RunResult result = run("one-results", {"--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["trials"], 6);  // three different models, two folds each
  EXPECT_EQ(json["trained"], 6);
  const auto record = nlohmann::json::parse(read_file(folder / "one-results/experiments/small.json"));
  EXPECT_EQ(record["rows"].size(), 4u);
  EXPECT_EQ(record["rows"][1]["trials"], record["rows"][2]["trials"]);
  EXPECT_NE(record["rows"][0]["trials"], record["rows"][1]["trials"]);
  EXPECT_EQ(record["rows"][1]["paper"]["all"]["mean"], 99.92);
}

TEST_F(Reproduce, ASecondCallComputesNothingAnew) {
  ASSERT_EQ(run("one-results").exit_code, 0);
  std::filesystem::copy(folder / "one-results", folder / "two-results", std::filesystem::copy_options::recursive);
  const auto written = std::filesystem::last_write_time(folder / "one-results/data/cexp-12-seed1/graphs.txt");
  const RunResult again = run("one-results", {"--json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(nlohmann::json::parse(again.out)["trained"], 0);
  // The copy names the original, which the second call must not have touched.
  const auto one = records_of(folder / "one-results");
  EXPECT_FALSE(one.empty());
  for (const auto& [name, text] : one) {
    EXPECT_EQ(read_file(folder / "one-results" / name), read_file(folder / "two-results" / name));
  }
  EXPECT_EQ(std::filesystem::last_write_time(folder / "one-results/data/cexp-12-seed1/graphs.txt"), written);
}

TEST_F(Reproduce, AnotherExperimentIntoTheSameFolderUsesWhatIsThere) {
  ASSERT_EQ(run("one-results").exit_code, 0);
  std::string more = small_experiment();
  more += "[[models]]\nname = \"tanh\"\nmodel.activation = \"tanh\"\n";
  write_file(folder / "other.toml", more);
  const RunResult result =
      run_program({"reproduce", out("other.toml"), "--out", out("one-results"), "--quiet", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out)["trials"], 8);
  EXPECT_EQ(nlohmann::json::parse(result.out)["trained"], 2);
}

TEST_F(Reproduce, ThreadsDoNotChangeRecords) {
  ASSERT_EQ(run("one-results", {"--threads", "1"}).exit_code, 0);
  ASSERT_EQ(run("two-results", {"--threads", "3"}).exit_code, 0);
  EXPECT_THAT(differing(folder / "one-results", folder / "two-results"), testing::IsEmpty());
}

TEST_F(Reproduce, StoppedAtRandomMomentsAndResumedGivesTheRecordsOfAnUnbrokenRun) {
  write_file(toml, small_experiment(150));
  ASSERT_EQ(run("one-results").exit_code, 0);
  const std::vector<std::string> args = {"reproduce", toml, "--out", out("two-results"), "--quiet", "--resume"};
  // Another moment in every run of the test: with most of the 900 epochs still to come, wherever the last stop left
  // off.
  std::mt19937 moment(std::random_device{}());
  for (const int number : {SIGKILL, SIGINT, SIGKILL}) {
    const std::size_t before = epochs_in("two-results");
    const std::size_t wait_for = before + 1 + moment() % 150;
    StartedProgram child(args);
    for (int i = 0; i < 20000 && epochs_in("two-results") < wait_for; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    child.signal(number);
    const RunResult ended = child.wait();
    EXPECT_NE(ended.exit_code, 0) << "stopped after " << wait_for << " epochs";
    EXPECT_GT(epochs_in("two-results"), before);
    if (number == SIGINT) {
      EXPECT_EQ(ended.exit_code, 130);
      EXPECT_THAT(ended.err, HasSubstr("--resume"));
    }
  }
  const RunResult last = run_program(args);
  ASSERT_EQ(last.exit_code, 0) << last.err;
  EXPECT_THAT(differing(folder / "one-results", folder / "two-results"), testing::IsEmpty());
}

TEST_F(Reproduce, TrialsBegunWithOneEngineGoOnWithAnother) {
  ASSERT_EQ(run("one-results", {"--engine", "reference"}).exit_code, 0);
  for (const auto& trial : std::filesystem::directory_iterator(folder / "one-results/trials")) {
    std::filesystem::remove(trial.path() / "summary.json");
  }
  const RunResult result = run("one-results", {"--device", "cpu", "--resume", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out)["complete"], 6);
}

TEST_F(Reproduce, WithoutResumeTrialsThatDidNotEndAreAnError) {
  ASSERT_EQ(run("one-results").exit_code, 0);
  const auto trial = std::filesystem::directory_iterator(folder / "one-results/trials")->path();
  std::filesystem::remove(trial / "summary.json");
  const RunResult result = run("one-results");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--resume"));
  EXPECT_EQ(run("one-results", {"--resume"}).exit_code, 0);
}

/// The same under mpirun.
struct ReproduceOnRanks : Reproduce {
  void SetUp() override {
    Reproduce::SetUp();
    if (!built_with_mpi()) GTEST_SKIP() << "built without MPI";
    if (std::system("command -v mpirun >/dev/null 2>&1") != 0) GTEST_SKIP() << "mpirun is not installed";
  }
  /// Three ranks; `before` is shell code that each runs before it becomes the program.
  [[nodiscard]] int run_ranks(const std::string& name, const std::string& more = "", const std::string& before = "") {
    const std::string program =
        std::string(TYCHE_PROGRAM) + " reproduce " + toml + " --quiet --out " + out(name) + more;
    const std::string command =
        "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ASAN_OPTIONS=detect_leaks=0 "
        "mpirun --oversubscribe -n 3 sh -c '" +
        before + "exec " + program + "' > " + out("mpi.log") + " 2>&1";
    return std::system(command.c_str());
  }
};

TEST_F(ReproduceOnRanks, ThreeRanksGiveTheRecordsOfOneProcess) {
  ASSERT_EQ(run("one-results").exit_code, 0);
  ASSERT_EQ(run_ranks("two-results"), 0) << read_file(folder / "mpi.log");
  EXPECT_THAT(differing(folder / "one-results", folder / "two-results"), testing::IsEmpty());
}

TEST_F(ReproduceOnRanks, ARankThatIsKilledLosesNothingThatResumeDoesNotBringBack) {
  write_file(toml, small_experiment(150));
  ASSERT_EQ(run("one-results").exit_code, 0);
  // Rank 1 is killed soon after trials have begun.
  const std::string kill = "if [ $OMPI_COMM_WORLD_RANK = 1 ]; then (while [ ! -d " + out("two-results/trials") +
                           " ]; do sleep 0.01; done; sleep 0.05; kill -9 $$) & fi; ";
  EXPECT_NE(run_ranks("two-results", "", kill), 0);
  ASSERT_EQ(run_ranks("two-results", " --resume"), 0) << read_file(folder / "mpi.log");
  EXPECT_THAT(differing(folder / "one-results", folder / "two-results"), testing::IsEmpty());
}

TEST_F(Reproduce, MistakesAreAnsweredWithOneLineAndExitCodeTwo) {
  write_file(toml, "[data]\ngenerate = \"exp\"\n[defaults]\ntraining.epocs = 3\n");
  RunResult result = run("one-results");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("did you mean 'training.epochs'?"));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
  EXPECT_FALSE(std::filesystem::exists(folder / "one-results/trials"));
  result = run_program({"reproduce", "tabel1", "--out", out("one-results")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("did you mean 'table1'?"));
  EXPECT_EQ(run_program({"reproduce"}).exit_code, 2);
  EXPECT_THAT(run_program({"reproduce", "--profile", "quik", "--out", out("one-results")}).err, HasSubstr("'quick'"));
}

TEST_F(Reproduce, TellsOfEveryRowThoughSeveralTrainAsOneGroup) {
  write_file(toml, R"([data]
generate = "exp"
pairs = 6
[defaults]
training.epochs = 1
model.width = 4
model.layers = 1
folds.count = 3
folds.run = 2
[[models]]
name = "GCN"
[grid]
seed = [1, 2]
)");
  const RunResult result = run_program({"reproduce", toml, "--out", out("rows-results")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, testing::ContainsRegex("GCN, seed 1.*2 trials"));
  EXPECT_THAT(result.err, testing::ContainsRegex("GCN, seed 2.*2 trials"));
}

TEST_F(Reproduce, ListEstimatesWithoutRunning) {
  const RunResult result = run_program({"reproduce", toml, "--list", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  ASSERT_EQ(json.size(), 3u);  // the three profiles
  EXPECT_EQ(json[0]["trials"], 8);
  EXPECT_GT(json[0]["estimated_seconds"].get<double>(), 0);
}

TEST_F(Reproduce, ListCountsTheFoldsOfASplitAndTheRepeatsOfWinners) {
  write_file(out("split.json"), R"([{"train": [0, 1], "validation": [2, 3], "test": [4, 5]},
                                    {"train": [2, 3], "validation": [4, 5], "test": [0, 1]}])");
  write_file(toml, R"(selection = "nested"
repeats = 3
[data]
path = "graphs"
split = "split.json"
[defaults]
training.epochs = 2
model.width = 4
model.layers = 1
[[models]]
name = "GCN"
[grid]
training.learning_rate = [1e-3, 1e-4]
)");
  ASSERT_EQ(run_program({"generate", "exp", "--pairs", "3", "--out", out("graphs")}).exit_code, 0);
  const RunResult result = run_program({"reproduce", toml, "--list", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json[0]["trials"], 2 * 2 + 3 * 2);  // candidates, then the winner of each fold
  EXPECT_GT(json[0]["estimated_seconds"].get<double>(), 0);
}

}  // namespace
}  // namespace tyche::experiments
