#pragma once
/// What marks and colours are, drawn one graph at a time: the definition that tables and devices are held to.
///
///   std::vector<std::uint32_t> numbers(graph.num_nodes());
///   draw_numbers(config, graph, key, g, numbers);        // one number per node: a mark (0: none), or a colour's rank
///   nn::code_of(config.random, numbers[v], columns);
///
/// Choices are keyed by the pass and the graph's number in the data (wl::Choices). uniform_marks: of the nodes not yet
/// marked, in the order that swapping the chosen one to the front leaves, choice i marks the next. class_marks: the
/// same within every class of several nodes, class after class by rank, choices numbered through.
#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.hpp"
#include "nn/model.hpp"
#include "support/random.hpp"
#include "wl/individualise.hpp"

namespace tyche::engine {

/// The members of every class of several nodes of the stable colouring, nodes ascending, classes by rank.
using Classes = std::vector<std::vector<Node>>;
[[nodiscard]] Classes classes_of(const Graph& graph);

/// Requires a kind with drawn columns and out.size() == graph.num_nodes().
void draw_numbers(const nn::ModelConfig& config, const Graph& graph, Key key, std::uint32_t number,
                  std::span<std::uint32_t> out);

/// The numbers of a path: ranks, or marks of the nodes it chose.
void numbers_of(nn::Random random, const wl::Path& path, std::span<std::uint32_t> out);

/// The two kinds that need no path. `classes`: of class_marks those of the graph, of uniform_marks one of all nodes.
void draw_marks(const Classes& classes, std::uint32_t depth, Key key, std::uint32_t number,
                std::span<std::uint32_t> out);

}  // namespace tyche::engine
