#pragma once
/// Pairs of graphs in few bytes, for pages that hold many: the page decodes, draws and refines a pair when somebody
/// looks at it (web/src/packed.ts). A pair of BREC takes 20 to 3,000 bytes, an edge of it 4 bits to 3 bytes.
///
///   pack_pair("str:12", {"first", a}, {"second", b})
///   // {"title": "str:12", "graphs": [{"title": "first", "code": "Bw"}, {"title": "second", "code": "Bg"}]}
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "report/viewer.hpp"

namespace tyche::report {

/// Larger graphs are not drawn: a person sees nothing in them, and the page would be slow.
inline constexpr std::size_t kMaxPackedNodes = 300;

/// {title, code, type, edge_label}: the shorter of graph6 and sparse6, the types of nodes and the labels of edges (in
/// the order of Graph::edges) where they are not all 0.
[[nodiscard]] nlohmann::ordered_json pack_graph(const NamedGraph& named);

/// Whether both graphs have at most kMaxPackedNodes.
[[nodiscard]] bool can_pack(const Graph& a, const Graph& b);

/// {title, graphs}. Throws InputError where a graph is too large.
[[nodiscard]] nlohmann::ordered_json pack_pair(std::string_view title, const NamedGraph& a, const NamedGraph& b);

}  // namespace tyche::report
