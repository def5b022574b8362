#pragma once
/// What turns gradients into steps, as a run chooses it: Adam's constants, and the rate of every epoch. Defaults are
/// PyTorch's Adam at a constant rate. core/adam.hpp takes the steps, core/schedule.hpp says the rates.
///
///   job.optimiser.clip_norm = 1;
///   job.schedule = {.kind = ScheduleKind::cosine, .warm_up = 10};
#include <cstdint>
#include <limits>
#include <string_view>

namespace tyche::engine {

struct Optimiser {
  /// Of the gradient of a batch over all parameters: a longer one is shortened to it, as PyTorch's clip_grad_norm_
  /// does. 0: no limit.
  double clip_norm = 0;
  /// AdamW: every step first takes rate × weight_decay of every parameter away. 0: none.
  double weight_decay = 0;
  double beta2 = 0.999;   ///< of the second moment
  double epsilon = 1e-8;  ///< beside its root
  /// So many parameters at the beginning of the flat vector stay as they are, and count in no norm (CPU engines).
  std::uint64_t frozen = 0;
};

enum class ScheduleKind : std::uint8_t { constant, cosine, plateau };
/// "constant", "cosine" or "plateau"; throws InputError on any other.
[[nodiscard]] ScheduleKind parse_schedule(std::string_view name);
[[nodiscard]] std::string_view name(ScheduleKind kind);

/// How the rate goes, epoch by epoch.
struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;
  std::uint32_t warm_up = 0;    ///< epochs in which the rate grows in equal steps to the whole
  double plateau_factor = 0.1;  ///< of a plateau: what the rate is multiplied by
  std::uint32_t patience = 10;  ///< … after more than so many epochs in a row that were no better
};

/// PyTorch's ReduceLROnPlateau: the rate so far, and what decides on the next. A loss is better where it is below the
/// best by one part in 10,000.
struct Plateau {
  double rate = 0;  ///< 0: the trial's own, nothing was seen yet
  double best = std::numeric_limits<double>::infinity();
  std::uint32_t bad = 0;  ///< epochs since the best

  void step(double loss, double factor = 0.1, std::uint32_t patience = 10);
  friend bool operator==(const Plateau&, const Plateau&) = default;
};

}  // namespace tyche::engine
