// A network as a picture: a box per step, from the top down, and a line from every value to whoever reads it.
#include <fmt/format.h>

#include <algorithm>

#include "nn/program_text.hpp"
#include "support/share.hpp"

namespace tyche::nn {

namespace {

constexpr int kRow = 46, kBox = 32, kWide = 470, kLeft = 24, kLane = 12, kTop = 10;

const char* colour(Space space) {
  constexpr const char* kColours[] = {"#d0793a", "#2e7dd7", "#7a5af8", "#0e9384", "#dd2590",
                                      "#b42318", "#dd2590", "#b42318", "#7a5af8", "#2e7dd7"};
  return kColours[static_cast<std::size_t>(space)];
}

/// What a step reads: the values of its terms, and those it adds.
std::vector<std::size_t> read_by(const Step& step) {
  std::vector<std::size_t> out;
  for (const Term& term : step.terms) out.push_back(term.value);
  for (const std::size_t other : {step.arcs, step.onto}) {
    if (other != kNone) out.push_back(other);
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

std::string program_page(const Program& program, const GraphSize& graph, const std::string& title) {
  std::string lines, boxes;
  // Lines that pass over other boxes run to the right of them, each in a lane that is free.
  std::vector<std::size_t> free_from;  // by lane: the step at which its last line ends
  const auto middle = [](std::size_t s) { return kTop + static_cast<int>(s) * kRow + kBox / 2; };
  std::vector<Space> spaces;
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    if (std::ranges::find(spaces, step.space) == spaces.end()) spaces.push_back(step.space);
    for (const std::size_t from : read_by(step)) {
      if (from + 1 == s) {
        lines += fmt::format("<path class=\"line\" d=\"M{} {}V{}\" marker-end=\"url(#tip)\"/>\n", kLeft + 40,
                             middle(from) + kBox / 2, middle(s) - kBox / 2 - 1);
        continue;
      }
      std::size_t lane = 0;
      while (lane < free_from.size() && free_from[lane] > from) ++lane;
      if (lane == free_from.size()) free_from.push_back(0);
      free_from[lane] = s;
      const int x = kLeft + kWide, right = x + 16 + static_cast<int>(lane) * kLane;
      lines += fmt::format("<path class=\"line far\" d=\"M{0} {1}H{2}V{3}H{4}\" marker-end=\"url(#tip)\"/>\n", x,
                           middle(from) + 5, right, middle(s) - 5, x + 1);
    }
    const std::size_t parameters = parameters_of(program, step);
    const int y = middle(s) - kBox / 2;
    boxes += fmt::format(
        "<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" rx=\"5\" fill=\"{4}\" stroke=\"{4}\"><title>{5}: {6} "
        "over {7}, {8} columns, {9} parameters, {10:.4g} multiplications</title></rect>\n"
        "<text x=\"{11}\" y=\"{12}\">{5}</text><text class=\"small\" x=\"{11}\" y=\"{13}\">{6}</text>\n"
        "<text class=\"small\" text-anchor=\"end\" x=\"{14}\" y=\"{12}\">{7} × {8}</text><text class=\"small\" "
        "text-anchor=\"end\" x=\"{14}\" y=\"{13}\">{15}</text>\n",
        kLeft, y, kWide, kBox, colour(step.space), step.name, describe(step), name(step.space), step.columns,
        parameters, cost(program, step, graph), kLeft + 10, y + 14, y + 27, kLeft + kWide - 10,
        parameters == 0 ? "" : fmt::format("{} parameters", parameters));
  }
  std::string keys;
  for (const Space space : spaces) {
    keys += fmt::format("<span class=\"key\"><i style=\"background:{}\"></i>{}</span>", colour(space), name(space));
  }
  const int width = kLeft + kWide + 30 + static_cast<int>(free_from.size()) * kLane;
  const int height = kTop + static_cast<int>(program.steps.size()) * kRow;
  return filled("share/network.html", {{"@TITLE@", title},
                                       {"@STEPS@", std::to_string(program.steps.size())},
                                       {"@PARAMETERS@", std::to_string(program.parameters.learned())},
                                       {"@NODES@", fmt::format("{:.4g}", graph.nodes)},
                                       {"@EDGES@", fmt::format("{:.4g}", graph.edges)},
                                       {"@KEYS@", keys},
                                       {"@WIDTH@", std::to_string(width)},
                                       {"@HEIGHT@", std::to_string(height)},
                                       {"@LINES@", lines},
                                       {"@BOXES@", boxes}});
}

}  // namespace tyche::nn
