#include "graph/jsonl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/listed_edges.hpp"

namespace tyche {

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
    ListedEdges settled = settle();
    item.graph = Graph::from_edges(nodes_, settled.ends, types_, settled.labels);
    item.weighted = settled.weighted;
    item.categories = categories_.columns;
    item.edge_categories = settled.categories;
    item.attributes = std::move(categories_);
    item.attributes.add_columns(block("attributes", nodes_, "node"));
    item.edge_attributes = std::move(settled.attributes);
    item.node_targets = block("node_targets", nodes_, "node", true);
    item.edge_targets = std::move(settled.targets);
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
      if (row.size() < 2) {
        where_.fail("expected [u, v] or [u, v, label] for edge {}, found {} numbers", i, row.size());
      }
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
    constexpr std::string_view kMasks[] = {"train_mask", "validation_mask", "test_mask"};
    for (std::size_t part = 0; part < 3; ++part) {
      const JsonValues& mask = object_[kMasks[part]];
      if (mask.shape == Shape::absent) continue;
      if (!mask.is_list() || mask.numbers.size() != nodes_) {
        where_.fail("expected '{}': a list of 0 or 1 for each node ({})", kMasks[part], nodes_);
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
    EdgeListing listing;
    listing.whole = "graph";
    listing.place = [this](std::size_t, std::string_view) { return where_; };
    listing.name = [](Node v) { return std::to_string(v); };
    return settle_edges(edges_, Directions::either, listing, cleaning_);
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

GraphSet read_all(JsonlReader& reader) {
  GraphSetBuilder builder;
  while (auto item = reader.next()) builder.add(std::move(*item), reader.here());
  if (builder.size() == 0) reader.here().fail("expected a graph (a JSON object), found none");
  return builder.finish();
}

}  // namespace

JsonlReader::JsonlReader(const std::filesystem::path& path, Cleaning* cleaning)
    : lines_(path), budget_(std::min(lines_.bytes_left(), kMostBytes)), cleaning_(cleaning) {}

JsonlReader::JsonlReader(std::string_view bytes, std::string_view name, Cleaning* cleaning)
    : lines_(bytes, name), budget_(bytes.size()), cleaning_(cleaning) {}

std::optional<GraphItem> JsonlReader::next() {
  std::string_view line;
  if (!lines_.next(line)) return std::nullopt;
  if (line.find_first_not_of(" \t") == std::string_view::npos) {
    lines_.expect_only_blank_lines("a blank line");
    return std::nullopt;
  }
  object_.parse(line, lines_.here());
  return LineReader(object_, lines_.here(), budget_, cleaning_).read();
}

GraphSet parse_jsonl(std::string_view bytes, std::string_view name, Cleaning* cleaning) {
  JsonlReader reader(bytes, name, cleaning);
  return read_all(reader);
}

GraphSet read_jsonl(const std::filesystem::path& path, Cleaning* cleaning) {
  JsonlReader reader(path, cleaning);
  return read_all(reader);
}

}  // namespace tyche
