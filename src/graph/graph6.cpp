
#include <bit>
#include <limits>

#include "graph/assembly.hpp"
#include "graph/formats.hpp"
#include "support/error.hpp"

namespace tyche {

namespace {

constexpr char kLowest = 63;    // '?': six zero bits
constexpr char kHighest = 126;  // '~': six one bits, and the mark of a long size

std::uint64_t bits_of(char c) { return static_cast<std::uint64_t>(c - kLowest); }

/// The number of nodes at the front of `text`, which is left with what follows it. One byte below 63; '~' and three
/// bytes for 18 bits; '~~' and six for 36.
std::uint64_t take_size(std::string_view& text, const Where& where) {
  if (text.empty()) where.fail("expected the number of nodes, found the end of the graph");
  std::size_t bytes = 1;
  if (text[0] == kHighest) {
    text.remove_prefix(1);
    bytes = 3;
    if (!text.empty() && text[0] == kHighest) {
      text.remove_prefix(1);
      bytes = 6;
    }
  }
  if (text.size() < bytes) where.fail("the graph ends within its number of nodes");
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < bytes; ++i) size = size << 6 | bits_of(text[i]);
  text.remove_prefix(bytes);
  return size;
}

void append_size(std::string& out, std::uint64_t nodes) {
  int bytes = 1;
  if (nodes > 62) {
    out += kHighest;
    bytes = 3;
  }
  if (nodes > 258047) {
    out += kHighest;
    bytes = 6;
  }
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(kLowest + static_cast<char>(nodes >> (6 * i) & 63));
}

/// The upper triangle of the adjacency matrix, column after column.
Graph parse_dense(std::uint64_t nodes, std::string_view body, const Where& where) {
  const std::uint64_t pairs = nodes < 2 ? 0 : nodes * (nodes - 1) / 2;
  const std::uint64_t wanted = (pairs + 5) / 6;
  if (body.size() != wanted) {
    where.fail("a graph6 graph of {} nodes takes {} bytes after its size, found {}", nodes, wanted, body.size());
  }
  std::size_t set_bits = 0;
  for (const char c : body) set_bits += static_cast<std::size_t>(std::popcount(bits_of(c)));
  std::vector<Edge> edges;
  edges.reserve(set_bits);
  Node row = 0;
  Node column = 1;
  for (const char c : body) {
    const std::uint64_t bits = bits_of(c);
    for (int bit = 5; bit >= 0; --bit) {
      const bool set = (bits >> bit & 1) != 0;
      if (column >= nodes) {
        if (set) where.fail("the padding bits after the last pair of nodes must be 0");
        continue;
      }
      if (set) edges.emplace_back(row, column);
      if (++row == column) {
        row = 0;
        ++column;
      }
    }
  }
  return Graph::from_edges(static_cast<Node>(nodes), edges);
}

unsigned node_bits(std::uint64_t nodes) { return nodes < 2 ? 0 : static_cast<unsigned>(std::bit_width(nodes - 1)); }

/// A current node v and pairs (b, x): b = 1 moves v one on; then x > v makes x the current node, any other x is the
/// edge {x, v}. What is left of the last byte is padding, whose pairs lead past the last node or are incomplete.
Graph parse_sparse(std::uint64_t nodes, std::string_view body, const Where& where, Cleaning* cleaning) {
  const unsigned width = node_bits(nodes);
  std::vector<Edge> edges;
  std::uint64_t at = 0, v = 0;
  const auto take = [&](unsigned count) {  // bits, most significant first, six per byte
    std::uint64_t value = 0;
    for (unsigned i = 0; i < count; ++i, ++at) value = value << 1 | (bits_of(body[at / 6]) >> (5 - at % 6) & 1);
    return value;
  };
  for (std::uint64_t left = 6 * body.size(); left >= 1 + width; left -= 1 + width) {
    const bool may_be_padding = left < 6;
    v += take(1);
    const std::uint64_t x = take(width);
    if (v >= nodes || x >= nodes) {
      if (may_be_padding) break;
      where.fail("a sparse6 edge names node {}, but the graph has {} nodes", std::max(v, x), nodes);
    }
    if (x > v) {
      v = x;
    } else {
      edges.emplace_back(static_cast<Node>(x), static_cast<Node>(v));
    }
  }
  if (cleaning != nullptr) edges = settle_edges({.ends = edges}, Directions::once, {}, cleaning).ends;
  try {
    return Graph::from_edges(static_cast<Node>(nodes), edges);
  } catch (const InputError& error) {
    fail_unclean(where, error.what());
  }
}

}  // namespace

Graph parse_graph6_line(std::string_view line, const Where& where, NodeBudget& budget, Cleaning* cleaning) {
  const bool sparse = !line.empty() && line[0] == ':';
  if (!line.empty() && (line[0] == ';' || line[0] == '&')) {
    where.fail(line[0] == ';' ? "incremental sparse6 (';') is not read; nauty's copyg -s writes plain sparse6"
                              : "digraph6 ('&') is not read: graphs here are undirected");
  }
  std::string_view rest = line.substr(sparse ? 1 : 0);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] < kLowest || rest[i] > kHighest) {
      where.fail("{} at character {} does not belong in {} (characters '?' to '~')", shown(rest.substr(i, 1)),
                 i + (sparse ? 2 : 1), sparse ? "sparse6" : "graph6");
    }
  }
  const std::uint64_t nodes = take_size(rest, where);
  if (nodes >= std::numeric_limits<Node>::max()) where.fail("{} nodes are too many: at most 2^32 - 2", nodes);
  if (sparse) {
    budget.spend(nodes, where);
    return parse_sparse(nodes, rest, where, cleaning);
  }
  return parse_dense(nodes, rest, where);
}

GraphSet parse_graph6(std::string_view bytes, std::string_view name, Cleaning* cleaning) {
  GraphSet set;
  NodeBudget budget(bytes.size());
  Lines lines(bytes, name);
  std::string_view line;
  while (lines.next(line)) {
    if (lines.here().number == 1) {
      for (const std::string_view header : {">>graph6<<", ">>sparse6<<"}) {
        if (line.starts_with(header)) line.remove_prefix(header.size());
      }
      if (line.empty()) continue;
    }
    if (line.empty()) {
      lines.expect_only_blank_lines("an empty line");
      break;
    }
    set.graphs.push_back(parse_graph6_line(line, lines.here(), budget, cleaning));
  }
  return set;
}

std::string to_graph6(const Graph& graph) {
  const std::uint64_t nodes = graph.num_nodes();
  constexpr std::uint64_t kTooMany = 100'000;  // 833 MB
  if (nodes >= kTooMany) {
    throw InputError("graph6 of a graph of {} nodes would take {} bytes; write sparse6", nodes,
                     nodes * (nodes - 1) / 12);
  }
  std::string out;
  append_size(out, nodes);
  const std::size_t start = out.size();
  const std::uint64_t pairs = nodes < 2 ? 0 : nodes * (nodes - 1) / 2;
  out.append((pairs + 5) / 6, kLowest);
  for (std::uint64_t v = 0; v < nodes; ++v) {
    for (const std::uint64_t u : graph.neighbours(static_cast<Node>(v))) {
      if (u >= v) break;
      const std::uint64_t bit = v * (v - 1) / 2 + u;
      char& c = out[start + bit / 6];
      c = static_cast<char>(c + (1 << (5 - bit % 6)));
    }
  }
  return out;
}

std::string to_sparse6(const Graph& graph) {
  const std::uint64_t nodes = graph.num_nodes();
  const unsigned width = node_bits(nodes);
  std::string out = ":";
  append_size(out, nodes);
  unsigned filled = 0;
  char byte = 0;
  const auto put = [&](std::uint64_t value, unsigned count) {
    while (count > 0) {
      byte = static_cast<char>(byte << 1 | static_cast<char>(value >> --count & 1));
      if (++filled == 6) {
        out += static_cast<char>(kLowest + byte);
        filled = 0;
        byte = 0;
      }
    }
  };
  std::uint64_t current = 0;
  for (std::uint64_t v = 1; v < nodes; ++v) {
    for (const std::uint64_t u : graph.neighbours(static_cast<Node>(v))) {
      if (u >= v) break;
      if (v == current) {
        put(0, 1);
      } else {
        put(1, 1);
        if (v > current + 1) {
          put(v, width);
          put(0, 1);
        }
        current = v;
      }
      put(u, width);
    }
  }
  if (filled > 0) {
    // Ones, unless they could be read as a loop at the last node: then one 0 first.
    const unsigned padding = 6 - filled;
    const bool looks_like_a_loop = nodes == std::uint64_t{1} << width && current + 2 == nodes && padding > width;
    if (looks_like_a_loop) put(0, 1);
    while (filled > 0) put(1, 1);
  }
  return out;
}

}  // namespace tyche
