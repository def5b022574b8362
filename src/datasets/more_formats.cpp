#include "datasets/more_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "support/error.hpp"

namespace tyche::datasets {

std::vector<Format> parse_written_formats(const std::vector<std::string>& names, const Recipe& recipe) {
  std::vector<Format> out;
  for (const std::string& name : names) {
    out.push_back(parse_format(name));
    constexpr Format kReadOnly[] = {Format::planar_code, Format::npy, Format::npz, Format::graphml, Format::csv};
    if (std::find(std::begin(kReadOnly), std::end(kReadOnly), out.back()) != std::end(kReadOnly)) {
      throw InputError(
          fmt::format("{} can be read but not written: expected gin, tu, graph6, sparse6, dimacs or jsonl", name));
    }
    if (out.back() == Format::dimacs && pairs_of(recipe) == 0) {
      throw InputError(fmt::format("dimacs holds formulas, and the graphs of {} encode none", recipe_name(recipe)));
    }
    if (out.back() == Format::gin && in_lines(recipe)) {
      throw InputError(fmt::format(
          "gin holds neither targets nor labels of nodes: the graphs of {} are in graphs.jsonl", recipe_name(recipe)));
    }
  }
  return out;
}

void write_formats(const std::vector<Format>& formats, const std::filesystem::path& folder) {
  if (formats.empty()) return;
  const GraphSet set = read_graphs(folder);
  for (const Format format : formats) {
    switch (format) {
      case Format::graph6:
        write_graphs(folder / "graphs.g6", set, format);
        break;
      case Format::sparse6:
        write_graphs(folder / "graphs.s6", set, format);
        break;
      case Format::tu:
        write_graphs(folder / "tu", set, format);
        break;
      case Format::dimacs:
        write_graphs(folder / "dimacs", set, format);
        break;
      case Format::jsonl:
        write_graphs(folder / "graphs.jsonl", set, format);
        break;
      case Format::gin:  // graphs.txt itself
        break;
      default:
        throw InputError(fmt::format("{} can be read but not written", format_name(format)));
    }
  }
}

}  // namespace tyche::datasets
