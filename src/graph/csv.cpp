#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/assembly.hpp"
#include "graph/formats.hpp"
#include "graph/lines.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace tyche {

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // which spreadsheets write before the header

/// Takes the field at the front of `rest`, and the comma after it. False where it was the last.
bool take_field(std::string_view& rest, std::string& field, const Where& where) {
  field.clear();
  const auto skip_blanks = [&rest] { rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size())); };
  skip_blanks();
  if (rest.starts_with('"')) {
    for (;;) {
      rest.remove_prefix(1);
      const std::size_t quote = rest.find('"');
      if (quote == std::string_view::npos) where.fail("a quote is opened and not closed on this line");
      field += rest.substr(0, quote);
      rest.remove_prefix(quote + 1);
      if (!rest.starts_with('"')) break;
      field += '"';
    }
    skip_blanks();
    if (!rest.empty() && rest.front() != ',') {
      where.fail("expected a comma after a field in quotes, found {}", shown(rest));
    }
  } else {
    const std::string_view bare = rest.substr(0, rest.find(','));
    field = bare.substr(0, bare.find_last_not_of(" \t") + 1);
    rest.remove_prefix(bare.size());
  }
  if (rest.empty()) return false;
  rest.remove_prefix(1);
  return true;
}

// A CSV file with a header: fields between commas, in double quotes where they hold commas, "" for a quote. A field is
// on one line.
//
//   CsvTable table(bytes, "graphs.csv");
//   while (table.next()) use(table.field(0), table.here());
class CsvTable {
 public:
  /// Reads the header. Fails where there is none, or a name in it is empty or stands twice.
  CsvTable(std::string_view bytes, std::string_view file)
      : lines_(bytes.starts_with(kByteOrderMark) ? bytes.substr(kByteOrderMark.size()) : bytes, file) {
    if (!read_fields(header_)) lines_.here().fail("expected a line of column names, found the end of the file");
    std::vector<std::string> sorted = header_;
    std::sort(sorted.begin(), sorted.end());
    const auto twin = std::adjacent_find(sorted.begin(), sorted.end());
    if (twin != sorted.end()) lines_.here().fail("column {} stands twice", shown(*twin));
    if (sorted.front().empty()) lines_.here().fail("a column has no name");
  }

  [[nodiscard]] const std::string& name(std::size_t column) const { return header_[column]; }
  /// The places of all columns whose names fit, in order.
  template <class Fits>
  [[nodiscard]] std::vector<std::size_t> columns(const Fits& fits) const {
    std::vector<std::size_t> out;
    for (std::size_t c = 0; c < header_.size(); ++c) {
      if (fits(std::string_view(header_[c]))) out.push_back(c);
    }
    return out;
  }
  /// The place of a column.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const {
    const auto found = std::find(header_.begin(), header_.end(), name);
    if (found == header_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - header_.begin());
  }
  /// Likewise; fails at line 1 where there is none, and lists the columns that must be there.
  [[nodiscard]] std::size_t required(std::string_view name, std::string_view all) const {
    const auto found = column(name);
    if (!found) here().fail("expected a header with the columns {}; there is no {}", all, shown(name));
    return *found;
  }

  /// Goes to the next line; false after the last. Fails on a line with more or fewer fields than the header.
  bool next() {
    if (!read_fields(fields_)) return false;
    if (fields_.size() != header_.size()) {
      here().fail("expected {} fields as in the header, found {}", header_.size(), fields_.size());
    }
    return true;
  }
  [[nodiscard]] std::string_view field(std::size_t column) const { return fields_[column]; }
  [[nodiscard]] Where here() const { return lines_.here(); }

  /// The field as a number. Fails with the column's name.
  [[nodiscard]] float real(std::size_t column) const { return number(column, &Row::real); }
  [[nodiscard]] std::int64_t integer(std::size_t column) const { return number(column, &Row::integer); }
  /// At most 2^32 - 1.
  [[nodiscard]] std::uint32_t natural(std::size_t column) const {
    const std::uint64_t value = number(column, &Row::natural);
    if (value > std::numeric_limits<std::uint32_t>::max()) here().fail("{} is too large", value);
    return static_cast<std::uint32_t>(value);
  }

 private:
  bool read_fields(std::vector<std::string>& out) {
    std::string_view line;
    if (!lines_.next(line)) return false;
    if (line.find_first_not_of(" \t") == std::string_view::npos) {
      lines_.expect_only_blank_lines("a blank line");
      return false;
    }
    std::size_t count = 0;
    for (bool more = true; more; ++count) {
      if (out.size() == count) out.emplace_back();
      more = take_field(line, out[count], lines_.here());
    }
    out.resize(count);
    return true;
  }
  template <class Number>
  [[nodiscard]] Number number(std::size_t column, Number (Row::*read)(const char*)) const {
    Row row(fields_[column], here());
    const Number value = (row.*read)(fmt::format("a number in column {}", shown(header_[column])).c_str());
    row.expect_end("the number");
    return value;
  }

  Lines lines_;
  std::vector<std::string> header_, fields_;
};

constexpr const char* kEdgeColumns =
    "source, target (and graph where there are several; then label or weight, edge_target… and attributes, where there "
    "are any)";
constexpr const char* kNodeColumns =
    "node (and graph where there are several; then type, node_label, node_target…, part and attributes, where there "
    "are any)";
constexpr std::string_view kNodeParts[] = {"", "train", "validation", "test"};
constexpr const char* kGraphColumns = "graph, label or target… (or both)";

/// NAME_nodes.csv of NAME.csv.
std::filesystem::path beside(std::filesystem::path edges, const char* end) { return edges.replace_extension() += end; }

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
    const auto place = [this](std::size_t entry) { return Where{edges_file_, "line", entry + 2}; };
    const auto name = [this](Node v) { return shown(names_[v]); };
    take_apart(whole_, {.place = place, .name = name}, cleaning_, set_);
    return std::move(set_);
  }

 private:
  void read_graphs() {
    CsvTable table(*files_.graphs, graphs_file_);
    const std::size_t graph = table.required("graph", kGraphColumns);
    const auto label = table.column("label");
    const std::vector<std::size_t> targets =
        table.columns([](std::string_view name) { return name != "graph" && name != "label"; });
    for (const std::size_t c : targets) {
      if (table.name(c).starts_with("target")) continue;
      table.here().fail("expected a header with the columns {}; found {}", kGraphColumns, shown(table.name(c)));
    }
    set_.target_dim = targets.size();
    while (table.next()) {
      const std::string name(table.field(graph));
      if (!graphs_.emplace(name, graphs_.size()).second) table.here().fail("graph {} stands twice", shown(name));
      if (label) set_.labels.push_back(small(table, *label));
      for (const std::size_t c : targets) set_.targets.push_back(real_or_missing(table, c));
    }
    if (set_.targets.empty()) set_.target_dim = 0;
  }

  void read_nodes() {
    CsvTable table(*files_.nodes, nodes_file_);
    const std::size_t node = table.required("node", kNodeColumns);
    const auto graph = table.column("graph"), type = table.column("type"), label = table.column("node_label"),
               part = table.column("part");
    const Numbers numbers(table, "node_target", {"graph", "node", "type", "node_label", "part"});
    while (table.next()) {
      const std::size_t g = graph_of(table, graph);
      const std::size_t before = names_.size();
      (void)node_of(g, table.field(node), table.here());
      if (names_.size() == before) {
        table.here().fail("node {}{} stands twice", shown(table.field(node)),
                          graph ? fmt::format(" of graph {}", shown(table.field(*graph))) : "");
      }
      if (label) whole_.node_labels.push_back(table.field(*label).empty() ? kNoLabel : small(table, *label));
      if (part) whole_.parts.push_back(part_of(table, *part));
      if (type) whole_.types.push_back(table.natural(*type));
      numbers.add_row(table, whole_.node_targets, whole_.attributes);
    }
    all_nodes_known_ = true;
  }

  void read_edges() {
    CsvTable table(files_.edges, edges_file_);
    const std::size_t source = table.required("source", kEdgeColumns), target = table.required("target", kEdgeColumns);
    const auto graph = table.column("graph"), label = table.column("label");
    const auto weight = label ? std::nullopt : table.column("weight");  // beside labels it is an attribute
    const Numbers numbers(table, "edge_target", {"graph", "source", "target", "label", weight ? "weight" : "label"});
    whole_.edges.weighted = weight.has_value();
    while (table.next()) {
      const std::size_t g = graph_of(table, graph);
      const Node u = node_of(g, table.field(source), table.here());
      const Node v = node_of(g, table.field(target), table.here());
      whole_.edges.ends.emplace_back(u, v);
      if (label) whole_.edges.labels.push_back(table.natural(*label));
      if (weight) whole_.edges.labels.push_back(label_of_weight(table.real(*weight)));
      numbers.add_row(table, whole_.edges.targets, whole_.edges.attributes);
    }
  }

  /// The columns of targets, whose names begin so, and of attributes: all others but the known ones.
  struct Numbers {
    Numbers(const CsvTable& table, std::string_view target, const std::vector<std::string_view>& known)
        : targets(table.columns([&](std::string_view name) { return name.starts_with(target); })),
          attributes(table.columns([&](std::string_view name) {
            return !name.starts_with(target) && std::ranges::find(known, name) == known.end();
          })) {}
    void add_row(const CsvTable& table, Table& to_targets, Table& to_attributes) const {
      for (const std::size_t c : targets) to_targets.values.push_back(real_or_missing(table, c));
      for (const std::size_t c : attributes) to_attributes.values.push_back(table.real(c));
      to_targets.columns = targets.size();
      to_attributes.columns = attributes.size();
    }
    std::vector<std::size_t> targets, attributes;
  };
  static int small(const CsvTable& table, std::size_t column) {
    const std::int64_t value = table.integer(column);
    if (value != static_cast<int>(value) || value == kNoLabel) {
      table.here().fail("label {} does not fit in 32 bits", value);
    }
    return static_cast<int>(value);
  }
  static float real_or_missing(const CsvTable& table, std::size_t column) {
    return table.field(column).empty() ? std::numeric_limits<float>::quiet_NaN() : table.real(column);
  }
  static NodePart part_of(const CsvTable& table, std::size_t column) {
    const auto found = std::find(std::begin(kNodeParts), std::end(kNodeParts), table.field(column));
    if (found == std::end(kNodeParts)) {
      table.here().fail("expected train, validation, test or nothing under 'part', found {}",
                        shown(table.field(column)));
    }
    return static_cast<NodePart>(found - std::begin(kNodeParts));
  }

  /// Of a table without a column of graphs: the one graph there is.
  std::size_t graph_of(const CsvTable& table, const std::optional<std::size_t>& column) {
    const std::string name(column ? table.field(*column) : "0");
    if (name.empty()) table.here().fail("expected the name of a graph, found an empty field");
    const auto found = graphs_.find(name);
    if (found != graphs_.end()) return found->second;
    if (files_.graphs) table.here().fail("graph {} is not among those of {}", shown(name), graphs_file_);
    return graphs_.emplace(name, graphs_.size()).first->second;
  }

  Node node_of(std::size_t graph, std::string_view name, const Where& where) {
    if (name.empty()) where.fail("expected the name of a node, found an empty field");
    const std::string key = fmt::format("{}/{}", graph, name);
    const auto found = nodes_.find(key);
    if (found != nodes_.end()) return found->second;
    if (all_nodes_known_) where.fail("node {} is not among those of {}", shown(name), nodes_file_);
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
