#include "cli/wl_individualise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "support/error.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"
#include "support/words.hpp"
#include "wl/answers.hpp"

namespace tyche::cli {

namespace {

using wl::Survey;

std::string end_of_paths(const wl::PathOptions& options) {
  return options.depth == wl::kLeaf ? "the leaf" : fmt::format("depth {}", options.depth);
}

std::string to_table(std::span<const Graph> graphs, const std::vector<Survey>& surveys,
                     const wl::PathOptions& options) {
  std::string text = fmt::format("{:>6}  {:>7}  {:>11}  {:>8}  {:>11}  {:>13}\n", "graph", "nodes", "depth", "distinct",
                                 "tree leaves", "distinct of it");
  double depth = 0;
  double distinct = 0;
  std::size_t whole = 0;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const Survey& s = surveys[g];
    const std::string range = s.least_depth == s.most_depth ? std::to_string(s.least_depth)
                                                            : fmt::format("{} to {}", s.least_depth, s.most_depth);
    text += fmt::format("{:>6}  {:>7}  {:>11}  {:>8}  {:>11}  {:>13}\n", g, graphs[g].num_nodes(), range, s.distinct,
                        s.tree ? std::to_string(s.tree->leaves) : "-", s.tree ? std::to_string(s.tree->distinct) : "-");
    depth += s.mean_depth;
    distinct += s.distinct;
    whole += s.tree.has_value();
  }
  const double count = static_cast<double>(std::max<std::size_t>(1, graphs.size()));
  return text +
         fmt::format("{}, {} of each to {} ({}): mean depth {:.2f}, {:.1f} distinct on average; {} walked in full\n",
                     counted(graphs.size(), "graph"), counted(options.draws, "draw"), end_of_paths(options),
                     wl::name(options.cell), depth / count, distinct / count, counted(whole, "tree"));
}

}  // namespace

std::string in_words(const wl::LeafComparison& answer, const wl::PathOptions& options) {
  switch (answer.verdict) {
    case wl::LeafVerdict::isomorphic:
      return "isomorphic: they have a leaf in common";
    case wl::LeafVerdict::different:
      return options.depth == wl::kLeaf
                 ? "different: they have no leaf in common"
                 : fmt::format("different: their paths to {} end differently", end_of_paths(options));
    default:
      if (answer.draws == 0)
        return fmt::format("unknown: all paths to {} end alike, and none is a leaf", end_of_paths(options));
      return fmt::format("unknown after {} of each", counted(answer.draws, "draw"));
  }
}

void IndividualiseOptions::add(CLI::App& app, Common& common) {
  CLI::Option* option =
      app.add_option("--individualise", depth,
                     "Instead: random individualisation-refinement paths of this many nodes, or to the "
                     "leaf, where every node has a colour of its own")
          ->type_name("DEPTH|leaf");
  app.add_option("--draws", draws, "--individualise: paths drawn from each graph")
      ->capture_default_str()
      ->check(CLI::Range(1u, 1000000000u))
      ->needs(option);
  app.add_option("--cell", cell,
                 "--individualise: the class a node is taken from: first-largest, first-smallest, first-non-singleton")
      ->capture_default_str()
      ->needs(option);
  common.add(app, kSeed);
  app.get_option("--seed")->needs(option);
}

wl::PathOptions IndividualiseOptions::paths(const Common& common) const {
  wl::PathOptions out;
  out.cell = wl::parse_cell(cell);
  out.draws = draws;
  out.seed = common.seed;
  const std::string text = depth.value_or("leaf");
  if (text == "leaf") return out;
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || number == 0) {
    throw InputError(fmt::format("--individualise '{}': expected at least 1 or leaf", text));
  }
  // No graph has so many nodes: a path ends at its leaf before that.
  out.depth = static_cast<std::uint32_t>(std::min<std::uint64_t>(number, wl::kLeaf));
  return out;
}

void survey_graphs(std::span<const Graph> graphs, const IndividualiseOptions& options, const Common& common) {
  const wl::PathOptions paths = options.paths(common);
  Progress progress("graphs", graphs.size(), common.progress());
  std::vector<Survey> surveys(graphs.size());
  parallel_for(graphs.size(), common.threads, [&](std::size_t g) {
    surveys[g] = wl::survey(graphs[g], static_cast<std::uint32_t>(g), paths);
    progress.add(1);
  });
  progress.finish();
  if (!common.json) return print(to_table(graphs, surveys, paths));
  auto json = nlohmann::json::array();
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    json.emplace_back(wl::to_json(surveys[g], graphs[g].num_nodes()));
    json.back()["graph"] = g;
  }
  print_json(json);
}

}  // namespace tyche::cli
