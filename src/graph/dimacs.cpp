#include <fmt/format.h>

#include <algorithm>

#include "graph/encoding.hpp"
#include "graph/formats.hpp"
#include "graph/lines.hpp"
#include "logic/cnf.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace tyche {

namespace {

/// Where the header "p cnf …" stands in a text that has one.
Where header_place(std::string_view bytes, std::string_view name) {
  Where where{name, "line", 1};
  Lines lines(bytes, name);
  std::string_view line;
  while (lines.next(line)) {
    const std::size_t start = line.find_first_not_of(" \t");
    if (start == std::string_view::npos || line[start] != 'p') continue;
    where.number = lines.here().number;
    break;
  }
  return where;
}

}  // namespace

Graph parse_dimacs_graph(std::string_view bytes, std::string_view name) {
  const Formula formula = parse_dimacs(bytes, name);
  NodeBudget(bytes.size())
      .spend(2 * std::uint64_t{formula.variables} + formula.disjunctions.size(), header_place(bytes, name));
  try {
    return encode(formula);
  } catch (const InputError& error) {
    throw InputError::at(name, "", error.what());
  }
}

bool has_dimacs_extension(const std::filesystem::path& file) {
  return file.extension() == ".cnf" || file.extension() == ".dimacs";
}

GraphSet read_dimacs_folder(const std::filesystem::path& folder) {
  GraphSet set;
  for (const std::string& name : list_folder(folder)) {
    if (!has_dimacs_extension(name)) continue;
    const std::filesystem::path file = folder / name;
    set.graphs.push_back(parse_dimacs_graph(read_file(file), file.string()));
  }
  if (set.graphs.empty()) throw InputError::at(folder.string(), "", "holds no .cnf or .dimacs files");
  return set;
}

void write_dimacs(const std::filesystem::path& path, const GraphSet& set) {
  std::vector<std::string> texts;
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    try {
      texts.push_back(to_dimacs(decode(set.graphs[g])));
    } catch (const InputError& error) {
      throw InputError::at(path.string(), fmt::format("graph {}", g), error.what());
    }
  }
  if (texts.size() == 1) return write_file(path, texts[0]);

  const std::size_t digits = std::to_string(texts.size() - 1).size();
  std::vector<std::string> names;
  for (std::size_t g = 0; g < texts.size(); ++g) names.push_back(fmt::format("{:0{}}.cnf", g, digits));
  make_folder(path);
  for (const std::string& name : list_folder(path)) {
    if (has_dimacs_extension(name) && !std::binary_search(names.begin(), names.end(), name)) {
      throw InputError::at((path / name).string(), "", "is in the way: it would be read back with the graphs to write");
    }
  }
  for (std::size_t g = 0; g < texts.size(); ++g) write_file(path / names[g], texts[g]);
}

}  // namespace tyche
