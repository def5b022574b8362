#include "inspect/verdict.hpp"

#include <fmt/format.h>

namespace tyche::inspect {
namespace {

std::string share(double value) { return fmt::format("{:.2f} %", 100 * value); }

/// A ceiling is about what can be told apart on these graphs, never about what carries over to others.
constexpr const char* kTrainingTells = "Which network generalises best, only training tells.";

std::string nothing_hidden(const std::string& reaches) {
  return fmt::format(
      "Nothing is hidden from message passing here: a network bounded by 1-WL can reach {}, as much as any network at "
      "all. {}",
      reaches, kTrainingTells);
}

std::string of_classes(const Inspection& in, double one, double everyone) {
  if (in.contents.labels.size() == 1) return "All graphs have the same label: there is nothing to tell.";
  if (one == everyone) return nothing_hidden(share(one));
  const double gain = 100 * (everyone - one);
  std::string text = fmt::format(
      "Message passing cannot see everything here: a network bounded by 1-WL can reach {}, any network at all {}",
      share(one), share(everyone));
  if (const auto& two = in.all.two_wl) {
    text += *two->score == everyone ? ", and so can one bounded by 2-WL"
                                    : fmt::format(", one bounded by 2-WL {}", share(*two->score));
  }
  return text + fmt::format(". Random inputs can win {} points of that. {}",
                            gain < 0.1 ? fmt::format("{:.2g}", gain) : fmt::format("{:.1f}", gain), kTrainingTells);
}

std::string of_targets(const Inspection& in, double one, double everyone) {
  if (in.all.one_wl.mse == in.all.everyone.mse) return nothing_hidden(fmt::format("an R² of {:.4f}", one));
  std::string text = fmt::format(
      "Message passing cannot see everything here: a network bounded by 1-WL can reach an R² of {:.4f} (mean squared "
      "error {:.4g}), any network at all {:.4f} ({:.4g})",
      one, *in.all.one_wl.mse, everyone, *in.all.everyone.mse);
  if (const auto& two = in.all.two_wl) text += fmt::format(", one bounded by 2-WL {:.4f}", *two->score);
  return text + fmt::format(". Random inputs can raise R² by {:.2g}. {}", everyone - one, kTrainingTells);
}

std::string said_of_nodes(const NodeCeilings& nodes) {
  if (!nodes.one_wl.score || !nodes.baseline.score)
    return "The values of all nodes are equal: there is nothing to tell.";
  if (!nodes.everyone || !nodes.everyone->score) return kTrainingTells;
  const double one = *nodes.one_wl.score, everyone = *nodes.everyone->score;
  const auto said = [&](double score) {
    return nodes.task == Task::classes ? share(score) : fmt::format("an R² of {:.4f}", score);
  };
  if (one == everyone) {
    return fmt::format(
        "Message passing sees as much of nodes as any equivariant function here: a network bounded by 1-WL can reach "
        "{}{}. {}",
        said(one), everyone < 1 ? ", and what is left is between nodes that isomorphisms take to each other" : "",
        kTrainingTells);
  }
  return fmt::format(
      "Message passing cannot see everything of nodes here: a network bounded by 1-WL can reach {}, any equivariant "
      "function {}. Random inputs can come near that. {}",
      said(one), said(everyone), kTrainingTells);
}

}  // namespace

std::string verdict(const Inspection& in) {
  const auto& one = in.all.one_wl.score;
  const auto& everyone = in.all.everyone.score;
  if (in.task == Task::none && in.nodes) return said_of_nodes(*in.nodes);
  if (in.task == Task::none) return "The graphs have neither labels nor targets: there is nothing to learn from them.";
  if (!one || !everyone) return "All targets are equal: there is nothing to tell.";
  return in.task == Task::classes ? of_classes(in, *one, *everyone) : of_targets(in, *one, *everyone);
}

}  // namespace tyche::inspect
