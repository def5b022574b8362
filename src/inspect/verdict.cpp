#include "inspect/verdict.hpp"

#include <fmt/format.h>

namespace tyche::inspect {
namespace {

std::string share(double value) { return fmt::format("{:.1f} %", 100 * value); }

std::string of_classes(const Inspection& in, double one, double everyone) {
  if (in.contents.labels.size() == 1) {
    return "Randomness cannot help here: all graphs have the same label, and there is nothing to tell.";
  }
  if (one == everyone) {
    return fmt::format(
        "Randomness cannot help here: a network bounded by 1-WL can reach {} already, as much as any network.",
        share(one));
  }
  const double gain = 100 * (everyone - one);
  const std::string points = gain < 0.1 ? fmt::format("{:.2g} points", gain) : fmt::format("{:.1f} points", gain);
  std::string text = fmt::format(
      "Randomness can help by at most {} here: a network bounded by 1-WL can reach {}, any network at all {}", points,
      share(one), share(everyone));
  if (const auto& two = in.all.two_wl) {
    if (*two->score == everyone) return text + ", and so can one bounded by 2-WL, without randomness.";
    return text + fmt::format(", one bounded by 2-WL {}.", share(*two->score));
  }
  return text + ".";
}

std::string of_targets(const Inspection& in, double one, double everyone) {
  if (in.all.one_wl.mse == in.all.everyone.mse) {
    return fmt::format(
        "Randomness cannot help here: a network bounded by 1-WL can reach an R² of {:.4f} already, as much as any "
        "network.",
        one);
  }
  std::string text = fmt::format(
      "Randomness can raise R² by at most {:.2g} here: a network bounded by 1-WL can reach {:.4f} (mean squared error "
      "{:.4g}), any network at all {:.4f} ({:.4g})",
      everyone - one, one, *in.all.one_wl.mse, everyone, *in.all.everyone.mse);
  if (const auto& two = in.all.two_wl) text += fmt::format(", one bounded by 2-WL {:.4f}", *two->score);
  return text + ".";
}

}  // namespace

std::string verdict(const Inspection& in) {
  const auto& one = in.all.one_wl.score;
  const auto& everyone = in.all.everyone.score;
  if (in.task == Task::none) return "The graphs have neither labels nor targets: there is nothing to learn from them.";
  if (!one || !everyone) return "Randomness cannot help here: all targets are equal, and there is nothing to tell.";
  return in.task == Task::classes ? of_classes(in, *one, *everyone) : of_targets(in, *one, *everyone);
}

}  // namespace tyche::inspect
