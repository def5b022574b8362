#pragma once
/// What is random about a network's input: the kinds there are, and what each of them shows the network.
///
///   features       the paper's RNI: a share of the width is noise (ModelConfig::rni)
///   marks          a random path of individualisation and refinement: "you were the i-th node individualised"
///   colours        the same path: the rank of the node's stable colour after `depth` steps, or at the leaf
///   uniform_marks  `depth` uniformly random nodes are marked: "you are the i-th"
///   class_marks    in every class of the stable colouring that is not a single node, up to `depth` random members are
///                  marked: "you are the i-th of yours"
///
/// All but features become *drawn columns*: they stand behind the node's types and attributes and enter the first
/// pre-convolution. A draw is one number per node; code_of() turns the number into columns. docs/models.md has the
/// formulas.
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace tyche::nn {

// Enumerations as people type them: name(Activation::elu) is "elu", parse<Activation>("relu") is Activation::relu.

/// What an enumeration is called, and its values; names behind those are others for them, from the first on again.
template <std::size_t kCount>
struct Names {
  std::string_view what;
  std::array<std::string_view, kCount> names;
  std::size_t values = kCount;
};
template <class Enum>
inline constexpr Names<0> kNames{};

template <class Enum>
[[nodiscard]] constexpr std::span<const std::string_view> names_of() {
  return kNames<Enum>.names;
}

template <class Enum>
requires(!kNames<Enum>.names.empty()) [[nodiscard]] std::string_view name(Enum value) {
  return kNames<Enum>.names.at(static_cast<std::size_t>(value));
}

/// The place of a name in a list. Throws InputError "unknown WHAT 'TEXT'; there are …" on one that is not in it.
[[nodiscard]] std::size_t place_of(std::span<const std::string_view> names, std::string_view what,
                                   std::string_view text);

template <class Enum>
[[nodiscard]] Enum parse(std::string_view text) {
  return static_cast<Enum>(place_of(kNames<Enum>.names, kNames<Enum>.what, text) % kNames<Enum>.values);
}

enum class Random { features, marks, colours, uniform_marks, class_marks };

template <>
inline constexpr Names<5> kNames<Random> = {"random input",
                                            {"features", "marks", "colours", "uniform-marks", "class-marks"}};

/// The depth of a path that goes on until every node has a colour of its own.
inline constexpr std::uint32_t kLeaf = std::numeric_limits<std::uint32_t>::max();
/// What `depth` is where nobody says: the leaf for colours (and for features, which have no use for it), 1 for marks.
[[nodiscard]] std::uint32_t default_depth(Random random);

/// Columns a colour's rank is coded in: a sine and a cosine of each of eight periods.
inline constexpr std::uint32_t kColourColumns = 16;
/// The most marks there may be: each is a column.
inline constexpr std::uint32_t kMostMarks = 1024;

/// Columns that a kind appends to the node's own: 0 (features), kColourColumns (colours), `depth` (marks).
[[nodiscard]] std::uint32_t drawn_columns(Random random, std::uint32_t depth);

/// The columns of one number. Colours: of rank r, sin and cos of 2πr/T for T = 2, 2·32^(1/7), …, 64, one period after
/// the other; ranks of any size, close ones alike. Marks: 0 is "not marked", all zeros; i is a one in column i - 1.
/// Requires out.size() == drawn_columns(random, depth) of a kind that has some, and for marks number <= depth.
void code_of(Random random, std::uint32_t number, std::span<float> out);

/// Throws InputError where a depth makes no sense for a kind: 0; the leaf, or more than kMostMarks, for marks; any
/// other than the default for features.
void validate_depth(Random random, std::uint32_t depth);

}  // namespace tyche::nn
