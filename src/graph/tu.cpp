#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <vector>

#include "graph/assembly.hpp"
#include "graph/formats.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/words.hpp"

namespace tyche {

namespace {

// The text files of a TUDataset: one line per graph, node or edge, with one number or several between commas.

constexpr std::string_view kMembers[] = {"A",           "graph_indicator", "graph_labels", "graph_attributes",
                                         "node_labels", "node_attributes", "edge_labels",  "edge_attributes"};

std::string tu_file(std::string_view prefix, std::string_view member) {
  return fmt::format("{}_{}.txt", prefix, member);
}

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

/// Numbers between commas, row after row, as many on every line; how many. For errors: what is one, another, and what
/// are several.
template <class Number>
std::size_t read_rows(std::string_view bytes, std::string_view file, Number (Row::*read)(const char*), const char* one,
                      const char* another, const char* several, std::vector<Number>& out) {
  std::size_t columns = 0;
  for_each_line(bytes, file, [&](Row& row) {
    std::size_t own = 0;
    for (;; row.comma(another)) {
      out.push_back((row.*read)(one));
      ++own;
      if (row.at_end()) break;
    }
    if (columns == 0) columns = own;
    if (own != columns) row.where().fail("expected {} {} as on line 1, found {}", columns, several, own);
  });
  return columns;
}

/// Fails where there are more lines or fewer.
void expect_one_each(std::size_t lines, const Lined& lined, std::string_view file) {
  if (lines == lined.count) return;
  throw InputError::at(file, fmt::format("line {}", std::min(lines, lined.count) + 1),
                       "expected one line per {} ({}), found {}", lined.each, lined.count, lines);
}

/// Whole numbers: the first column renumbered in `first`, the others, each renumbered too, as the columns of the table.
template <class Number>
[[nodiscard]] Table read_categories(std::string_view bytes, std::string_view file, const char* what,
                                    std::vector<Number>& first) {
  std::vector<std::int64_t> values;
  const std::size_t columns = read_rows(bytes, file, &Row::integer, what, what, "labels", values);
  Table out{{}, columns == 0 ? 0 : columns - 1};
  for (std::size_t c = 0; c < columns; ++c) {
    std::vector<std::int64_t> column;
    for (std::size_t i = c; i < values.size(); i += columns) column.push_back(values[i]);
    if (c == 0) {
      first = renumbered<Number>(column);
      out.values.resize(out.columns * first.size());
      continue;
    }
    const std::vector<std::uint32_t> own = renumbered<std::uint32_t>(column);
    if (*std::ranges::max_element(own) > kMostCategory) {
      throw InputError::at(file, "", "column {} has more than {} different labels", c, kMostCategory);
    }
    for (std::size_t i = 0; i < own.size(); ++i) out.values[i * out.columns + c - 1] = static_cast<float>(own[i]);
  }
  return out;
}

class TuReader {
 public:
  TuReader(const TuMembers& members, std::string_view prefix) : members_(members), prefix_(prefix) {}

  GraphSet read(Cleaning* cleaning) {
    read_graphs();
    read_indicator();
    const Lined per_node{"node", whole_.graph_of.size()};
    if (const std::string* const text = member("node_labels")) {
      whole_.attributes = read_categories(*text, file("node_labels"), "the label of a node", whole_.types);
      whole_.categories = whole_.attributes.columns;
      expect_one_each(whole_.types.size(), per_node, file("node_labels"));
    }
    whole_.attributes.add_columns(read_table("node_attributes", "an attribute", "another attribute", per_node));

    read_lines_of_edges();
    ListedEdges& edges = whole_.edges;
    const Lined per_edge{"line of the file of edges", edges.ends.size()};
    if (const std::string* const text = member("edge_labels")) {
      edges.attributes = read_categories(*text, file("edge_labels"), "the label of an edge", edges.labels);
      edges.categories = edges.attributes.columns;
      expect_one_each(edges.labels.size(), per_edge, file("edge_labels"));
    }
    edges.attributes.add_columns(read_table("edge_attributes", "an attribute", "another attribute", per_edge));

    const std::string edges_file = file("A"), labels_file = file("edge_labels"),
                      attributes_file = file("edge_attributes");
    const auto conflict = [&](std::size_t first, std::size_t second, std::string_view differs) {
      const auto& [u, v] = edges.ends[second];
      return EdgeListing::Conflict{
          {differs == "another label" ? labels_file : attributes_file, "line", second + 1},
          fmt::format("edge ({}, {}) has {} than on line {}, where it stands too", u + 1, v + 1, differs, first + 1)};
    };
    const auto place = [&](std::size_t entry) { return Where{edges_file, "line", entry + 1}; };
    const auto name = [](Node v) { return std::to_string(v + 1); };
    take_apart(whole_, {.place = place, .name = name, .conflict = conflict}, cleaning, set_);
    return std::move(set_);
  }

 private:
  [[nodiscard]] std::string file(std::string_view member) const { return tu_file(prefix_, member); }
  [[nodiscard]] const std::string* member(std::string_view name) const {
    const auto found = members_.find(name);
    return found == members_.end() ? nullptr : &found->second;
  }
  /// A member that must be there; `why`: what for.
  [[nodiscard]] const std::string& required(std::string_view name, std::string_view why) const {
    if (const std::string* const text = member(name)) return *text;
    throw InputError::at(file(name), "", "is missing; it {}", why);
  }
  /// Attributes or targets; nothing where there are none.
  [[nodiscard]] Table read_table(std::string_view name, const char* one, const char* another,
                                 const std::optional<Lined>& lined) const {
    Table out;
    const std::string* const text = member(name);
    if (text == nullptr) return out;
    const std::string several = std::string(another).substr(std::string_view("another ").size()) + "s";
    out.columns = read_rows(*text, file(name), &Row::real, one, another, several.c_str(), out.values);
    if (lined) expect_one_each(out.rows(), *lined, file(name));
    return out;
  }

  /// Labels and targets of graphs.
  void read_graphs() {
    if (const std::string* const text = member("graph_labels")) {
      std::vector<std::int64_t> labels;
      for_each_line(*text, file("graph_labels"),
                    [&](Row& row) { labels.push_back(row.integer("the label of a graph")); });
      set_.labels = renumbered<int>(labels);
      count_ = {"graph labels", labels.size()};
    }
    if (member("graph_attributes") == nullptr) return;
    const auto lined = count_ ? std::optional(Lined{"line of the file of graph labels", count_->count}) : std::nullopt;
    Table targets = read_table("graph_attributes", "a target", "another target", lined);
    if (!count_) count_ = {"graph attributes", targets.rows()};
    set_.targets = std::move(targets.values);
    set_.target_dim = targets.columns;
  }

  /// The graph of every node, and how many graphs there are.
  void read_indicator() {
    const std::string name = file("graph_indicator");
    const std::string& text = required("graph_indicator", "says which graph every node is in");
    for_each_line(text, name, [&](Row& row) {
      const std::uint64_t graph = row.natural("the number of a graph");
      // Without labels and targets nothing but the nodes says how many graphs there are, so each needs one.
      const std::uint64_t most = count_ ? count_->count : text.size();
      if (graph == 0 || graph > most) {
        row.where().fail("graph {} is out of range: graphs are numbered 1 to {} {}", graph, most,
                         count_ ? fmt::format("(the lines of the file of {})", count_->each) : "at most here");
      }
      if (whole_.graph_of.size() >= std::numeric_limits<Node>::max() - 1) row.where().fail("more than 2^32 - 2 nodes");
      whole_.graphs = std::max<std::size_t>(whole_.graphs, graph);
      whole_.graph_of.push_back(static_cast<Node>(graph - 1));
    });
    if (count_) {
      whole_.graphs = count_->count;
    } else {
      std::vector<bool> has_node(whole_.graphs, false);
      for (const Node graph : whole_.graph_of) has_node[graph] = true;
      const auto empty = std::find(has_node.begin(), has_node.end(), false);
      if (empty != has_node.end()) {
        throw InputError::at(name, "", "no node is in graph {}", empty - has_node.begin() + 1);
      }
    }
    if (whole_.graphs == 0) throw InputError::at(name, "", "the data set holds no graphs");
  }

  /// The lines of DS_A.txt, in the numbering of the whole data set from 0.
  void read_lines_of_edges() {
    const std::vector<Node>& graph_of = whole_.graph_of;
    for_each_line(required("A", "lists the edges"), file("A"), [&](Row& row) {
      const auto node = [&](const char* what) {
        const std::uint64_t v = row.natural(what), nodes = graph_of.size();
        if (v == 0 || v > nodes) {
          row.where().fail("node {} is out of range: the data set has {} nodes (1 to {})", v, nodes, nodes);
        }
        return static_cast<Node>(v - 1);
      };
      const Node u = node("a node");
      row.comma("a second node");
      const Node v = node("a second node");
      if (graph_of[u] != graph_of[v]) {
        row.where().fail("edge ({}, {}) joins graph {} and graph {}", u + 1, v + 1, graph_of[u] + 1, graph_of[v] + 1);
      }
      whole_.edges.ends.emplace_back(u, v);
    });
  }

  const TuMembers& members_;
  std::string_view prefix_;
  GraphSet set_;
  WholeSet whole_;
  std::optional<Lined> count_;  ///< what says how many graphs there are, and how many it says
};

}  // namespace

GraphSet parse_tu(const TuMembers& members, std::string_view prefix, Cleaning* cleaning) {
  return TuReader(members, prefix).read(cleaning);
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
  for (const std::string_view member : kMembers) {
    const std::filesystem::path file = folder / tu_file(name, member);
    if (std::filesystem::exists(file)) members.emplace(member, read_file(file));
  }
  GraphSet set = parse_tu(members, (folder / name).string(), cleaning);
  set.name = name;
  return set;
}

// ---- Writing

namespace {

/// One line of numbers between commas. `what` and `graph` say in errors what they are.
void append_row(std::string& text, std::span<const float> values, const char* what, std::size_t graph) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      throw InputError("{} {} of graph {} is {}: a TUDataset holds only finite numbers", what, i, graph, values[i]);
    }
    fmt::format_to(std::back_inserter(text), "{}{}", values[i], i + 1 == values.size() ? "\n" : ", ");
  }
}

/// What is written of nodes, or of arcs.
struct TuLines {
  const char* attribute;  ///< what errors call one
  bool labelled;
  const Ragged<float>& blocks;
  std::size_t dim, categories;
  std::string labels{}, attributes{};

  void add(std::uint32_t label, std::size_t g, std::size_t row) {
    const auto values = dim == 0 ? std::span<const float>() : blocks[g].subspan(row * dim, dim);
    if (labelled) {
      fmt::format_to(std::back_inserter(labels), "{}{}{}\n", label, categories > 0 ? ", " : "",
                     fmt::join(values.first(categories), ", "));
    }
    if (dim > categories) append_row(attributes, values.subspan(categories), attribute, g);
  }
};

}  // namespace

TuMembers tu_members(const GraphSet& set) {
  const GraphsSummary all = set.graphs.summary();
  const bool typed = !all.types.empty() && *all.types.rbegin() > 0;
  TuLines nodes{"node attribute", typed || set.categories > 0, set.attributes, set.attribute_dim, set.categories};
  TuLines arcs{"edge attribute", all.labelled || set.edge_categories > 0, set.edge_attributes, set.edge_attribute_dim,
               set.edge_categories};
  std::string edges, indicator, labels, targets;
  std::uint64_t before = 0;  // nodes of the graphs before
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    const Graph& graph = set.graphs[g];
    if (set.labels.empty() && set.targets.empty() && graph.num_nodes() == 0) {
      throw InputError("graph {} has no nodes: a TUDataset without graph labels cannot hold it", g);
    }
    for (Node v = 0; v < graph.num_nodes(); ++v) {
      fmt::format_to(std::back_inserter(indicator), "{}\n", g + 1);
      nodes.add(graph.type(v), g, v);
      for (const Node u : graph.neighbours(v)) {
        fmt::format_to(std::back_inserter(edges), "{}, {}\n", before + v + 1, before + u + 1);
      }
    }
    const std::vector<std::uint64_t> edge_of = graph.edges_of_arcs();
    for (std::size_t arc = 0; arc < edge_of.size(); ++arc) arcs.add(graph.edge_label(arc), g, edge_of[arc]);
    append_row(targets, std::span(set.targets).subspan(g * set.target_dim, set.target_dim), "target", g);
    before += graph.num_nodes();
  }
  if (before >= std::numeric_limits<Node>::max()) throw InputError("{} nodes are too many for a set", before);
  for (const int label : set.labels) fmt::format_to(std::back_inserter(labels), "{}\n", label);
  TuMembers out{{"A", std::move(edges)}, {"graph_indicator", std::move(indicator)}};
  const auto put = [&out](const char* member, std::string& text) {
    if (!text.empty()) out.emplace(member, std::move(text));
  };
  put("graph_labels", labels);
  put("graph_attributes", targets);
  put("node_labels", nodes.labels);
  put("node_attributes", nodes.attributes);
  put("edge_labels", arcs.labels);
  put("edge_attributes", arcs.attributes);
  return out;
}

void write_tu(const std::filesystem::path& folder, const GraphSet& set) {
  const std::string name = set.name.empty() ? folder.filename().string() : set.name;
  if (name.empty() || name.find('/') != std::string::npos) {
    throw InputError("a TUDataset needs a name that can start a file's name, not {}", shown(name));
  }
  const TuMembers members = tu_members(set);
  make_folder(folder);
  for (const std::string_view member : kMembers) {
    const std::filesystem::path file = folder / tu_file(name, member);
    const auto found = members.find(member);
    if (found != members.end()) {
      write_file(file, found->second);
    } else {
      // A member of an earlier data set of this name would be read as part of this one.
      std::error_code ignored;
      std::filesystem::remove(file, ignored);
    }
  }
}

}  // namespace tyche
