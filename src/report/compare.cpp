#include "report/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/tables.hpp"

namespace tyche::report {

namespace {

constexpr double kLeastRange = 1;  // points

/// What a curve says of an epoch: nothing between its points.
std::optional<double> value_at(const ResultRow& row, const std::string& curve, std::uint32_t epoch) {
  const auto found = row.paper_curves.find(curve);
  if (found == row.paper_curves.end()) return std::nullopt;
  const auto& epochs = found->second.epoch;
  const auto at = std::ranges::find(epochs, static_cast<double>(epoch));
  if (at == epochs.end()) return std::nullopt;
  return found->second.mean[static_cast<std::size_t>(at - epochs.begin())];
}

/// The standard error of the mean over folds, in points; `paper` is the accuracy that is asked about, in percent.
double standard_error(const ResultRow& row, const std::string& subset, const Accuracy& ours, double paper) {
  const double between = ours.count > 1 ? ours.deviation / std::sqrt(static_cast<double>(ours.count - 1)) : 0;
  const auto& config = row.config;
  double tested = static_cast<double>(config.data.graphs) * static_cast<double>(ours.count) /
                  static_cast<double>(std::max(config.folds.count, 1u));
  if (subset != "all") tested /= 2;  // CEXP is half of each
  const double counted = tested > 0 ? std::sqrt(paper * (100 - paper) / tested) : 0;
  return std::max(between, counted);
}

}  // namespace

Comparison compare(const Accuracy& ours, const Printed& paper) {
  return {ours.mean - paper.mean, std::max(kLeastRange, paper.deviation.value_or(0))};
}

Beside beside_paper(const ResultRow& row, const std::string& subset) {
  Beside beside;
  const auto printed = row.paper.find(subset);
  if (printed == row.paper.end() || !printed->second.metric.empty()) return beside;
  const auto curve = row.curves.find(subset);
  const std::uint32_t come_to =
      curve == row.curves.end() ? 0 : static_cast<std::uint32_t>(std::lround(curve->second.epoch.back()));
  // A test at the end alone has no curve, and stopping early by validation is an end of its own.
  const bool at_end =
      come_to == 0 || printed->second.epochs == 0 || come_to >= printed->second.epochs || row.config.selection.on();
  if (at_end) {
    beside.paper = printed->second;
    const auto ours = row.accuracy.find(subset);
    if (ours != row.accuracy.end()) beside.comparison = compare(ours->second, printed->second);
    return beside;
  }
  beside.epoch = come_to;
  const std::optional<double> theirs = value_at(row, subset, come_to);
  if (!theirs) return beside;
  beside.paper = Printed{*theirs, std::nullopt, "its curve", come_to};
  if (subset == "all") beside.paper->deviation = value_at(row, "deviation", come_to);
  const Accuracy ours{curve->second.mean.back(), curve->second.deviation.back(),
                      std::max<std::size_t>(row.folds_run, 1)};
  const double chance = 2 * standard_error(row, subset, ours, *theirs);
  beside.comparison = compare(ours, *beside.paper);
  beside.comparison->range = std::max(beside.comparison->range, chance);
  return beside;
}

std::string verdict(const Beside& beside) {
  if (!beside.comparison) return "–";
  const Comparison& c = *beside.comparison;
  if (c.within()) return "yes";
  return beside.epoch == 0 ? "no" : c.difference > 0 ? "ahead" : "behind";
}

std::string papers_side(const ResultRow& row, const std::string& subset) {
  const auto end = row.paper.find(subset);
  if (end == row.paper.end()) return percent(static_cast<const Printed*>(nullptr));
  const Beside beside = beside_paper(row, subset);
  if (!beside.paper) {
    return fmt::format("none at epoch {} ({} after {})", beside.epoch, percent(&end->second), end->second.epochs);
  }
  const std::string side = percent(&*beside.paper);
  return beside.epoch == 0 ? side : fmt::format("{} at epoch {}", side, beside.epoch);
}

}  // namespace tyche::report
