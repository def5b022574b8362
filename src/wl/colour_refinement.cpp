#include "wl/colour_refinement.hpp"

#include "wl/colour_refiner.hpp"

namespace tyche::wl {

Colouring refine(std::span<const Graph> graphs, const RefineOptions& options) {
  std::vector<const Graph*> pointers;
  for (const Graph& graph : graphs) pointers.push_back(&graph);
  ColourRefiner refiner(pointers, options.threads);
  Colouring out;
  out.first.assign(refiner.first().begin(), refiner.first().end());
  if (options.keep_rounds) out.history.push_back(refiner.colours());
  while (refiner.round() < options.max_rounds) {
    if (!refiner.step()) {
      out.stable = true;
      break;
    }
    if (options.keep_rounds) out.history.push_back(refiner.colours());
  }
  out.colours = options.keep_rounds ? out.history.back() : refiner.colours();
  out.classes = refiner.classes();
  out.rounds = refiner.round();
  return out;
}

}  // namespace tyche::wl
