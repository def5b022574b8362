#pragma once
/// What decides how pairs are judged: the model and its training (a train::RunConfig, with defaults of its own) and how
/// many seeds, draws and copies there are.
///
///   Settings settings;
///   settings.config = default_config("gcn", nn::Random::colours);
///   resolve(settings, pairs, "brec");
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "distinguish/pairs.hpp"
#include "train/config.hpp"

namespace tyche::distinguish {

/// The level of all tests of a run together.
inline constexpr double kLevel = 0.01;

/// Draws of each graph in an epoch of one network for all pairs.
inline constexpr std::uint32_t kTogetherDraws = 8;

/// How a network is trained and judged: by a test that is right, or by BREC's own protocol (judge.hpp).
enum class Scoring { exact, released };
/// "exact", "released"; the parser throws InputError that lists them on any other.
[[nodiscard]] std::string_view name(Scoring scoring);
[[nodiscard]] Scoring parse_scoring(std::string_view text);

struct Settings {
  Scoring scoring = Scoring::exact;
  bool together = false;    ///< one network for all pairs (runner.hpp), not one per pair
  train::RunConfig config;  ///< config.seed is the first seed; of `training`, epochs are the most there can be
  std::uint32_t seeds = 1;
  std::uint32_t draws = 512;               ///< fresh ones that each graph of a pair is judged on
  std::optional<std::uint32_t> per_epoch;  ///< draws of each graph in an epoch of training; see train_draws()

  /// Of one test among pairs × seeds (Bonferroni).
  [[nodiscard]] double level(std::size_t pairs) const { return kLevel / (static_cast<double>(pairs) * seeds); }
  /// Whether the network's output depends on draws at all.
  [[nodiscard]] bool random() const { return config.model.draws(); }
  /// Without draws one of each graph is all there is.
  [[nodiscard]] std::uint32_t train_draws() const {
    return random() ? per_epoch.value_or(together ? kTogetherDraws : 32) : 1;
  }
};

/// Exact scoring: what train has, but for: no dropout and larger steps (two graphs are to be learned by heart, and are
/// tested on draws), fewer epochs, batches of 32, and with marks or colours two layers. Released scoring: the
/// protocol's 20 epochs, batches of 16 and rate. One network for all pairs (`together`): two layers of 128, more
/// epochs, larger batches and half those steps.
[[nodiscard]] train::RunConfig default_config(const std::string& kind, nn::Random random,
                                              Scoring scoring = Scoring::exact, bool together = false);

/// Of settings that name none, with exact scoring: some multiple of what train has.
[[nodiscard]] double default_learning_rate(const Settings& settings);

/// Fills in what follows from the pairs and from other fields, and validates. Throws InputError where a number is 0, or
/// there are draws per epoch for a network without random inputs; and where released scoring is to have dropout,
/// another batch than its own or one network for all pairs.
void resolve(Settings& settings, const PairSet& pairs, const std::filesystem::path& path);

/// All that decides results: equal where results must be.
[[nodiscard]] nlohmann::json identity(const Settings& settings);

}  // namespace tyche::distinguish
