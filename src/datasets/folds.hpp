#pragma once
/// Cross-validation: which graphs train, which are set aside, which test.
///
///   const std::vector<Fold> folds = make_folds(labels, pairs, {.folds = 10});
///   folds[3].test                      // graph indices, ascending
///
/// What is dealt to folds is a *unit*: a pair where the data set has pairs (its two graphs never part), else a graph.
/// Every unit tests in exactly one fold. One fold alone trains and tests on all graphs but those set aside.
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tyche::datasets {

enum class FoldScheme {
  contiguous,  ///< the paper's: fold i tests units floor(i*U/k) … floor((i+1)*U/k)-1, in file order
  stratified,  ///< shuffled under the seed, each kind of unit (its labels) spread evenly
};

/// "contiguous" or "stratified"; throws InputError on any other.
[[nodiscard]] FoldScheme parse_fold_scheme(std::string_view name);
[[nodiscard]] std::string_view fold_scheme_name(FoldScheme scheme);

struct FoldOptions {
  std::uint32_t folds = 10;
  FoldScheme scheme = FoldScheme::contiguous;
  /// Share of a fold's non-test units that is set aside: neither trained nor tested on. Contiguous: with m =
  /// floor(share of the R remaining units), fold i sets aside remaining units i*m … i*m+m-1 (modulo R), as the
  /// published runs did (EXP: 120 test, 108 set aside, 972 train). 0: none.
  double validation = 0.1;
  std::uint64_t seed = 1;  ///< of the shuffle; the contiguous scheme has none
};

/// The fold of the contiguous scheme in which unit `unit` of `units` tests.
[[nodiscard]] std::uint32_t contiguous_fold(std::uint64_t unit, std::uint64_t units, std::uint32_t folds);

/// Graph indices, each list ascending; of two folds or more the three are disjoint and together are all graphs.
struct Fold {
  std::vector<std::uint32_t> train;
  std::vector<std::uint32_t> validation;
  std::vector<std::uint32_t> test;
};

/// `labels`: one per graph. `pairs`: one per graph (graphs with the same number stay together), or empty.
/// Throws InputError where there are fewer units than folds, no folds, or nothing left to train on.
[[nodiscard]] std::vector<Fold> make_folds(std::span<const int> labels, std::span<const std::uint32_t> pairs,
                                           const FoldOptions& options);

}  // namespace tyche::datasets
