#include "engine/core/drawn_numbers.hpp"

#include <algorithm>
#include <numeric>

#include "wl/colour_refinement.hpp"

namespace tyche::engine {

Classes classes_of(const Graph& graph) {
  const wl::Colouring colouring = wl::refine(std::span(&graph, 1));
  Classes classes(colouring.classes);
  for (Node v = 0; v < graph.num_nodes(); ++v) classes[colouring.colours[v]].push_back(v);
  std::erase_if(classes, [](const std::vector<Node>& members) { return members.size() < 2; });
  return classes;
}

void draw_marks(const Classes& classes, std::uint32_t depth, Key key, std::uint32_t number,
                std::span<std::uint32_t> out) {
  std::fill(out.begin(), out.end(), 0u);
  const wl::Choices choices{key, number};
  std::uint32_t choice = 0;
  std::vector<Node> left;
  for (const std::vector<Node>& members : classes) {
    left = members;
    for (std::uint32_t i = 0; i < std::min<std::size_t>(depth, members.size()); ++i) {
      std::swap(left[i], left[i + choices.below(choice++, static_cast<std::uint32_t>(members.size()) - i)]);
      out[left[i]] = i + 1;
    }
  }
}

void numbers_of(nn::Random random, const wl::Path& path, std::span<std::uint32_t> out) {
  if (random == nn::Random::colours) {
    std::copy(path.ranks.begin(), path.ranks.end(), out.begin());
    return;
  }
  std::fill(out.begin(), out.end(), 0u);
  for (std::uint32_t i = 0; i < path.chosen.size(); ++i) out[path.chosen[i]] = i + 1;
}

void draw_numbers(const nn::ModelConfig& config, const Graph& graph, Key key, std::uint32_t number,
                  std::span<std::uint32_t> out) {
  switch (config.random) {
    case nn::Random::features:
      return;
    case nn::Random::uniform_marks: {
      Classes all(1, std::vector<Node>(graph.num_nodes()));
      std::iota(all[0].begin(), all[0].end(), 0u);
      return draw_marks(all, config.depth, key, number, out);
    }
    case nn::Random::class_marks:
      return draw_marks(classes_of(graph), config.depth, key, number, out);
    case nn::Random::marks:
    case nn::Random::colours:
      return numbers_of(config.random, wl::Individualiser(graph).draw({key, number}, config.depth), out);
  }
}

}  // namespace tyche::engine
