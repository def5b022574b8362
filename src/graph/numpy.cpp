#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "graph/assembly.hpp"
#include "graph/formats.hpp"
#include "support/error.hpp"
#include "support/npy.hpp"

namespace tyche {

// ---- .npy: arrays of graph6 strings

namespace {

/// The type of an entry: how many characters of how many bytes.
struct NpyText {
  std::uint64_t length = 0;
  std::size_t char_bytes = 1;
  bool big_endian = false;
};

NpyText entry_type(const std::string& descr, const Where& where) {
  const char kind = descr.size() < 2 ? '\0' : descr[1];
  if (kind == 'O') {
    where.fail("type {} is pickled Python objects, which are not read; save the array with .astype('S')", shown(descr));
  }
  const std::string_view digits = std::string_view(descr).substr(std::min<std::size_t>(2, descr.size()));
  const bool order_fits = kind == 'S' || (kind == 'U' && (descr[0] == '<' || descr[0] == '>'));
  if (!order_fits || digits.empty() || digits.size() > 9 ||
      digits.find_first_not_of("0123456789") != std::string_view::npos) {
    where.fail("expected an array of strings (type '|S<n>', '<U<n>' or '>U<n>'), found type {}", shown(descr));
  }
  NpyText entry{Row(digits, where).natural("a length"), kind == 'U' ? 4u : 1u, descr[0] == '>'};
  if (entry.length == 0) where.fail("the strings of the array have length 0: no graph fits in them");
  return entry;
}

/// The characters of an entry, without the NULs that pad it and a line end before them.
std::string entry_text(std::string_view bytes, const NpyText& entry, const Where& where) {
  std::string text;
  text.reserve(entry.length);
  for (std::size_t i = 0; i < bytes.size(); i += entry.char_bytes) {
    const std::uint64_t code = npy_number(bytes.substr(i, entry.char_bytes), entry.big_endian);
    if (entry.char_bytes == 4 && code > 127) where.fail("character U+{:04X} does not belong in graph6", code);
    text += static_cast<char>(code);
  }
  text.erase(text.find_last_not_of('\0') + 1);
  text.erase(text.find_last_not_of("\r\n") + 1);
  return text;
}

}  // namespace

GraphSet parse_npy(std::string_view bytes, std::string_view name, Cleaning* cleaning) {
  const auto at = [name](std::uint64_t byte) { return Where{name, "byte", byte}; };
  const NpyHeader header = parse_npy_header(bytes, name);
  const NpyText entry = entry_type(header.descr, at(header.offset));
  if (header.shape.empty() || header.shape.size() > 2) {
    at(header.offset).fail("expected an array of one or two dimensions, found {}", header.shape.size());
  }

  const std::uint64_t data = header.data_offset;
  const std::uint64_t rows = header.shape[0];
  const std::uint64_t columns = header.shape.size() == 2 ? header.shape[1] : 1;
  const std::uint64_t entry_bytes = entry.length * entry.char_bytes;
  const std::uint64_t room = (bytes.size() - data) / entry_bytes;
  // rows * columns may not fit in 64 bits: the division comes first.
  const bool fits = rows == 0 || columns == 0 || (rows <= room && columns <= room / rows);
  const std::uint64_t entries = fits ? rows * columns : 0;
  if (!fits || entries * entry_bytes != bytes.size() - data) {
    at(data).fail("the header promises {} x {} strings of {} bytes, but {} bytes follow it", rows, columns, entry_bytes,
                  bytes.size() - data);
  }

  GraphSet set;
  NodeBudget budget(bytes.size());
  for (std::uint64_t row = 0; row < (columns == 0 ? 0 : rows); ++row) {
    for (std::uint64_t column = 0; column < columns; ++column) {
      const std::uint64_t index = header.fortran_order ? column * rows + row : row * columns + column;
      const Where where = at(data + index * entry_bytes);
      const std::string text = entry_text(bytes.substr(where.number, entry_bytes), entry, where);
      set.graphs.push_back(parse_graph6_line(text, where, budget, cleaning));
    }
  }
  return set;
}

// ---- .npz: arrays of one graph

namespace {

class NpzReader {
 public:
  NpzReader(std::string_view bytes, std::string_view name) : name_(name), members_(read_zip(bytes, name)) {
    constexpr std::string_view kKnown[] = {"edges",       "num_nodes",    "node_features", "node_types",
                                           "node_labels", "node_targets", "edge_targets",  "edge_features",
                                           "edge_labels", "weight",       "train_mask",    "validation_mask",
                                           "val_mask",    "test_mask"};
    for (const auto& member : members_) {
      const bool npy = member.first.ends_with(".npy");
      const std::string word = member.first.substr(0, member.first.size() - (npy ? 4 : 0));
      if (npy && std::ranges::find(kKnown, word) != std::end(kKnown)) continue;
      fail("unknown array '{}'; docs/formats.md lists those that are read", member.first);
    }
  }

  GraphSet read(Cleaning* cleaning) {
    read_edges();
    read_size();
    const std::size_t nodes = whole_.graph_of.size(), edges = whole_.edges.ends.size();
    whole_.graphs = 1;
    whole_.attributes = table("node_features", nodes, "node");
    whole_.node_targets = table("node_targets", nodes, "node");
    whole_.edges.attributes = table("edge_features", edges, "edge");
    whole_.edges.targets = table("edge_targets", edges, "edge");
    whole_.types = wholes<NodeType>("node_types", nodes, "node");
    whole_.edges.labels = wholes<EdgeLabel>("edge_labels", edges, "edge");
    const std::vector<double> weights = column("weight", edges, "edge");
    if (!whole_.edges.labels.empty() && !weights.empty()) fail("edges have edge_labels or weight, not both");
    whole_.edges.weighted = !weights.empty();
    for (std::size_t e = 0; e < weights.size(); ++e) {
      const auto weight = static_cast<float>(weights[e]);
      if (!std::isfinite(weight)) fail("weight, row {} is {}; expected a finite number", e, weights[e]);
      whole_.edges.labels.push_back(label_of_weight(weight));
    }
    const std::vector<double> labels = column("node_labels", nodes, "node");
    for (std::size_t v = 0; v < labels.size(); ++v) {
      const bool missing = std::isnan(labels[v]) || labels[v] < 0;
      whole_.node_labels.push_back(missing ? kNoLabel : static_cast<int>(whole(labels[v], "node_labels", v)));
    }
    const auto place = [this](std::size_t entry) { return Where{name_, "edge", entry}; };
    const auto conflict = [&](std::size_t first, std::size_t second, std::string_view differs) {
      return EdgeListing::Conflict{place(second),
                                   fmt::format("has {} than edge {}, which joins the same nodes", differs, first)};
    };
    GraphSet set;
    const auto name = [](Node v) { return std::to_string(v); };
    take_apart(whole_, {"graph", place, name, conflict}, cleaning, set);
    read_masks(nodes, set);
    return set;
  }

 private:
  template <class... T>
  [[noreturn]] void fail(fmt::format_string<T...> what, T&&... values) const {
    throw InputError::at(name_, "", fmt::format(what, std::forward<T>(values)...));
  }

  const std::string* member(std::string_view array) const {
    const auto found = members_.find(fmt::format("{}.npy", array));
    return found == members_.end() ? nullptr : &found->second;
  }
  NpyNumbers numbers(std::string_view array) const {
    return parse_npy_numbers(*member(array), fmt::format("{}: {}", name_, array));
  }
  double whole(double value, const char* array, std::size_t row) const {
    if (std::floor(value) == value && value >= 0 && value <= std::numeric_limits<int>::max()) return value;
    fail("{}, row {} is {}; expected a whole number from 0 on", array, row, value);
  }
  /// One number per row; nothing where there is no such array.
  std::vector<double> column(std::string_view array, std::size_t rows, const char* each) const {
    if (member(array) == nullptr) return {};
    NpyNumbers read = numbers(array);
    if (read.columns != 1 || read.rows != rows) {
      fail("{} has the shape {} × {}; expected one number per {} ({})", array, read.rows, read.columns, each, rows);
    }
    return std::move(read.values);
  }
  template <class T>
  std::vector<T> wholes(const char* array, std::size_t rows, const char* each) const {
    std::vector<T> out;
    for (const double value : column(array, rows, each)) out.push_back(static_cast<T>(whole(value, array, out.size())));
    return out;
  }
  Table table(std::string_view array, std::size_t rows, const char* each) const {
    Table out;
    if (member(array) == nullptr) return out;
    const NpyNumbers read = numbers(array);
    if (read.rows != rows) fail("{} has {} rows; expected one per {} ({})", array, read.rows, each, rows);
    for (std::size_t i = 0; i < read.values.size(); ++i) {
      const auto value = static_cast<float>(read.values[i]);
      if (std::isfinite(value) || (std::isnan(value) && array.ends_with("targets"))) continue;
      fail("{}, row {} has {}; expected finite numbers", array, i / read.columns, read.values[i]);
    }
    out.columns = rows == 0 ? 0 : read.columns;
    out.values.assign(read.values.begin(), read.values.end());
    return out;
  }

  void read_edges() {
    if (member("edges") == nullptr) fail("has no array 'edges' (m × 2, or 2 × m)");
    const NpyNumbers edges = numbers("edges");
    const bool turned = edges.columns != 2 && edges.rows == 2;
    if (!turned && edges.columns != 2 && !edges.values.empty()) {
      fail("edges has the shape {} × {}; expected m × 2, or 2 × m", edges.rows, edges.columns);
    }
    const std::size_t count = edges.values.size() / 2;
    for (std::size_t e = 0; e < count; ++e) {
      const double u = whole(edges.values[turned ? e : 2 * e], "edges", e);
      const double v = whole(edges.values[turned ? count + e : 2 * e + 1], "edges", e);
      least_ = std::max<std::uint64_t>(least_, static_cast<std::uint64_t>(std::max(u, v)) + 1);
      whole_.edges.ends.emplace_back(static_cast<Node>(u), static_cast<Node>(v));
    }
  }

  /// By num_nodes, or whatever has a row per node; else by the edges.
  void read_size() {
    std::uint64_t nodes = least_;
    if (member("num_nodes") != nullptr) {
      const NpyNumbers read = numbers("num_nodes");
      if (read.values.size() != 1) fail("num_nodes: expected one number");
      nodes = static_cast<std::uint64_t>(whole(read.values[0], "num_nodes", 0));
    } else {
      constexpr const char* kPerNode[] = {"node_features", "node_labels", "node_targets", "node_types"};
      const auto there = std::ranges::find_if(kPerNode, [&](const char* array) { return member(array) != nullptr; });
      if (there != std::end(kPerNode)) nodes = numbers(*there).rows;
    }
    if (least_ > nodes) fail("edges: node {} is out of range: there are {} nodes", least_ - 1, nodes);
    constexpr std::uint64_t kMost = std::uint64_t{1} << 30;
    if (nodes > kMost) fail("{} nodes; expected at most {}", nodes, kMost);
    whole_.graph_of.assign(nodes, 0);
  }

  void read_masks(std::size_t nodes, GraphSet& set) const {
    for (std::size_t part = 0; part < 3; ++part) {
      const std::string_view array = part == 1 && member("val_mask") != nullptr ? "val_mask" : kMaskNames[part];
      if (member(array) == nullptr) continue;
      const NpyNumbers mask = numbers(array);
      if (mask.rows != nodes || (!set.node_parts.empty() && mask.columns != set.node_parts.size())) {
        fail("{} has the shape {} × {}; expected a row per node ({}) and as many columns as other masks", array,
             mask.rows, mask.columns, nodes);
      }
      set.node_parts.resize(mask.columns, std::vector<NodePart>(nodes, NodePart::none));
      for (std::size_t i = 0; i < mask.values.size(); ++i) {
        NodePart& own = set.node_parts[i % mask.columns][i / mask.columns];
        if (mask.values[i] == 0) continue;
        if (own != NodePart::none) fail("{}: node {} is in two masks", array, i / mask.columns);
        own = static_cast<NodePart>(part + 1);
      }
    }
  }

  std::string_view name_;
  std::map<std::string, std::string> members_;
  WholeSet whole_;
  std::uint64_t least_ = 0;  ///< nodes that the edges name
};

}  // namespace

bool is_npz(std::string_view head) {
  if (!head.starts_with("PK\x03\x04") || head.size() < 30) return false;
  return head.substr(30, npy_number(head.substr(26, 2))).ends_with(".npy");
}

GraphSet parse_npz(std::string_view bytes, std::string_view name, Cleaning* cleaning) {
  return NpzReader(bytes, name).read(cleaning);
}

}  // namespace tyche
