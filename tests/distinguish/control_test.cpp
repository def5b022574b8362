// Whether controls are controls: what they train on, what they are judged on, by which network, and at which level. An
// engine that writes down what it is given, and answers what the test wants, stands in for the real ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "distinguish/records.hpp"
#include "distinguish/runner.hpp"
#include "distinguish/samples.hpp"
#include "engine/whole_engine.hpp"
#include "graph/isomorphism.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace tyche::distinguish {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// What a network was trained on, by label.
struct Trained {
  std::vector<Graph> graphs[2];
};
/// What a network was judged on: the mark that training left in its first parameter, and the graphs.
struct Judged {
  float mark;
  std::vector<Graph> first, second;
};

/// Trains by writing its trial's fold into the first parameter, and judges by the place of a graph: a network that
/// leaks, of whatever graphs.
class Spy : public engine::WholeEngine {
 public:
  [[nodiscard]] std::string description() const override { return "spy"; }
  void train(const engine::Job& job, std::span<engine::Trial> trials, engine::Observer& observer) override {
    for (std::size_t t = 0; t < trials.size(); ++t) {
      Trained& seen = trained[trials[t].fold];
      for (std::vector<Graph>& graphs : seen.graphs) graphs.clear();
      for (const std::uint32_t g : trials[t].train) {
        seen.graphs[job.data.targets[g].label].push_back(job.data.graphs[g]);
      }
      trials[t].state.parameters[0] = static_cast<float>(trials[t].fold + 1);
      trials[t].state.epoch = job.epochs;
      engine::EpochResult result;
      result.epoch = job.epochs;
      result.train_loss = loss;
      (void)observer.on_epoch(t, result, &trials[t].state);
    }
  }
  [[nodiscard]] engine::Logits predict(const engine::Job& job, std::span<const float> parameters,
                                       std::span<const std::uint32_t> which, const engine::Draw&) override {
    const std::scoped_lock lock(mutex_);
    engine::Logits out;
    Judged& seen = judged.emplace_back(Judged{parameters[0], {}, {}});
    for (std::size_t i = 0; i < which.size(); ++i) {
      const bool first = alternating ? i % 2 == 0 : 2 * i < which.size();
      (first ? seen.first : seen.second).push_back(job.data.graphs[which[i]]);
      // A different size every time, or copies would be singular.
      const float size = 1 + 0.01f * static_cast<float>((i * 7) % 5);
      for (std::size_t c = 0; c < job.model.classes; ++c) {
        const float noise = 0.1f * static_cast<float>((i * 13 + c * 29 + i * c * 3) % 17);
        out.values.push_back(c > 0 ? (alternating ? noise : 0) : first ? size : -size);
      }
    }
    return out;
  }
  double gradient(const engine::Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
                  const engine::Draw& draw, std::vector<float>& gradient_out, engine::Logits& logits_out) override {
    gradient_out.assign(parameters.size(), 0.0f);
    logits_out = predict(job, parameters, which, draw);
    return 0;
  }

  bool alternating = false;  ///< graphs of a pair stand in turn, as released scoring has them
  double loss = 0.1;         ///< of every epoch: it has learned
  std::map<std::uint32_t, Trained> trained;
  std::vector<Judged> judged;

 private:
  std::mutex mutex_;
};

/// Two pairs that differ, of graphs that renumbering changes.
PairSet two_pairs() { return pairs_of({wl::exp_core(2, true), wl::exp_core(2, false), wl::shrikhande(), wl::rook()}); }

void expect_all_are(const std::vector<Graph>& graphs, const Graph& expected, const std::string& what) {
  EXPECT_FALSE(graphs.empty()) << what;
  for (const Graph& graph : graphs) {
    ASSERT_TRUE(isomorphism(graph, expected).has_value()) << what;
  }
}

Graph graph_of(const PairSet& pairs, std::size_t pair, std::size_t side) { return pairs.set.graphs[2 * pair + side]; }

TEST(Controls, TrainTheirOwnNetworkOnTheFirstGraphAgainstItselfRenumbered) {
  const PairSet pairs = two_pairs();
  const Settings settings = small_settings(pairs, nn::Random::colours);
  Spy spy;
  Runner runner(settings, pairs, spy, spy, 1);
  const std::vector<PairResult> results = runner.run(runner.chunks()[0], 1, nullptr);
  ASSERT_EQ(spy.trained.size(), 4u) << "a network per pair and one per control";
  ASSERT_EQ(spy.judged.size(), 4u);
  for (std::uint32_t pair = 0; pair < 2; ++pair) {
    const std::string name = "pair " + std::to_string(pair);
    const Trained &own = spy.trained[2 * pair], &control = spy.trained[2 * pair + 1];
    for (const Trained* network : {&own, &control}) {
      EXPECT_EQ(network->graphs[0].size(), settings.train_draws()) << name;
      EXPECT_EQ(network->graphs[1].size(), settings.train_draws()) << name;
      expect_all_are(network->graphs[0], graph_of(pairs, pair, 0), name);
    }
    expect_all_are(own.graphs[1], graph_of(pairs, pair, 1), name);
    expect_all_are(control.graphs[1], graph_of(pairs, pair, 0), name + ", control");
    EXPECT_NE(control.graphs[1][0], control.graphs[0][0]) << name << ": in another numbering";
    EXPECT_EQ(results[pair].epochs, milestones(settings.config.training.epochs)[0]) << "it has learned at once";
  }
}

TEST(Controls, AreJudgedOnTheFirstGraphTwiceByTheNetworkThatTheyTrained) {
  const PairSet pairs = two_pairs();
  const Settings settings = small_settings(pairs, nn::Random::colours);
  Spy spy;
  Runner runner(settings, pairs, spy, spy, 1);
  (void)runner.run(runner.chunks()[0], 1, nullptr);
  ASSERT_EQ(spy.judged.size(), 4u);
  for (std::uint32_t i = 0; i < 4; ++i) {  // one thread: in order
    const std::string name = "network " + std::to_string(i);
    EXPECT_EQ(spy.judged[i].mark, static_cast<float>(i + 1)) << name;
    EXPECT_EQ(spy.judged[i].first.size(), settings.draws) << name;
    expect_all_are(spy.judged[i].first, graph_of(pairs, i / 2, 0), name);
    expect_all_are(spy.judged[i].second, graph_of(pairs, i / 2, i % 2 == 1 ? 0 : 1), name);
  }
}

TEST(Controls, OfOneNetworkForAllPairsAreTheFirstGraphTwice) {
  const PairSet pairs = two_pairs();
  Settings settings = small_settings(pairs, nn::Random::colours);
  settings.together = true;
  Spy spy;
  Runner runner(settings, pairs, spy, spy, 1);
  const std::vector<PairResult> results = runner.run(runner.chunks()[0], 1, nullptr);
  ASSERT_EQ(spy.trained.size(), 1u);
  EXPECT_EQ(spy.trained[0].graphs[0].size(), 2 * settings.train_draws());
  ASSERT_EQ(spy.judged.size(), 4u);
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::string name = "test " + std::to_string(i);
    EXPECT_EQ(spy.judged[i].mark, 1) << name;
    expect_all_are(spy.judged[i].first, graph_of(pairs, i / 2, 0), name);
    expect_all_are(spy.judged[i].second, graph_of(pairs, i / 2, i % 2 == 1 ? 0 : 1), name);
  }
  EXPECT_TRUE(results[1].verdict.told_apart && results[1].control.told_apart) << "the spy leaks";
}

TEST(Controls, OfReleasedScoringAreTheFirstGraphTwice) {
  const PairSet pairs = two_pairs();
  Settings settings;
  settings.scoring = Scoring::released;
  settings.config = default_config("gcn", nn::Random::colours, Scoring::released);
  settings.config.training.epochs = 1;
  resolve(settings, pairs, "pairs");
  Spy spy;
  spy.alternating = true;
  Runner runner(settings, pairs, spy, spy, 1);
  const std::vector<PairResult> results = runner.run(runner.chunks()[0], 1, nullptr);
  std::vector<Judged> whole;  // batches of training are smaller
  for (const Judged& seen : spy.judged) {
    if (seen.first.size() >= 32) whole.push_back(seen);
  }
  ASSERT_EQ(whole.size(), 4u);
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::string name = "test " + std::to_string(i);
    expect_all_are(whole[i].first, graph_of(pairs, i / 2, 0), name);
    expect_all_are(whole[i].second, graph_of(pairs, i / 2, i % 2 == 1 ? 0 : 1), name);
  }
  for (const PairResult& result : results) {
    EXPECT_TRUE(result.verdict.told_apart) << "the spy leaks";
    EXPECT_TRUE(result.control.told_apart) << "and the control shows it";
  }
}

TEST(Controls, GoOffWhereANetworkAnswersByTheOrderItIsAskedIn) {
  const PairSet pairs = two_pairs();
  for (const nn::Random random : {nn::Random::colours, nn::Random::features}) {
    const Settings settings = small_settings(pairs, random);
    Spy spy;
    Runner runner(settings, pairs, spy, spy, 2);
    for (const PairResult& result : runner.run(runner.chunks()[0], 1, nullptr)) {
      EXPECT_TRUE(result.control.told_apart) << result.pair;
      EXPECT_EQ(result.control, result.verdict) << result.pair;
    }
  }
}

TEST(Levels, OfOneTestAreThatOfTheRunDividedByPairsAndSeeds) {
  Settings settings;
  EXPECT_DOUBLE_EQ(settings.level(1), kLevel);
  EXPECT_DOUBLE_EQ(settings.level(4), kLevel / 4);
  settings.seeds = 10;
  EXPECT_DOUBLE_EQ(settings.level(4), kLevel / 40);
  EXPECT_DOUBLE_EQ(settings.level(1), kLevel / 10);
}

TEST(Levels, OfARunDecideEveryVerdictAndControl) {
  // All of 8 draws right on both sides: p = 1 / C(16, 8) = 7.8e-5, between 0.01 / (2 · 63) and 0.01 / (2 · 65).
  const PairSet pairs = two_pairs();
  for (const bool together : {false, true}) {
    for (const std::uint32_t seeds : {63u, 65u}) {
      Settings settings = small_settings(pairs, nn::Random::colours);
      settings.draws = 8;
      settings.seeds = seeds;
      settings.together = together;
      Spy spy;
      Runner runner(settings, pairs, spy, spy, 1);
      const std::vector<PairResult> results = runner.run(runner.chunks()[0], 1, nullptr);
      for (const PairResult& result : results) {
        EXPECT_NEAR(result.verdict.p, 1.0 / 12870, 1e-12);
        EXPECT_EQ(result.verdict.told_apart, seeds == 63) << together;
        EXPECT_EQ(result.control.told_apart, seeds == 63) << together;
      }
    }
  }
}

TEST(Records, RefuseFilesOfARunInWhichAByteChanged) {
  const TemporaryFolder folder;
  const PairSet pairs = two_pairs();
  const Settings settings = small_settings(pairs, nn::Random::colours);
  const PairResult result{1, 1, 25, {true, 1e-9, 60, 3, 4.5, false}, {false, 0.25, 3, 4, {}, true}};
  Records(folder / "run", settings, false).add({result}, pairs);
  const auto damage = [&](const std::string& file, const std::string& from, const std::string& to) {
    std::string text = read_file(folder / "run" / file);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << file << " has no " << from;
    write_file(folder / "run" / file, text.replace(at, from.size(), to));
  };
  EXPECT_EQ(read_asked(folder / "run"), nlohmann::json(identity(settings)));
  damage("distinguish.json", "\"draws\": 64", "\"draws\": 65");
  EXPECT_THAT([&] { (void)read_asked(folder / "run"); },
              ThrowsMessage<InputError>(HasSubstr("distinguish.json: is damaged")));
  EXPECT_THAT([&] { Records(folder / "run", settings, true); },
              ThrowsMessage<InputError>(HasSubstr("distinguish.json: is damaged")));
  damage("distinguish.json", "\"draws\": 65", "\"draws\": 64");
  EXPECT_EQ(read_results(folder / "run"), std::vector<PairResult>{result});
  damage("results.jsonl", "\"p\":1e-09", "\"p\":2e-09");
  for (const bool resume : {false, true}) {
    EXPECT_THAT([&] { resume ? (void)Records(folder / "run", settings, true) : (void)read_results(folder / "run"); },
                ThrowsMessage<InputError>(HasSubstr("results.jsonl: line 1: is damaged")));
  }
}

}  // namespace
}  // namespace tyche::distinguish
