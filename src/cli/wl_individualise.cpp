#include "cli/wl_individualise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "support/error.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"
#include "wl/answers.hpp"

namespace tyche::cli {

namespace {

using wl::LeafComparison;
using wl::LeafVerdict;
using wl::Survey;

std::string end_of_paths(const wl::PathOptions& options) {
  return options.depth == wl::kLeaf ? "the leaf" : fmt::format("depth {}", options.depth);
}

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

/// With which graph or pair it is of.
template <class Answer>
nlohmann::json numbered(const char* what, std::size_t index, const Answer& answer) {
  nlohmann::json json(answer);
  json[what] = index;
  return json;
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
                     counted(graphs.size(), "graph", "graphs"), counted(options.draws, "draw", "draws"),
                     end_of_paths(options), wl::name(options.cell), depth / count, distinct / count,
                     counted(whole, "tree", "trees"));
}

std::string in_words(const LeafComparison& answer, const wl::PathOptions& options) {
  switch (answer.verdict) {
    case LeafVerdict::isomorphic:
      return "isomorphic: they have a leaf in common";
    case LeafVerdict::different:
      return options.depth == wl::kLeaf
                 ? "different: they have no leaf in common"
                 : fmt::format("different: their paths to {} end differently", end_of_paths(options));
    default:
      if (answer.draws == 0)
        return fmt::format("unknown: all paths to {} end alike, and none is a leaf", end_of_paths(options));
      return fmt::format("unknown after {} of each", counted(answer.draws, "draw", "draws"));
  }
}

}  // namespace

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
  common.add_seed(app);
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
    json.push_back(numbered("graph", g, wl::to_json(surveys[g], graphs[g].num_nodes())));
  }
  print_json(json);
}

void compare_leaves_of(const Graph& a, const Graph& b, const std::string& names, const IndividualiseOptions& options,
                       const Common& common) {
  const wl::PathOptions paths = options.paths(common);
  const LeafComparison answer = wl::compare_leaves(a, b, paths);
  if (common.json) {
    print_json(nlohmann::json::array({numbered("pair", 0, wl::to_json(answer))}));
  } else {
    print(fmt::format("{}: {}\n", names, in_words(answer, paths)));
  }
  set_exit_code(answer.verdict == LeafVerdict::different ? kGood : kNo);
}

std::string categories_in_words(const std::vector<distinguish::CategoryCount>& counts) {
  std::string text;
  for (const distinguish::CategoryCount& count : counts) {
    text += fmt::format("{}: {} of {} told apart\n", count.name, count.yes, count.pairs);
  }
  return text;
}

void compare_leaves_of_pairs(const distinguish::PairSet& pairs, const IndividualiseOptions& options,
                             const Common& common) {
  const std::vector<Graph> graphs = pairs.set.graphs.all();
  const wl::PathOptions paths = options.paths(common);
  std::vector<LeafComparison> answers(graphs.size() / 2);
  Progress progress("pairs", answers.size(), common.progress());
  parallel_for(answers.size(), common.threads, [&](std::size_t i) {
    const auto first = static_cast<std::uint32_t>(2 * i);
    answers[i] = wl::compare_leaves(graphs[2 * i], graphs[2 * i + 1], paths, first, first + 1);
    progress.add(1);
  });
  progress.finish();
  std::size_t counts[3] = {};
  auto json = nlohmann::json::array();
  std::vector<bool> different;
  std::string text = fmt::format("{:>6}  {}\n", "pair", "verdict");
  for (std::size_t i = 0; i < answers.size(); ++i) {
    ++counts[static_cast<std::size_t>(answers[i].verdict)];
    different.push_back(answers[i].verdict == LeafVerdict::different);
    if (common.json) {
      json.push_back(numbered("pair", i, wl::to_json(answers[i])));
      if (!pairs.categories.empty()) json.back()["name"] = pairs.names[i];
    } else {
      text += fmt::format("{:>6}  {}\n", pairs.names[i], in_words(answers[i], paths));
    }
  }
  const auto of = [&](LeafVerdict verdict) { return counts[static_cast<std::size_t>(verdict)]; };
  if (common.json) {
    print_json(json);
  } else {
    text += categories_in_words(distinguish::count_by_category(pairs, different));
    print(text + fmt::format("{}: {} isomorphic, {} different, {} unknown\n", counted(answers.size(), "pair", "pairs"),
                             of(LeafVerdict::isomorphic), of(LeafVerdict::different), of(LeafVerdict::unknown)));
  }
  set_exit_code(of(LeafVerdict::different) == answers.size() ? kGood : kNo);
}

}  // namespace tyche::cli
