#pragma once
/// How a table of kernels is put together for an instruction set given by Highway's bit, rather than for the best one
/// only: tests run every one the machine has, and users can force the portable one.
#include <cstdint>

#include "engine/cpu/kernels.hpp"
#include "engine/cpu/simd_targets.hpp"

namespace tyche::engine::cpu {

/// FUNC (exported by HWY_EXPORT in this file) for one target. To be expanded after hwy/foreach_target.h, so that it
/// counts the targets this file was compiled for.
#define TYCHE_DISPATCH_TO(target, FUNC) (HWY_DISPATCH_TABLE(FUNC)[::tyche::engine::cpu::dispatch_index(target)])

/// fill_NAME() below, from the function Fill that was exported: once per file, in its last pass (HWY_ONCE).
#define TYCHE_FILL_BY(fill_name, Fill) \
  HWY_EXPORT(Fill);                    \
  void fill_name(std::int64_t target, Kernels& table) { TYCHE_DISPATCH_TO(target, Fill)(table); }

[[nodiscard]] inline std::size_t dispatch_index(std::int64_t target) {
  if constexpr ((HWY_TARGETS & (HWY_TARGETS - 1)) == 0) return 0;  // then tables have one entry
  hwy::ChosenTarget chosen;
  chosen.Update(target);
  return chosen.GetIndex();
}

void fill_products(std::int64_t target, Kernels& table);
void fill_sparse(std::int64_t target, Kernels& table);
void fill_pointwise(std::int64_t target, Kernels& table);
void fill_normalise(std::int64_t target, Kernels& table);
void fill_features(std::int64_t target, Kernels& table);
void fill_channels(std::int64_t target, Kernels& table);
void fill_peak(std::int64_t target, Kernels& table);

}  // namespace tyche::engine::cpu
