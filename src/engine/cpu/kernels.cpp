// The kernels of every instruction set: this file is compiled once for each (Highway's foreach_target), with the loops
// of all *-inl.hpp here in its namespace.
#include "engine/cpu/kernels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwy/detect_targets.h>

#include <map>

#include "engine/core/inputs.hpp"
#include "support/error.hpp"

// Which there are, said before any other header of Highway, whose macros take the choice up where they are defined.
// AVX3 is AVX-512 without its newest parts, which would bring nothing here. The tiles keep vectors in arrays, which the
// sizeless vectors of SVE and RVV do not allow (NEON serves Arm).
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tyche::engine::cpu {
namespace HWY_NAMESPACE {

// Each uses what stands in those before it.
// clang-format off
#include "engine/cpu/vector_math-inl.hpp"
#include "engine/cpu/pointwise-inl.hpp"
#include "engine/cpu/products-inl.hpp"
#include "engine/cpu/sparse-inl.hpp"
#include "engine/cpu/normalise-inl.hpp"
#include "engine/cpu/features-inl.hpp"
#include "engine/cpu/channels-inl.hpp"
#include "engine/cpu/peak-inl.hpp"
// clang-format on

Kernels Table() {
  return {.name = hwy::TargetName(HWY_TARGET),
          .lanes = kLanes,
          .panel = kPanel,
          .rows_product = RowsProductKernel,
          .gradient_product = GradientProductKernel,
          .gather_rows = Gather,
          .gather_edges = GatherEdges,
          .scatter_edges = ScatterEdges,
          .add_scaled = AddScaled,
          .weighted_rows = WeightedRows,
          .activate = Activate,
          .derive = Derive,
          .column_sums = ColumnSums,
          .column_max = ColumnMax,
          .adam = Adam,
          .transpose = Transpose,
          .column_moments = ColumnMoments,
          .affine_rows = AffineRows,
          .column_products = ColumnProducts,
          .affine_gradient = AffineGradient,
          .features = Features,
          .channel_product = Channels,
          .burn = Burn};
}

}  // namespace HWY_NAMESPACE
}  // namespace tyche::engine::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tyche::engine::cpu {

namespace {

HWY_EXPORT(Table);

// For an instruction set given by Highway's bit, rather than for the best one only: tests run every one the machine
// has, and users can force the portable one.
Kernels kernels_of(std::int64_t target) {
  std::size_t place = 0;
  if constexpr ((HWY_TARGETS & (HWY_TARGETS - 1)) != 0) {  // else tables have one entry
    hwy::ChosenTarget chosen;
    chosen.Update(target);
    place = chosen.GetIndex();
  }
  return HWY_DISPATCH_TABLE(Table)[place]();
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// Every table this machine can use, made on first demand.
const std::map<std::string, Kernels, std::less<>>& tables() {
  static const auto all = [] {
    std::map<std::string, Kernels, std::less<>> out;
    const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();  // best first: lower bits
    for (const std::int64_t target : targets) out.emplace(lower(hwy::TargetName(target)), kernels_of(target));
    out.emplace("auto", kernels_of(targets.front()));
    out.emplace("portable", kernels_of(targets.back()));
    return out;
  }();
  return all;
}

}  // namespace

const Kernels& kernels_for(std::string_view name) {
  const auto found = tables().find(name);
  if (found == tables().end()) {
    throw InputError(fmt::format("no CPU kernels '{}' in this build on this machine; there are {}", name,
                                 fmt::join(kernel_names(), ", ")));
  }
  return found->second;
}

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const auto& [name, table] : tables()) names.push_back(name);
  return names;
}

std::vector<std::string> built_kernels() {
  std::vector<std::string> names;
  for (std::int64_t left = HWY_TARGETS; left != 0; left &= left - 1) names.emplace_back(hwy::TargetName(left & -left));
  return names;
}

}  // namespace tyche::engine::cpu
#endif
