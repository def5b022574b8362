#include "graph/tu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/lines.hpp"
#include "graph/whole_set.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace tyche {

namespace {

// The text files of a TUDataset: one line per graph, node or edge, with one number or several between commas.

/// Calls take(row) for every line; blank lines may stand at the end only, so that line i + 1 is entry i.
template <class Take>
void for_each_line(std::string_view bytes, std::string_view file, Take take) {
  Lines lines(bytes, file);
  std::string_view line;
  while (lines.next(line)) {
    Row row(line, lines.here());
    if (row.at_end()) {
      lines.expect_only_blank_lines("a blank line");
      return;
    }
    take(row);
    row.expect_end("the last value");
  }
}

/// Values renumbered 0 … k-1 in ascending order.
template <class Number>
[[nodiscard]] std::vector<Number> renumbered(const std::vector<std::int64_t>& values) {
  std::vector<std::int64_t> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<Number> out;
  out.reserve(values.size());
  for (const std::int64_t value : values) {
    out.push_back(static_cast<Number>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin()));
  }
  return out;
}

/// What a member has one line for each of, and how many there are.
struct Lined {
  const char* each;
  std::size_t count;
};

/// One whole number per line; `what` says what it is.
std::vector<std::int64_t> read_integers(std::string_view bytes, std::string_view file, const char* what) {
  std::vector<std::int64_t> out;
  for_each_line(bytes, file, [&](Row& row) { out.push_back(row.integer(what)); });
  return out;
}

/// Whole numbers between commas, by columns; as many on every line.
std::vector<std::vector<std::int64_t>> read_integer_columns(std::string_view bytes, std::string_view file,
                                                            const char* what) {
  std::vector<std::vector<std::int64_t>> out;
  std::size_t lines = 0;
  for_each_line(bytes, file, [&](Row& row) {
    std::size_t columns = 0;
    do {
      if (columns > 0) row.comma(what);
      if (lines == 0) out.emplace_back();
      const std::int64_t value = row.integer(what);
      if (columns < out.size()) out[columns].push_back(value);
      ++columns;
    } while (!row.at_end());
    ++lines;
    if (columns != out.size()) {
      row.where().fail("expected {} labels as on line 1, found {}", out.size(), columns);
    }
  });
  return out;
}

/// `what` is what a number is: "attribute" or "target".
Table read_table(std::string_view bytes, std::string_view file, std::string_view what) {
  const std::string one = fmt::format("{} {}", what.starts_with('a') ? "an" : "a", what);
  const std::string another = fmt::format("another {}", what);
  Table out;
  for_each_line(bytes, file, [&](Row& row) {
    std::size_t columns = 0;
    for (;;) {
      out.values.push_back(row.real(one.c_str()));
      ++columns;
      if (row.at_end()) break;
      row.comma(another.c_str());
    }
    if (out.columns == 0) out.columns = columns;
    if (columns != out.columns) {
      row.where().fail("expected {} {}s as on line 1, found {}", out.columns, what, columns);
    }
  });
  return out;
}

/// Fails where there are more lines or fewer.
void expect_one_each(std::size_t lines, const Lined& lined, std::string_view file) {
  if (lines == lined.count) return;
  throw InputError::at(file, fmt::format("line {}", std::min(lines, lined.count) + 1),
                       "expected one line per {} ({}), found {}", lined.each, lined.count, lines);
}

/// One whole number or several per line, between commas: the first column renumbered in `first`, the others, each
/// renumbered too, as the columns of the table.
template <class Number>
[[nodiscard]] Table read_categories(std::string_view bytes, std::string_view file, const char* what,
                                    std::vector<Number>& first) {
  const std::vector<std::vector<std::int64_t>> columns = read_integer_columns(bytes, file, what);
  if (!columns.empty()) first = renumbered<Number>(columns[0]);
  Table out{{}, columns.empty() ? 0 : columns.size() - 1};
  out.values.resize(out.columns * first.size());
  for (std::size_t c = 0; c < out.columns; ++c) {
    const std::vector<std::uint32_t> own = renumbered<std::uint32_t>(columns[c + 1]);
    if (*std::ranges::max_element(own) > kMostCategory) {
      throw InputError::at(file, "", "column {} has more than {} different labels", c + 1, kMostCategory);
    }
    for (std::size_t i = 0; i < own.size(); ++i) out.values[i * out.columns + c] = static_cast<float>(own[i]);
  }
  return out;
}

/// The member that says how many graphs there are, and how many it says.
struct GraphCount {
  const char* member;
  std::size_t graphs;
};

/// The graph of every node, and how many graphs there are.
void read_indicator(const TuMembers& members, std::string_view prefix, const std::optional<GraphCount>& count,
                    WholeSet& out) {
  const std::string file = tu_file(prefix, "graph_indicator");
  const auto found = members.find("graph_indicator");
  if (found == members.end()) throw InputError::at(file, "", "is missing; it says which graph every node is in");
  for_each_line(found->second, file, [&](Row& row) {
    const std::uint64_t graph = row.natural("the number of a graph");
    // Without labels and targets nothing but the nodes says how many graphs there are, so each needs one.
    const std::uint64_t most = count ? count->graphs : found->second.size();
    if (graph == 0 || graph > most) {
      row.where().fail("graph {} is out of range: graphs are numbered 1 to {} {}", graph, most,
                       count ? fmt::format("(the lines of the file of {})", count->member) : "at most here");
    }
    if (out.graph_of.size() >= std::numeric_limits<Node>::max() - 1) row.where().fail("more than 2^32 - 2 nodes");
    out.graphs = std::max<std::size_t>(out.graphs, graph);
    out.graph_of.push_back(static_cast<Node>(graph - 1));
  });
  if (count) {
    out.graphs = count->graphs;
  } else {
    std::vector<bool> has_node(out.graphs, false);
    for (const Node graph : out.graph_of) has_node[graph] = true;
    const auto empty = std::find(has_node.begin(), has_node.end(), false);
    if (empty != has_node.end()) {
      throw InputError::at(file, "", "no node is in graph {}", empty - has_node.begin() + 1);
    }
  }
  if (out.graphs == 0) throw InputError::at(file, "", "the data set holds no graphs");
}

/// The lines of DS_A.txt, in the numbering of the whole data set from 0.
void read_lines_of_edges(const TuMembers& members, std::string_view prefix, WholeSet& out) {
  const std::string file = tu_file(prefix, "A");
  const auto found = members.find("A");
  if (found == members.end()) throw InputError::at(file, "", "is missing; it lists the edges");
  const std::uint64_t nodes = out.graph_of.size();
  for_each_line(found->second, file, [&](Row& row) {
    const auto node = [&](const char* what) {
      const std::uint64_t v = row.natural(what);
      if (v == 0 || v > nodes) {
        row.where().fail("node {} is out of range: the data set has {} nodes (1 to {})", v, nodes, nodes);
      }
      return static_cast<Node>(v - 1);
    };
    const Node u = node("a node");
    row.comma("a second node");
    const Node v = node("a second node");
    if (out.graph_of[u] != out.graph_of[v]) {
      row.where().fail("edge ({}, {}) joins graph {} and graph {}", u + 1, v + 1, out.graph_of[u] + 1,
                       out.graph_of[v] + 1);
    }
    out.edges.ends.emplace_back(u, v);
  });
}

}  // namespace

std::string tu_file(std::string_view prefix, std::string_view member) {
  return fmt::format("{}_{}.txt", prefix, member);
}

GraphSet parse_tu(const TuMembers& members, std::string_view prefix, Cleaning* cleaning) {
  GraphSet set;
  const auto member = [&](std::string_view name) {
    const auto found = members.find(name);
    return found == members.end() ? nullptr : &found->second;
  };
  const auto integers = [&](std::string_view name, const char* what) {
    return read_integers(*member(name), tu_file(prefix, name), what);
  };
  const auto attributes_of = [&](std::string_view name, const Lined& lined) {
    if (member(name) == nullptr) return Table{};
    Table table = read_table(*member(name), tu_file(prefix, name), "attribute");
    expect_one_each(table.rows(), lined, tu_file(prefix, name));
    return table;
  };

  std::optional<GraphCount> count;
  if (member("graph_labels") != nullptr) {
    set.labels = renumbered<int>(integers("graph_labels", "the label of a graph"));
    count = {"graph labels", set.labels.size()};
  }
  if (const std::string* const text = member("graph_attributes")) {
    const std::string file = tu_file(prefix, "graph_attributes");
    Table targets = read_table(*text, file, "target");
    if (count) expect_one_each(targets.rows(), {"line of the file of graph labels", count->graphs}, file);
    count = {count ? count->member : "graph attributes", targets.rows()};
    set.targets = std::move(targets.values);
    set.target_dim = targets.columns;
  }
  WholeSet whole;
  read_indicator(members, prefix, count, whole);
  const Lined per_node{"node", whole.graph_of.size()};
  if (member("node_labels") != nullptr) {
    const std::string file = tu_file(prefix, "node_labels");
    whole.attributes = read_categories(*member("node_labels"), file, "the label of a node", whole.types);
    whole.categories = whole.attributes.columns;
    expect_one_each(whole.types.size(), per_node, file);
  }
  whole.attributes.add_columns(attributes_of("node_attributes", per_node));

  read_lines_of_edges(members, prefix, whole);
  ListedEdges& edges = whole.edges;
  const Lined per_edge{"line of the file of edges", edges.ends.size()};
  const std::string labels_file = tu_file(prefix, "edge_labels");
  if (member("edge_labels") != nullptr) {
    edges.attributes = read_categories(*member("edge_labels"), labels_file, "the label of an edge", edges.labels);
    edges.categories = edges.attributes.columns;
    expect_one_each(edges.labels.size(), per_edge, labels_file);
  }
  edges.attributes.add_columns(attributes_of("edge_attributes", per_edge));

  const std::string edges_file = tu_file(prefix, "A");
  const std::string attributes_file = tu_file(prefix, "edge_attributes");
  EdgeListing listing;
  listing.place = [&](std::size_t entry, std::string_view differs) {
    const bool label = differs == "another label";
    return Where{differs.empty() ? edges_file : label ? labels_file : attributes_file, "line", entry + 1};
  };
  listing.name = [](Node v) { return std::to_string(v + 1); };
  take_apart(whole, listing, cleaning, set);
  return set;
}

GraphSet read_tu(const std::filesystem::path& folder, Cleaning* cleaning) {
  constexpr std::string_view kEnd = "_A.txt";
  std::string name;
  for (const std::string& file : list_folder(folder)) {
    if (!file.ends_with(kEnd)) continue;
    const std::string found = file.substr(0, file.size() - kEnd.size());
    if (!name.empty()) {
      throw InputError::at(folder.string(), "", "holds more than one data set: {} and {}", name, found);
    }
    name = found;
  }
  if (name.empty()) {
    throw InputError::at(folder.string(), "", "is no TUDataset folder: there is no file DS_A.txt in it");
  }
  TuMembers members;
  for (const std::string_view member : kTuMembers) {
    const std::filesystem::path file = folder / tu_file(name, member);
    if (std::filesystem::exists(file)) members.emplace(member, read_file(file));
  }
  GraphSet set = parse_tu(members, (folder / name).string(), cleaning);
  set.name = name;
  return set;
}

}  // namespace tyche
