#pragma once
/// The kinds of models, one table: what each is made of, what it takes and what it has no use for. Whoever asks "is
/// this a gcn?" asks the table instead, so that a new kind is a row here and a function in nn/networks.cpp.
///
///   const Kind& kind = kind_of(config);               // throws InputError on a name that is not in the table
///   why_unused(config, "activation")                  // "its MLPs are ReLU networks", or "" where ppgn uses it
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "nn/program.hpp"

namespace tyche::nn {

struct Kind {
  std::string_view name;
  /// What a run of this kind has where nothing else is said: the paper's.
  std::uint32_t width;
  std::uint32_t layers;
  Norm norm;
  std::uint32_t epochs;
  std::uint32_t batch;
  double (*learning_rate)(const ModelConfig& config);
  /// Its network (nn/networks.hpp).
  Program (*program)(const ModelConfig& config);
};

[[nodiscard]] std::span<const Kind> kinds();
/// Throws InputError that lists the kinds where there is none of this name.
[[nodiscard]] const Kind& kind_of(const ModelConfig& config);

/// Why this model has no use for a field ("readout", "rni", …); empty: it uses it. validate() refuses such a field
/// where it has another value than ModelConfig's own.
[[nodiscard]] std::string why_unused(const ModelConfig& config, std::string_view field);

}  // namespace tyche::nn
