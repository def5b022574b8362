#include "theory/draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "support/error.hpp"

namespace tyche::theory {
namespace {

constexpr std::size_t kLabel = 52;  ///< characters of a label before it is cut

enum class SumKind { self, neighbour, readout };
constexpr const char* kColour[] = {"#5b6470", "#1f6fd0", "#d9730d"};
constexpr const char* kSum[] = {"", " over neighbours", " over all nodes"};

struct Weight {
  std::size_t layer;  ///< of the unit it leads to; one past the last: the output
  std::uint32_t from, to;
  double value;
  SumKind kind;
};

struct Box {
  std::string label;
  double bias = 0;
  bool handed_on = false;
};

/// The network as boxes and lines; column 0 holds the inputs, the last one the outputs.
struct Drawing {
  std::vector<std::vector<Box>> columns;
  std::vector<Weight> weights;
};

Drawing drawing_of(const Compiled& compiled, std::size_t limit) {
  const AcrNetwork& net = compiled.network;
  std::size_t units = net.inputs;
  for (const auto& layer : net.layers) units += layer.width();
  if (units > limit) {
    throw InputError(fmt::format("a network of {} units is too large to draw here: at most {}", units, limit));
  }
  Drawing out;
  const auto label = [&](std::size_t column, std::size_t unit) {
    if (column < compiled.labels.size()) return compiled.labels[column][unit];
    return column == 0 ? fmt::format("R{}(x)", unit + 1) : fmt::format("unit {}", unit);
  };
  const auto add = [&](const AcrMatrix& m, std::size_t layer, SumKind kind) {
    for (std::uint32_t row = 0; row < m.rows(); ++row) {
      for (std::uint64_t e = m.offsets[row]; e < m.offsets[row + 1]; ++e) {
        out.weights.push_back({layer, m.columns[e], row, m.values[e], kind});
      }
    }
  };
  auto& inputs = out.columns.emplace_back();
  for (std::size_t i = 0; i < net.inputs; ++i) inputs.push_back({label(0, i)});
  for (const AcrLayer& layer : net.layers) {
    const std::size_t column = out.columns.size();
    auto& boxes = out.columns.emplace_back();
    for (std::size_t i = 0; i < layer.width(); ++i) {
      const auto size = [i](const AcrMatrix& m) { return m.offsets[i + 1] - m.offsets[i]; };
      const bool handed_on = size(layer.self) == 1 && size(layer.neighbour) == 0 && size(layer.readout) == 0 &&
                             layer.bias[i] == 0 && layer.self.values[layer.self.offsets[i]] == 1;
      boxes.push_back({label(column, i), layer.bias[i], handed_on});
    }
    add(layer.self, column, SumKind::self);
    add(layer.neighbour, column, SumKind::neighbour);
    add(layer.readout, column, SumKind::readout);
  }
  add(net.head, out.columns.size(), SumKind::self);
  auto& outputs = out.columns.emplace_back();
  for (const double bias : net.head_bias) outputs.push_back({"output", bias});
  return out;
}

bool begins_character(char c) { return (c & 0xc0) != 0x80; }

std::string cut(const std::string& text, std::size_t limit) {
  std::size_t characters = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (begins_character(text[at]) && characters++ == limit) return text.substr(0, at) + "…";
  }
  return text;
}

constexpr std::pair<char, const char*> kXml[] = {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}};
constexpr std::pair<char, const char*> kDot[] = {{'"', "\\\""}, {'\\', "\\\\"}};

std::string escaped(const std::string& text, std::span<const std::pair<char, const char*>> marks) {
  std::string out;
  for (const char c : text) {
    const auto mark = std::ranges::find(marks, c, &std::pair<char, const char*>::first);
    out += mark == marks.end() ? std::string(1, c) : mark->second;
  }
  return out;
}

/// An order for each column in which lines cross little: repeated sorting by the mean place of the units before.
std::vector<std::vector<std::size_t>> places(const Drawing& d) {
  std::vector<std::vector<std::size_t>> place;
  for (const auto& column : d.columns) {
    auto& mine = place.emplace_back(column.size());
    std::iota(mine.begin(), mine.end(), std::size_t{0});
  }
  const auto sweep = [&](std::size_t column, bool forward) {
    std::vector<double> total(place[column].size(), 0), count(place[column].size(), 0);
    for (const Weight& w : d.weights) {
      if (forward ? w.layer == column : w.layer == column + 1) {
        const std::size_t mine = forward ? w.to : w.from, other = forward ? w.from : w.to;
        const std::size_t there = forward ? column - 1 : column + 1;
        total[mine] += static_cast<double>(place[there][other]) / static_cast<double>(place[there].size());
        count[mine] += 1;
      }
    }
    std::vector<std::size_t> order(place[column].size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto key = [&](std::size_t i) {
      return count[i] > 0 ? total[i] / count[i]
                          : static_cast<double>(place[column][i]) / static_cast<double>(order.size());
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return key(i) < key(j); });
    for (std::size_t i = 0; i < order.size(); ++i) place[column][order[i]] = i;
  };
  for (int round = 0; round < 4; ++round) {
    for (std::size_t column = 1; column < place.size(); ++column) sweep(column, true);
    for (std::size_t column = place.size() - 1; column-- > 1;) sweep(column, false);
  }
  return place;
}

}  // namespace

std::string to_dot(const Compiled& compiled, const std::string& title) {
  const Drawing d = drawing_of(compiled, 2000);
  std::string out = fmt::format(
      "digraph network {{\n  rankdir=LR;\n  label=\"{}\";\n  labelloc=t;\n"
      "  node [shape=box, style=rounded, fontname=\"monospace\", fontsize=10];\n",
      escaped(title, kDot));
  for (std::size_t column = 0; column < d.columns.size(); ++column) {
    out += "  { rank=same;\n";
    for (std::size_t i = 0; i < d.columns[column].size(); ++i) {
      const Box& box = d.columns[column][i];
      out += fmt::format("    u{}_{} [label=\"{}{}\"{}];\n", column, i, escaped(cut(box.label, kLabel), kDot),
                         box.bias == 0 ? std::string() : fmt::format("\\nbias {}", box.bias),
                         box.handed_on ? ", color=\"#b8bec6\", fontcolor=\"#7d8590\"" : "");
    }
    out += "  }\n";
  }
  for (const Weight& w : d.weights) {
    out += fmt::format("  u{}_{} -> u{}_{} [color=\"{}\"{}{}];\n", w.layer - 1, w.from, w.layer, w.to,
                       kColour[static_cast<int>(w.kind)], w.value < 0 ? ", style=dashed" : "",
                       std::abs(w.value) == 1 ? std::string() : fmt::format(", label=\"{}\"", w.value));
  }
  return out + "}\n";
}

std::string to_svg(const Compiled& compiled, const std::string& title) {
  const Drawing d = drawing_of(compiled, 300);
  const auto place = places(d);
  constexpr double kCharacter = 7.3, kBox = 34, kRow = 50, kGap = 130, kTop = 96, kMargin = 24;
  const auto characters = [](const std::string& text) {
    return static_cast<double>(std::ranges::count_if(text, begins_character));
  };
  std::vector<double> left, width;
  double x = kMargin;
  std::size_t rows = 1;
  for (std::size_t column = 0; column < d.columns.size(); ++column) {
    double widest = 60;
    for (const Box& box : d.columns[column]) {
      widest = std::max(widest, kCharacter * characters(cut(box.label, kLabel)) + 20);
    }
    left.push_back(x);
    width.push_back(widest);
    if (!d.columns[column].empty()) x += widest + kGap;
    rows = std::max(rows, d.columns[column].size());
  }
  const double total_width = std::max(x - kGap + kMargin, 840.0);
  const double total_height = kTop + kRow * static_cast<double>(rows) + kMargin;
  const auto middle = [&](std::size_t column, std::size_t unit) {  // columns are centred
    const double spare = static_cast<double>(rows - d.columns[column].size()) / 2;
    return kTop + kRow * (static_cast<double>(place[column][unit]) + spare + 0.5);
  };
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
      "<text x=\"{2}\" y=\"30\" font-size=\"15\" font-weight=\"bold\" fill=\"#1c2128\">{3}</text>\n",
      total_width, total_height, kMargin, escaped(cut(title, static_cast<std::size_t>(total_width / 9.5)), kXml));
  double legend = kMargin;
  for (int kind = 0; kind < 4; ++kind) {
    static constexpr const char* kText[] = {"from the node itself", "summed over neighbours", "summed over all nodes",
                                            "negative weight"};
    out += fmt::format(
        "<line x1=\"{0:.0f}\" y1=\"52\" x2=\"{1:.0f}\" y2=\"52\" stroke=\"{2}\" stroke-width=\"2\"{3}/>"
        "<text x=\"{4:.0f}\" y=\"56\" fill=\"#444c56\">{5}</text>\n",
        legend, legend + 28, kColour[kind % 3], kind == 3 ? " stroke-dasharray=\"5 4\"" : "", legend + 34, kText[kind]);
    legend += 34 + kCharacter * characters(kText[kind]) + 22;
  }
  for (std::size_t column = d.columns[0].empty() ? 1 : 0; column < d.columns.size(); ++column) {
    const std::string name = column == 0                      ? "inputs"
                             : column + 1 == d.columns.size() ? "head"
                                                              : fmt::format("layer {}", column);
    out += fmt::format("<text x=\"{:.1f}\" y=\"84\" text-anchor=\"middle\" fill=\"#7d8590\">{}</text>\n",
                       left[column] + width[column] / 2, name);
  }
  for (const Weight& w : d.weights) {
    const double x1 = left[w.layer - 1] + width[w.layer - 1], y1 = middle(w.layer - 1, w.from);
    const double x2 = left[w.layer], y2 = middle(w.layer, w.to), bend = (x2 - x1) / 2;
    // Lines of two kinds between the same boxes would hide each other: each kind leaves a little lower.
    const double shift = (static_cast<double>(static_cast<int>(w.kind)) - 1) * 6;
    out += fmt::format(
        "<path d=\"M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}\" fill=\"none\" stroke=\"{}\" "
        "stroke-width=\"1.6\"{}><title>{}{}</title></path>\n",
        x1, y1 + shift, x1 + bend, y1 + shift, x2 - bend, y2 + shift, x2, y2 + shift, kColour[static_cast<int>(w.kind)],
        w.value < 0 ? " stroke-dasharray=\"5 4\"" : "", w.value, kSum[static_cast<int>(w.kind)]);
    if (std::abs(w.value) != 1) {
      out +=
          fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-size=\"10\" fill=\"{}\">{}</text>\n",
                      x1 + bend, (y1 + y2) / 2 + shift - 4, kColour[static_cast<int>(w.kind)], w.value);
    }
  }
  for (std::size_t column = 0; column < d.columns.size(); ++column) {
    for (std::size_t i = 0; i < d.columns[column].size(); ++i) {
      const auto& [label, bias, handed] = d.columns[column][i];
      const double top = middle(column, i) - kBox / 2;
      out += fmt::format(
          "<g><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" rx=\"7\" fill=\"{}\" "
          "stroke=\"{}\" stroke-width=\"1.4\"/>",
          escaped(label, kXml), left[column], top, width[column], kBox,
          handed        ? "#ffffff"
          : column == 0 ? "#eef4fb"
                        : "#f3f1ea",
          handed ? "#c9ced6" : "#444c56");
      const double centre = left[column] + width[column] / 2;
      out +=
          fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" fill=\"{}\">{}</text>", centre,
                      top + (bias == 0 ? 21 : 15), handed ? "#8b939d" : "#1c2128", escaped(cut(label, kLabel), kXml));
      if (bias != 0) {
        out += fmt::format(
            "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-size=\"10\" fill=\"#8a5a00\">"
            "bias {}</text>",
            centre, top + 28, bias);
      }
      out += "</g>\n";
    }
  }
  return out + "</svg>\n";
}

}  // namespace tyche::theory
