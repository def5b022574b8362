#pragma once
/// What a model on sets needs of its data before it can run: the isomorphism types' columns, and (unless every set is
/// to have a row of its own) the quotient of each level over the whole data set, computed once.
///
///   const auto sets = prepare_sets(model, data, {.threads = 2});
///   job.sets = sets;                       // engines prepare for themselves where this is left out
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/job.hpp"
#include "nn/levels.hpp"
#include "wl/pair_classes.hpp"
#include "wl/quotient_cache.hpp"

namespace tyche::engine {

struct SetOptions {
  bool compress = true;  ///< where that is right: nodes with random features of their own are in no class with others
  unsigned threads = 0;
  Progress* progress = nullptr;  ///< one unit per graph and level
  wl::QuotientCache cache;       ///< where quotients are kept between runs; by default nowhere
};

class SetData {
 public:
  SetData(const nn::ModelConfig& model, const Data& data, bool compress);

  [[nodiscard]] const std::vector<nn::Level>& levels() const { return levels_; }
  [[nodiscard]] bool compressed() const { return compressed_; }
  /// One per level; none where not compressed.
  [[nodiscard]] const std::vector<wl::Quotient>& quotients() const { return quotients_; }
  /// For a level of nodes: the features of class c of round 0.
  [[nodiscard]] std::span<const float> features(std::size_t c) const {
    return std::span(features_).subspan(c * columns_, columns_);
  }
  /// Whether this was prepared for such a model and so many graphs.
  [[nodiscard]] bool fits(const nn::ModelConfig& model, const Data& data) const;

 private:
  friend std::shared_ptr<const SetData> prepare_sets(const nn::ModelConfig&, const Data&, const SetOptions&);
  std::vector<nn::Level> levels_;
  std::vector<wl::Quotient> quotients_;
  std::vector<float> features_;
  std::size_t columns_ = 0;
  std::size_t graphs_ = 0;
  bool compressed_ = false;
};

/// A number for every node of every graph (each once: Graphs::things), equal where the features are, bit for bit; and
/// the features of each.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> colours_by_features(const Data& data, std::size_t columns,
                                                                          std::vector<float>& features);

/// The column of a type in a level above nodes: its own, or that of nn::kOtherType. Throws InputError where there is
/// neither.
[[nodiscard]] std::uint32_t type_column(const nn::Level& level, wl::SetType type);

/// Throws InputError where a set has a type the model has no column for, and like make_quotient().
[[nodiscard]] std::shared_ptr<const SetData> prepare_sets(const nn::ModelConfig& model, const Data& data,
                                                          const SetOptions& options);

/// What the job brings, or else what it asks for. Throws InputError where that was prepared for something else.
[[nodiscard]] std::shared_ptr<const SetData> sets_of(const Job& job, unsigned threads);

/// The rows of PPGN's tensors, per graph: one per class of pairs of nodes (wl/pair_classes.hpp), or one per pair where
/// the job asks for that (Job::compress), where nodes have random features, which tell all pairs apart, or where a
/// graph has so many nodes that looking for classes would take longer than it saves. Nodes are told apart by their
/// features, bit for bit. `threads` 0: all cores.
inline constexpr Node kMostNodesForPairClasses = 400;
[[nodiscard]] std::vector<wl::PairClasses> pair_rows(const Job& job, unsigned threads);

}  // namespace tyche::engine
