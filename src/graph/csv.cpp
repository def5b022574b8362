#include "graph/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "graph/csv_table.hpp"
#include "graph/whole_set.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace tyche {

namespace {

constexpr const char* kEdgeColumns = "graph, source, target (then label and attributes, where there are any)";
constexpr const char* kNodeColumns = "graph, node (then type and attributes, where there are any)";
constexpr const char* kGraphColumns = "graph, label or target… (or both)";

/// All columns but these, in order.
std::vector<std::size_t> other_columns(const CsvTable& table, const std::vector<std::string_view>& known) {
  std::vector<std::size_t> out;
  for (std::size_t c = 0; c < table.header().size(); ++c) {
    if (std::find(known.begin(), known.end(), table.header()[c]) == known.end()) out.push_back(c);
  }
  return out;
}

/// NAME_nodes.csv of NAME.csv.
std::filesystem::path beside(const std::filesystem::path& edges, const char* end) {
  std::filesystem::path out = edges;
  out.replace_extension();
  out += end;
  return out;
}

class CsvReader {
 public:
  CsvReader(const CsvFiles& files, const std::filesystem::path& edges, Cleaning* cleaning)
      : files_(files),
        edges_file_(edges.string()),
        nodes_file_(beside(edges, "_nodes.csv").string()),
        graphs_file_(beside(edges, "_graphs.csv").string()),
        cleaning_(cleaning) {}

  GraphSet read() {
    if (files_.graphs) read_graphs();
    if (files_.nodes) read_nodes();
    read_edges();
    whole_.graphs = graphs_.size();
    EdgeListing listing;
    listing.place = [this](std::size_t entry) { return Where{edges_file_, "line", entry + 2}; };
    listing.name = [this](Node v) { return shown(names_[v]); };
    listing.conflict = [this](std::size_t first, std::size_t second) -> std::optional<EdgeListing::Conflict> {
      const char* const differs = difference(whole_, first, second);
      if (differs == nullptr) return std::nullopt;
      return EdgeListing::Conflict{
          {edges_file_, "line", second + 2},
          fmt::format("this edge has {} than on line {}, where it stands too", differs, first + 2)};
    };
    take_apart(whole_, listing, cleaning_, set_);
    return std::move(set_);
  }

 private:
  void read_graphs() {
    CsvTable table(*files_.graphs, graphs_file_);
    const std::size_t graph = table.required("graph", kGraphColumns);
    const auto label = table.column("label");
    const std::vector<std::size_t> targets = other_columns(table, {"graph", "label"});
    for (const std::size_t c : targets) {
      if (table.header()[c].starts_with("target")) continue;
      table.here().fail(
          fmt::format("expected a header with the columns {}; found {}", kGraphColumns, shown(table.header()[c])));
    }
    set_.target_dim = targets.size();
    while (table.next()) {
      const std::string name(table.field(graph));
      if (!graphs_.emplace(name, graphs_.size()).second) {
        table.here().fail(fmt::format("graph {} stands twice", shown(name)));
      }
      if (label) {
        const std::int64_t value = table.integer(*label);
        if (value != static_cast<int>(value)) table.here().fail(fmt::format("label {} does not fit in 32 bits", value));
        set_.labels.push_back(static_cast<int>(value));
      }
      for (const std::size_t c : targets) {
        const bool missing = table.field(c).empty();
        set_.targets.push_back(missing ? std::numeric_limits<float>::quiet_NaN() : table.real(c));
      }
    }
    if (set_.targets.empty()) set_.target_dim = 0;
  }

  void read_nodes() {
    CsvTable table(*files_.nodes, nodes_file_);
    const std::size_t graph = table.required("graph", kNodeColumns), node = table.required("node", kNodeColumns);
    const auto type = table.column("type");
    const std::vector<std::size_t> attributes = other_columns(table, {"graph", "node", "type"});
    while (table.next()) {
      const std::size_t g = graph_of(table.field(graph), table.here());
      const std::size_t before = names_.size();
      (void)node_of(g, table.field(node), table.here());
      if (names_.size() == before) {
        table.here().fail(
            fmt::format("node {} of graph {} stands twice", shown(table.field(node)), shown(table.field(graph))));
      }
      if (type) whole_.types.push_back(table.natural(*type));
      for (const std::size_t c : attributes) whole_.attributes.values.push_back(table.real(c));
    }
    if (!names_.empty()) whole_.attributes.columns = attributes.size();
    all_nodes_known_ = true;
  }

  void read_edges() {
    CsvTable table(files_.edges, edges_file_);
    const std::size_t graph = table.required("graph", kEdgeColumns), source = table.required("source", kEdgeColumns),
                      target = table.required("target", kEdgeColumns);
    const auto label = table.column("label");
    const std::vector<std::size_t> attributes = other_columns(table, {"graph", "source", "target", "label"});
    while (table.next()) {
      const std::size_t g = graph_of(table.field(graph), table.here());
      const Node u = node_of(g, table.field(source), table.here());
      const Node v = node_of(g, table.field(target), table.here());
      whole_.listed.emplace_back(u, v);
      if (label) whole_.labels.push_back(table.natural(*label));
      for (const std::size_t c : attributes) whole_.edge_attributes.values.push_back(table.real(c));
    }
    if (!whole_.listed.empty()) whole_.edge_attributes.columns = attributes.size();
  }

  std::size_t graph_of(std::string_view name, const Where& where) {
    if (name.empty()) where.fail("expected the name of a graph, found an empty field");
    const auto found = graphs_.find(std::string(name));
    if (found != graphs_.end()) return found->second;
    if (files_.graphs) where.fail(fmt::format("graph {} is not among those of {}", shown(name), graphs_file_));
    const std::size_t fresh = graphs_.size();
    graphs_.emplace(name, fresh);
    return fresh;
  }

  Node node_of(std::size_t graph, std::string_view name, const Where& where) {
    if (name.empty()) where.fail("expected the name of a node, found an empty field");
    const std::string key = fmt::format("{}/{}", graph, name);
    const auto found = nodes_.find(key);
    if (found != nodes_.end()) return found->second;
    if (all_nodes_known_) where.fail(fmt::format("node {} is not among those of {}", shown(name), nodes_file_));
    if (names_.size() >= std::numeric_limits<Node>::max() - 1) where.fail("more than 2^32 - 2 nodes");
    const auto fresh = static_cast<Node>(names_.size());
    nodes_.emplace(key, fresh);
    names_.emplace_back(name);
    whole_.graph_of.push_back(static_cast<Node>(graph));
    return fresh;
  }

  const CsvFiles& files_;
  std::string edges_file_, nodes_file_, graphs_file_;
  Cleaning* cleaning_;
  GraphSet set_;
  WholeSet whole_;
  std::unordered_map<std::string, std::size_t> graphs_;
  std::unordered_map<std::string, Node> nodes_;  ///< by the number of their graph and their name
  std::vector<std::string> names_;
  bool all_nodes_known_ = false;
};

}  // namespace

GraphSet parse_csv(const CsvFiles& files, std::string_view name, Cleaning* cleaning) {
  return CsvReader(files, name, cleaning).read();
}

GraphSet read_csv(const std::filesystem::path& path, Cleaning* cleaning) {
  CsvFiles files{.edges = read_file(path)};
  const auto read = [&path](const char* end) -> std::optional<std::string> {
    const std::filesystem::path file = beside(path, end);
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) return std::nullopt;
    return read_file(file);
  };
  files.nodes = read("_nodes.csv");
  files.graphs = read("_graphs.csv");
  return parse_csv(files, path.string(), cleaning);
}

}  // namespace tyche
