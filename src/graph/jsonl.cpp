#include "graph/jsonl.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "support/error.hpp"

namespace tyche {

/// What stands under a key.
struct JsonValues {
  enum class Shape { absent, null, number, list, rows };
  Shape shape = Shape::absent;
  std::vector<double> numbers;    ///< all of them; null within a list is NaN
  std::vector<std::size_t> ends;  ///< of the rows

  /// An empty list is a list without rows, too.
  [[nodiscard]] bool is_rows() const { return shape == Shape::rows || (shape == Shape::list && numbers.empty()); }
  [[nodiscard]] bool is_list() const { return shape == Shape::list; }
  [[nodiscard]] std::span<const double> row(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    return std::span(numbers).subspan(begin, ends[i] - begin);
  }
};

/// A JSON object whose values are numbers, lists of numbers and lists of lists of numbers, without the tree: it takes
/// the parser's events, and numbers go to one array per key, so memory stays a small multiple of the text's and nesting
/// costs nothing.
class JsonNumbers : public nlohmann::json_sax<nlohmann::json> {
 public:
  /// Replaces what was parsed before. Fails at `where` on text that is not JSON, not such an object, or has a key twice
  /// or one not known. Numbers with a fraction or an exponent are taken as 32-bit floats.
  void parse(std::string_view text, const Where& where) {
    for (JsonValues& values : values_) {
      values.shape = JsonValues::Shape::absent;
      values.numbers.clear();  // which keeps their memory
      values.ends.clear();
    }
    where_ = where;
    depth_ = 0;
    skips_ = false;
    nlohmann::json::sax_parse(text.begin(), text.end(), this);
  }
  [[nodiscard]] const JsonValues& operator[](std::string_view key) const { return values_[place_of(key)]; }

  bool null() override {
    if (skips_ || depth_ == 0 || std::ranges::find(kNullable, key_) == std::end(kNullable)) fail("null");
    if (depth_ == 1) {
      into_->shape = JsonValues::Shape::null;
      return true;
    }
    return take(std::numeric_limits<double>::quiet_NaN());
  }
  bool boolean(bool value) override {
    if (!skips_ && depth_ > 0 && key_.ends_with("_mask")) return take(value ? 1 : 0);
    fail("{}", value);
  }
  bool number_integer(number_integer_t value) override { return take(static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override { return take(static_cast<double>(value)); }
  bool number_float(number_float_t, const string_t& token) override {
    if (skips_) return true;
    return take(Row(token, where_).real("a number"));
  }
  bool string(string_t& value) override {
    if (!skips_) fail("the text {}", shown(value));
    return true;
  }
  bool binary(binary_t&) override { fail("bytes"); }

  bool start_object(std::size_t) override {
    if (depth_ > 0) fail("an object");
    depth_ = 1;
    return true;
  }
  bool key(string_t& name) override {
    skips_ = name == "id";
    if (skips_) {
      key_ = "id";
      return true;
    }
    const std::size_t at = place_of(name);
    if (at == std::size(kKeys)) where_.fail("unknown key {}; known are {}", shown(name), fmt::join(kKeys, ", "));
    key_ = kKeys[at];
    into_ = &values_[at];
    if (into_->shape != JsonValues::Shape::absent) where_.fail("key '{}' stands twice", key_);
    return true;
  }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override {
    using Shape = JsonValues::Shape;
    if (depth_ == 0 || skips_) fail("a list");
    if (depth_ == 3) fail("a list in a list in a list");
    if (depth_ == 2 && !into_->is_rows()) fail("a list among numbers");
    into_->shape = depth_ == 1 ? Shape::list : Shape::rows;
    ++depth_;
    return true;
  }
  bool end_array() override {
    if (--depth_ == 2) into_->ends.push_back(into_->numbers.size());
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception& error) override {
    constexpr int kOverflow = 406;
    if (error.id == kOverflow) where_.fail("the number {} is too large", shown(token));
    const char* hint = token.find('N') != std::string::npos || token.ends_with('I')
                           ? "; JSON has no NaN or infinity (a missing target is null)"
                           : "";
    where_.fail("not JSON: cannot go on at character {}, after {}{}", position, shown(token), hint);
  }

 private:
  bool take(double number) {
    if (skips_) return true;
    if (depth_ == 0) fail("a number");
    if (depth_ == 1) into_->shape = JsonValues::Shape::number;
    if (depth_ == 2 && into_->shape == JsonValues::Shape::rows) fail("a number among lists");
    into_->numbers.push_back(number);
    return true;
  }
  template <class... T>
  [[noreturn]] void fail(fmt::format_string<T...> text, T&&... values) const {
    const std::string found = fmt::format(text, std::forward<T>(values)...);
    if (depth_ == 0) where_.fail("expected a JSON object, found {}", found);
    where_.fail("expected {} under '{}', found {}", skips_ ? "a number or text" : "a number or a list of numbers", key_,
                found);
  }

  static constexpr std::string_view kKeys[] = {
      "nodes",        "edges",        "attributes", "edge_attributes", "label",           "target",   "node_labels",
      "node_targets", "edge_targets", "weight",     "train_mask",      "validation_mask", "test_mask"};
  /// Which may be null, or lists with null in them.
  static constexpr std::string_view kNullable[] = {"target", "node_labels", "node_targets", "edge_targets"};
  static std::size_t place_of(std::string_view key) {
    return static_cast<std::size_t>(std::ranges::find(kKeys, key) - std::begin(kKeys));
  }

  std::array<JsonValues, std::size(kKeys)> values_;
  Where where_;
  std::string_view key_;
  JsonValues* into_ = nullptr;
  bool skips_ = false;  ///< a number or text under "id", which is not looked at
  int depth_ = 0;       ///< 1: in the object, 2: in a list, 3: in a row
};

namespace {

/// A file of unknown size (a pipe) is taken for one of this many bytes where sizes are checked against it.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;

/// A whole number from `least` to `most`, or an error at `where`.
double whole(double number, double least, double most, const char* what, const Where& where) {
  if (std::floor(number) != number || number < least || number > most) {
    where.fail("expected {} (a whole number from {} to {}), found {}", what, least, most, number);
  }
  return number;
}

/// The line's graph; made anew for every line.
class LineReader {
 public:
  LineReader(const JsonNumbers& object, const Where& where, NodeBudget& budget, Cleaning* cleaning)
      : object_(object), where_(where), budget_(budget), cleaning_(cleaning) {}

  GraphItem read() {
    GraphItem item;
    read_nodes();
    read_edges();
    read_weights();
    edges_.categories = edges_.attributes.columns;
    const std::size_t listed = edges_.ends.size();
    edges_.attributes.add_columns(block("edge_attributes", listed, "edge"));
    edges_.targets = block("edge_targets", listed, "edge", true);
    item.take(nodes_, settle(), types_);
    item.categories = categories_.columns;
    item.attributes = std::move(categories_);
    item.attributes.add_columns(block("attributes", nodes_, "node"));
    item.node_targets = block("node_targets", nodes_, "node", true);
    read_label(item);
    read_target(item);
    read_node_labels(item);
    read_masks(item);
    return item;
  }

 private:
  using Shape = JsonValues::Shape;

  void read_nodes() {
    const JsonValues& nodes = object_["nodes"];
    constexpr double kMost = static_cast<double>(std::numeric_limits<Node>::max()) - 1;
    if (nodes.shape == Shape::number) {
      const double count = whole(nodes.numbers[0], 0, kMost, "the number of nodes", where_);
      budget_.spend(static_cast<std::uint64_t>(count), where_);
      nodes_ = static_cast<Node>(count);
      return;
    }
    if (nodes.shape == Shape::rows) {
      nodes_ = static_cast<Node>(nodes.ends.size());
      for (Node v = 0; v < nodes_; ++v) {
        const auto row = nodes.row(v);
        if (row.empty() || row.size() != nodes.row(0).size()) {
          where_.fail("node {} has {} categories, node 0 has {}; expected as many for each, at least one", v,
                      row.size(), nodes.row(0).size());
        }
        read_categories(row, types_, categories_, "a node's type", "a node's category");
      }
      return;
    }
    if (!nodes.is_list()) {
      where_.fail(
          "expected 'nodes': a number of nodes, a list of their types, or a list with a list of categories each");
    }
    nodes_ = static_cast<Node>(nodes.numbers.size());
    types_.reserve(nodes_);
    for (const double& type : nodes.numbers) read_categories({&type, 1}, types_, categories_, "a node's type", "");
  }

  /// The first of a row is a type or label, the others go before the attributes.
  template <class T>
  void read_categories(std::span<const double> row, std::vector<T>& first, Table& others, const char* one,
                       const char* other) {
    first.push_back(static_cast<T>(whole(row[0], 0, static_cast<double>(std::numeric_limits<T>::max()), one, where_)));
    others.columns = row.size() - 1;
    for (const double category : row.subspan(1)) {
      others.values.push_back(static_cast<float>(whole(category, 0, kMostCategory, other, where_)));
    }
  }

  void read_edges() {
    const JsonValues& edges = object_["edges"];
    if (!edges.is_rows())
      where_.fail("expected 'edges': a list of edges [u, v], [u, v, label] or [u, v, label, category, …]");
    edges_.ends.reserve(edges.ends.size());
    for (std::size_t i = 0; i < edges.ends.size(); ++i) {
      const auto row = edges.row(i);
      if (row.size() < 2) where_.fail("expected [u, v] or [u, v, label] for edge {}, found {} numbers", i, row.size());
      if (row.size() != edges.row(0).size()) {
        where_.fail("edge {} has {} label{}; edges of one graph have labels all or none, and as many each", i,
                    row.size() == 2   ? "no"
                    : row.size() == 3 ? "a"
                                      : std::to_string(row.size() - 2),
                    row.size() > 3 ? "s" : "");
      }
      for (const double end : row.first(2)) {
        if (std::floor(end) == end && end >= 0 && end < nodes_) continue;
        where_.fail("edge {} joins node {}, but this graph has {} nodes (from 0)", i, end, nodes_);
      }
      edges_.ends.emplace_back(static_cast<Node>(row[0]), static_cast<Node>(row[1]));
      if (row.size() == 2) continue;
      read_categories(row.subspan(2), edges_.labels, edges_.attributes, "an edge's label", "an edge's category");
    }
  }

  /// A weight is a label of its own kind.
  void read_weights() {
    const JsonValues& weights = object_["weight"];
    if (weights.shape == Shape::absent) return;
    if (!weights.is_list() || weights.numbers.size() != edges_.ends.size()) {
      where_.fail("expected 'weight': a list of one number per edge ({})", edges_.ends.size());
    }
    if (!edges_.labels.empty()) {
      where_.fail("edges have weights or labels, not both: give labels as columns of 'edge_attributes'");
    }
    edges_.weighted = !edges_.ends.empty();
    for (std::size_t i = 0; i < edges_.ends.size(); ++i) {
      const auto weight = static_cast<float>(weights.numbers[i]);
      if (!std::isfinite(weight)) where_.fail("the weight of edge {} is no finite number", i);
      edges_.labels.push_back(label_of_weight(weight));
    }
  }

  void read_node_labels(GraphItem& item) {
    const JsonValues& labels = object_["node_labels"];
    if (labels.shape == Shape::absent) return;
    if (!labels.is_list() || labels.numbers.size() != nodes_) {
      where_.fail("expected 'node_labels': a list of one whole number or null per node ({}){}", nodes_,
                  labels.is_list() ? fmt::format(", found {}", labels.numbers.size()) : "");
    }
    item.node_labels.emplace();
    for (const double label : labels.numbers) {
      item.node_labels->push_back(
          std::isnan(label) ? kNoLabel
                            : static_cast<int>(whole(label, std::numeric_limits<int>::min() + 1.0,
                                                     std::numeric_limits<int>::max(), "a node's label", where_)));
    }
  }

  void read_masks(GraphItem& item) {
    for (std::size_t part = 0; part < 3; ++part) {
      const JsonValues& mask = object_[kMaskNames[part]];
      if (mask.shape == Shape::absent) continue;
      if (!mask.is_list() || mask.numbers.size() != nodes_) {
        where_.fail("expected '{}': a list of 0 or 1 for each node ({})", kMaskNames[part], nodes_);
      }
      item.node_parts.resize(nodes_, NodePart::none);
      for (Node v = 0; v < nodes_; ++v) {
        if (whole(mask.numbers[v], 0, 1, "0 or 1 in a mask", where_) == 0) continue;
        if (item.node_parts[v] != NodePart::none) where_.fail("node {} is in two masks", v);
        item.node_parts[v] = static_cast<NodePart>(part + 1);
      }
    }
  }

  ListedEdges settle() {
    const auto conflict = [this](std::size_t first, std::size_t second, std::string_view differs) {
      const auto& [u, v] = edges_.ends[second];
      return EdgeListing::Conflict{where_, fmt::format("edge {} ({}, {}) has {} than edge {}, which joins the same "
                                                       "nodes",
                                                       second, u, v, differs, first)};
    };
    const auto place = [this](std::size_t) { return where_; };
    const auto name = [](Node v) { return std::to_string(v); };
    return settle_edges(edges_, Directions::either, {"graph", place, name, conflict}, cleaning_);
  }

  /// `targets`: a plain list is a column.
  Table block(std::string_view key, std::size_t rows, const char* each, bool targets = false) {
    Table out;
    const JsonValues& values = object_[key];
    if (values.shape == Shape::absent) return out;
    if (targets && values.is_list() && values.numbers.size() == rows) {
      out.columns = 1;
      out.values.assign(values.numbers.begin(), values.numbers.end());
      return out;
    }
    if (!values.is_rows()) where_.fail("expected '{}': a list with a list of numbers per {}", key, each);
    if (values.ends.size() != rows) {
      where_.fail("expected one list per {} ({}) under '{}', found {}", each, rows, key, values.ends.size());
    }
    for (std::size_t i = 0; i < rows; ++i) {
      const std::size_t dim = values.row(i).size();
      if (i == 0) out.columns = dim;
      if (dim != out.columns || dim == 0) {
        where_.fail("expected {} numbers in each list under '{}', found {} in list {}",
                    dim == 0 ? "one or more" : std::to_string(out.columns), key, dim, i);
      }
    }
    out.values.reserve(values.numbers.size());
    for (const double number : values.numbers) out.values.push_back(static_cast<float>(number));
    return out;
  }

  void read_label(GraphItem& item) {
    const JsonValues& label = object_["label"];
    if (label.shape == Shape::absent) return;
    if (label.shape != Shape::number) where_.fail("expected 'label': a whole number");
    item.label = static_cast<int>(whole(label.numbers[0], std::numeric_limits<int>::min(),
                                        std::numeric_limits<int>::max(), "the graph's label", where_));
  }

  void read_target(GraphItem& item) {
    const JsonValues& target = object_["target"];
    if (target.shape == Shape::absent) return;
    if (target.shape == Shape::rows) where_.fail("expected 'target': a number, null, or a list of these");
    if (target.shape == Shape::list && target.numbers.empty()) where_.fail("'target' is an empty list");
    item.target.emplace();
    for (const double number : target.numbers) item.target->push_back(static_cast<float>(number));
  }

  const JsonNumbers& object_;
  Where where_;
  NodeBudget& budget_;
  Cleaning* cleaning_;
  Node nodes_ = 0;
  std::vector<NodeType> types_;
  Table categories_;   ///< beside types_
  ListedEdges edges_;  ///< their categories alone as attributes, at first
};

}  // namespace

JsonlReader::JsonlReader(Lines lines, Cleaning* cleaning)
    : lines_(std::move(lines)),
      object_(std::make_unique<JsonNumbers>()),
      budget_(std::min(lines_.bytes_left(), kMostBytes)),
      cleaning_(cleaning) {}

JsonlReader::~JsonlReader() = default;

std::optional<GraphItem> JsonlReader::next() {
  std::string_view line;
  if (!lines_.next(line)) return std::nullopt;
  if (line.find_first_not_of(" \t") == std::string_view::npos) {
    lines_.expect_only_blank_lines("a blank line");
    return std::nullopt;
  }
  object_->parse(line, lines_.here());
  return LineReader(*object_, lines_.here(), budget_, cleaning_).read();
}

GraphSet read_jsonl(Lines lines, Cleaning* cleaning) {
  JsonlReader reader(std::move(lines), cleaning);
  GraphSetBuilder builder;
  while (auto item = reader.next()) builder.add(std::move(*item), reader.here());
  if (builder.size() == 0) reader.here().fail("expected a graph (a JSON object), found none");
  return builder.finish();
}

GraphSet parse_jsonl(std::string_view bytes, std::string_view name, Cleaning* cleaning) {
  return read_jsonl({bytes, name}, cleaning);
}

// ---- Writing

namespace {

void append_key(std::string& out, std::string_view key) {
  fmt::format_to(std::back_inserter(out), "{}\"{}\": ", out.size() > 1 ? ", " : "", key);
}

/// A list under a key; one(i) appends what stands at place i.
template <class One>
void append_list(std::string& out, std::string_view key, std::size_t count, const One& one) {
  append_key(out, key);
  out += '[';
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out += ", ";
    one(i);
  }
  out += ']';
}

/// Numbers between commas, each the shortest text that is this float again ("-0" would come back as the integer 0). The
/// first of them is number `column` of what errors say; those of `targets` may be missing (NaN).
void append_numbers(std::string& out, std::span<const float> values, const char* what, std::size_t g,
                    bool targets = false, std::size_t column = 0) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float value = values[i];
    if (targets ? std::isinf(value) : !std::isfinite(value)) {
      throw InputError("{} {} of graph {} is {}: JSON holds only finite numbers", what, column + i, g, value);
    }
    if (i > 0) out += ", ";
    if (std::isnan(value)) {
      out += "null";
    } else if (value == 0 && std::signbit(value)) {
      out += "-0.0";
    } else {
      fmt::format_to(std::back_inserter(out), "{}", value);
    }
  }
}

/// Rows of `dim` numbers, without the first `skipped` of each.
void append_rows(std::string& out, const char* key, std::span<const float> block, std::size_t dim, const char* what,
                 std::size_t g, bool targets = false, std::size_t skipped = 0) {
  append_list(out, key, block.size() / dim, [&](std::size_t i) {
    out += '[';
    append_numbers(out, block.subspan(i * dim + skipped, dim - skipped), what, g, targets, skipped);
    out += ']';
  });
}

/// ", 0, 3": the rest of a row of categories.
void append_categories(std::string& out, std::span<const float> block, std::size_t dim, std::size_t categories,
                       std::size_t row) {
  for (std::size_t c = 0; c < categories; ++c) fmt::format_to(std::back_inserter(out), ", {}", block[row * dim + c]);
}

/// The first split; JSON lines hold one.
void append_masks(std::string& out, const GraphSet& set, std::size_t g) {
  if (set.node_parts.empty()) return;
  std::size_t first = 0;
  for (std::size_t before = 0; before < g; ++before) first += set.graphs.num_nodes(before);
  for (std::size_t part = 0; part < std::size(kMaskNames); ++part) {
    append_list(out, kMaskNames[part], set.graphs.num_nodes(g), [&](std::size_t v) {
      out += set.node_parts.front()[first + v] == static_cast<NodePart>(part + 1) ? '1' : '0';
    });
  }
}

}  // namespace

std::string jsonl_line(const GraphSet& set, std::size_t g) {
  const Graph& graph = set.graphs[g];
  std::string out = "{";
  const auto format = [&out]<class... T>(fmt::format_string<T...> text, T&&... values) {
    fmt::format_to(std::back_inserter(out), text, std::forward<T>(values)...);
  };
  if (set.categories > 0) {
    append_list(out, "nodes", graph.num_nodes(), [&](std::size_t v) {
      format("[{}", graph.type(static_cast<Node>(v)));
      append_categories(out, set.attributes[g], set.attribute_dim, set.categories, v);
      out += ']';
    });
  } else if (std::ranges::any_of(graph.types(), [](NodeType type) { return type != 0; })) {
    format("\"nodes\": [{}]", fmt::join(graph.types(), ", "));
  } else {
    format("\"nodes\": {}", graph.num_nodes());
  }
  const std::vector<Edge> edges = graph.edges();
  std::vector<EdgeLabel> labels = graph.labels_of_edges();
  const std::size_t categories = set.weighted ? 0 : set.edge_categories;
  const bool labelled = !set.weighted && (categories > 0 || graph.has_edge_labels());
  labels.resize(edges.size(), 0);
  append_list(out, "edges", edges.size(), [&](std::size_t e) {
    format("[{}, {}", edges[e].first, edges[e].second);
    if (labelled) format(", {}", labels[e]);
    if (categories > 0) append_categories(out, set.edge_attributes[g], set.edge_attribute_dim, categories, e);
    out += ']';
  });
  if (set.weighted) {
    append_list(out, "weight", labels.size(), [&](std::size_t e) {
      const float weight = weight_of(labels[e]);
      append_numbers(out, {&weight, 1}, "weight", g, true);
    });
  }
  if (set.attribute_dim > set.categories) {
    append_rows(out, "attributes", set.attributes[g], set.attribute_dim, "node attribute", g, false, set.categories);
  }
  if (set.edge_attribute_dim > categories) {
    append_rows(out, "edge_attributes", set.edge_attributes[g], set.edge_attribute_dim, "edge attribute", g, false,
                categories);
  }
  if (!set.labels.empty()) format(", \"label\": {}", set.labels[g]);
  if (set.target_dim > 0) {
    append_key(out, "target");
    if (set.target_dim > 1) out += '[';
    append_numbers(out, std::span(set.targets).subspan(g * set.target_dim, set.target_dim), "target", g, true);
    if (set.target_dim > 1) out += ']';
  }
  if (!set.node_labels.empty()) {
    append_list(out, "node_labels", set.node_labels[g].size(), [&](std::size_t v) {
      const int label = set.node_labels[g][v];
      out += label == kNoLabel ? "null" : std::to_string(label);
    });
  }
  if (const std::size_t dim = set.node_target_dim; dim > 0) {
    append_rows(out, "node_targets", set.node_targets[g], dim, "node_targets", g, true);
  }
  if (const std::size_t dim = set.edge_target_dim; dim > 0) {
    append_rows(out, "edge_targets", set.edge_targets[g], dim, "edge_targets", g, true);
  }
  append_masks(out, set, g);
  out += "}\n";
  return out;
}

}  // namespace tyche
