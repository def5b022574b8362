#include "graph/encoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "graph/formats.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace tyche {

Graph encode(const Formula& formula) {
  const std::uint64_t nodes = 2 * std::uint64_t{formula.variables} + formula.disjunctions.size();
  if (nodes >= std::numeric_limits<Node>::max()) throw InputError("a formula graph of {} nodes is too large", nodes);
  std::vector<Edge> edges;
  for (Node v = 0; v < formula.variables; ++v) edges.emplace_back(2 * v, 2 * v + 1);
  for (std::size_t d = 0; d < formula.disjunctions.size(); ++d) {
    const Node node = 2 * formula.variables + static_cast<Node>(d);
    Disjunction sorted = formula.disjunctions[d];
    std::sort(sorted.begin(), sorted.end());
    if (const auto twin = std::adjacent_find(sorted.begin(), sorted.end()); twin != sorted.end()) {
      throw InputError("disjunction {} contains the literal {} twice", d + 1, *twin);
    }
    for (const Literal literal : sorted) {
      const auto variable = static_cast<Node>(literal > 0 ? literal : -literal);
      edges.emplace_back(node, 2 * (variable - 1) + (literal > 0 ? 0 : 1));
    }
  }
  std::vector<NodeType> types(nodes, kDisjunctionType);
  std::fill(types.begin(), types.begin() + std::ptrdiff_t{2} * formula.variables, kLiteralType);
  return Graph::from_edges(static_cast<Node>(nodes), edges, std::move(types));
}

Formula decode(const Graph& graph) {
  Formula formula;
  std::vector<Literal> literal_of(graph.num_nodes(), 0);
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    if (graph.type(v) == kDisjunctionType) continue;
    if (graph.type(v) != kLiteralType) {
      throw InputError("not a formula graph: node {} has type {}; expected 0 (disjunction) or 1 (literal)", v,
                       graph.type(v));
    }
    Node partner = v;
    std::size_t partners = 0;
    for (const Node u : graph.neighbours(v)) {
      if (graph.type(u) == kLiteralType) {
        partner = u;
        ++partners;
      }
    }
    if (partners != 1) {
      throw InputError("not a formula graph: literal node {} has {} literal neighbours; expected 1, its negation", v,
                       partners);
    }
    if (v < partner) {
      ++formula.variables;
      literal_of[v] = static_cast<Literal>(formula.variables);
      literal_of[partner] = -literal_of[v];
    }
  }
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    if (graph.type(v) != kDisjunctionType) continue;
    Disjunction disjunction;
    for (const Node u : graph.neighbours(v)) {
      if (graph.type(u) == kDisjunctionType) {
        throw InputError("not a formula graph: the disjunction nodes {} and {} are adjacent", v, u);
      }
      disjunction.push_back(literal_of[u]);
    }
    formula.disjunctions.push_back(std::move(disjunction));
  }
  return formula;
}

// ---- DIMACS files

Graph parse_dimacs_graph(std::string_view bytes, std::string_view name) {
  const Formula formula = parse_dimacs(bytes, name);
  Lines lines(bytes, name);
  std::string_view line;
  const auto header = [&] {
    return line.substr(std::min(line.find_first_not_of(" \t"), line.size())).starts_with('p');
  };
  while (lines.next(line) && !header()) continue;
  NodeBudget(bytes.size()).spend(2 * std::uint64_t{formula.variables} + formula.disjunctions.size(), lines.here());
  try {
    return encode(formula);
  } catch (const InputError& error) {
    throw InputError::at(name, "", error.what());
  }
}

GraphSet read_dimacs_folder(const std::filesystem::path& folder) {
  GraphSet set;
  for (const std::string& name : list_folder(folder)) {
    if (format_of_extension(name) != Format::dimacs) continue;
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
    if (format_of_extension(name) == Format::dimacs && !std::binary_search(names.begin(), names.end(), name)) {
      throw InputError::at((path / name).string(), "", "is in the way: it would be read back with the graphs to write");
    }
  }
  for (std::size_t g = 0; g < texts.size(); ++g) write_file(path / names[g], texts[g]);
}

}  // namespace tyche
