#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "graph/io.hpp"
#include "support/error.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"
#include "wl/set_compare.hpp"
#include "wl/wl.hpp"

namespace tyche::cli {

namespace {

struct Arguments {
  Common common;
  std::string first;
  std::string second;
  std::string format;
  std::vector<std::size_t> index = {0, 0};
  unsigned dim = 1;
  std::string sets;
  std::string two_sets = "edges";
  bool pairs = false;
};

/// "2-WL", or with --sets what is refined.
std::string test_name(const Arguments& a) {
  if (a.sets.empty()) return fmt::format("{}-WL", a.dim);
  if (a.sets == "1-2-3")
    return fmt::format("refinement of nodes, {}, connected 3-sets", a.two_sets == "all" ? "2-sets" : "edges");
  return fmt::format("refinement of {}-sets", a.sets);
}

wl::Comparison compare(const Arguments& a, const Graph& first, const Graph& second, unsigned threads) {
  if (a.sets.empty()) return wl::compare(first, second, {.dim = a.dim, .threads = threads});
  if (a.sets == "1-2-3") {
    const auto pairs = a.two_sets == "all" ? wl::SetChoice::all : wl::SetChoice::connected;
    return wl::compare_sets(first, second, wl::hierarchy(pairs), threads).answer;
  }
  return wl::compare_sets(first, second, {{{a.sets == "2" ? 2u : 3u, wl::SetChoice::all}}, false}, threads).answer;
}

nlohmann::json to_json(std::size_t pair, const wl::Comparison& answer) {
  const auto number = [](const std::optional<std::uint32_t>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json();
  };
  return {{"pair", pair},
          {"distinguished", answer.distinguished},
          {"round", number(answer.round)},
          {"stable_after", number(answer.stable_after)},
          {"classes", answer.classes}};
}

std::string sentence(const std::string& test, const wl::Comparison& answer) {
  const std::string verdict =
      answer.distinguished ? fmt::format("told apart at round {}", answer.round.value_or(0)) : "not told apart";
  return fmt::format("{}: {}; stable after round {}, {} classes", test, verdict, answer.stable_after.value_or(0),
                     answer.classes);
}

/// Graphs 2i and 2i + 1 of one file. Small graphs side by side, one a thread; large ones one after another, each over
/// all threads.
void run_pairs(const Arguments& a, const GraphSet& set) {
  if (set.graphs.size() % 2 != 0) {
    throw InputError::at(a.first, "", fmt::format("{} graphs do not make pairs", set.graphs.size()));
  }
  const std::size_t pairs = set.graphs.size() / 2;
  Node largest = 0;
  for (const Graph& graph : set.graphs) largest = std::max(largest, graph.num_nodes());
  const bool side_by_side = (a.sets.empty() && a.dim == 1) || largest <= 256;
  const unsigned threads = side_by_side ? 1 : a.common.threads;
  std::vector<wl::Comparison> answers(pairs);
  Progress progress("wl", pairs, a.common.progress());
  parallel_for(pairs, side_by_side ? a.common.threads : 1, [&](std::size_t i) {
    if (interrupted()) throw Interrupted("stopped before all pairs were compared");
    answers[i] = compare(a, set.graphs[2 * i], set.graphs[2 * i + 1], threads);
    progress.add(1);
  });
  progress.finish();
  std::size_t apart = 0;
  nlohmann::json list = nlohmann::json::array();
  std::string text;
  for (std::size_t i = 0; i < pairs; ++i) {
    apart += answers[i].distinguished ? 1u : 0u;
    if (a.common.json) {
      list.push_back(to_json(i, answers[i]));
    } else {
      text += fmt::format("pair {}: {}\n", i, sentence(test_name(a), answers[i]));
    }
  }
  if (a.common.json) {
    print_json(list);
  } else {
    print(text + fmt::format("{} of {} pairs told apart by {}\n", apart, pairs, test_name(a)));
  }
  set_exit_code(apart == pairs ? kGood : kNo);
}

void run_two(const Arguments& a, const GraphSet& first, const GraphSet& second) {
  const auto pick = [](const GraphSet& set, const std::string& path, std::size_t index) -> const Graph& {
    if (index >= set.graphs.size()) {
      throw InputError::at(
          path, "",
          fmt::format("holds {} graphs, there is no graph {} (--index counts from 0)", set.graphs.size(), index));
    }
    return set.graphs[index];
  };
  const wl::Comparison answer =
      compare(a, pick(first, a.first, a.index[0]), pick(second, a.second, a.index[1]), a.common.threads);
  if (a.common.json) {
    print_json(nlohmann::json::array({to_json(0, answer)}));
  } else {
    print(sentence(test_name(a), answer) + "\n");
  }
  set_exit_code(answer.distinguished ? kGood : kNo);
}

/// All graphs of one file, refined together: which of them no test of this dimension tells apart.
void run_groups(const Arguments& a, const GraphSet& set) {
  if (!a.sets.empty()) throw InputError("--sets compares graphs in pairs: give --pairs, or two files");
  const wl::Grouping grouping = wl::group(set.graphs, {.dim = a.dim, .threads = a.common.threads});
  if (a.common.json) {
    print_json({{"graphs", set.graphs.size()},
                {"groups", grouping.groups},
                {"group", grouping.group},
                {"stable_after", grouping.stable_after},
                {"classes", grouping.classes}});
  } else {
    print(fmt::format("{} graphs in {} groups that {}-WL tells apart; stable after round {}, {} classes\n",
                      set.graphs.size(), grouping.groups, a.dim, grouping.stable_after, grouping.classes));
  }
  set_exit_code(grouping.groups == set.graphs.size() ? kGood : kNo);
}

void run(const Arguments& a) {
  std::optional<Format> format;
  if (!a.format.empty()) format = parse_format(a.format);
  if (a.pairs && !a.second.empty()) throw InputError("--pairs compares graphs of one file; two files were given");
  const GraphSet set = read_graphs(a.first, format);
  if (a.pairs) return run_pairs(a, set);
  if (a.second.empty()) return run_groups(a, set);
  run_two(a, set, read_graphs(a.second, format));
}

}  // namespace

void add_wl(CLI::App& root) {
  auto a = std::make_shared<Arguments>();
  CLI::App& app = *root.add_subcommand("wl", "Weisfeiler-Leman tests: are graphs told apart, and at which round?");
  app.add_option("first", a->first, "A file of graphs, in any format tyche reads")->required();
  app.add_option("second", a->second, "Another file: its graph is compared with the first one's");
  app.add_flag("--pairs", a->pairs, "Compare graphs 2i and 2i + 1 of one file");
  app.add_option("--dim", a->dim, "1: colour refinement; 2, 3: folklore WL on pairs and triples")
      ->capture_default_str()
      ->check(CLI::Range(1u, 3u));
  app.add_option(
         "--sets", a->sets,
         "Instead: colour refinement on the graphs of 2-sets or 3-sets, or on the hierarchy 1-2-3: what networks "
         "on sets can see at most")
      ->check(CLI::IsMember({"2", "3", "1-2-3"}));
  app.add_option("--two-sets", a->two_sets, "Pairs of nodes in the hierarchy: edges or all")
      ->capture_default_str()
      ->check(CLI::IsMember({"edges", "all"}));
  app.add_option("--index", a->index, "Which graph of each file to compare, from 0")
      ->expected(2)
      ->delimiter(',')
      ->default_str("0,0");
  app.add_option("--format", a->format,
                 "gin, graph6, sparse6, tu, dimacs, planar_code or npy (default: told by content)");
  a->common.add_threads(app);
  a->common.add_json(app);
  a->common.add_quiet(app);
  app.footer(
      "Example: tyche wl exp --pairs --dim 2\n"
      "         tyche wl two_triangles.g6 hexagon.g6 --dim 1\n"
      "         tyche wl exp --pairs --sets 1-2-3 --two-sets edges\n"
      "With one file and no --pairs all its graphs are refined together and grouped.\n"
      "Exit code 0 if all are told apart, 1 if not.");
  app.callback([a] { run(*a); });
}

}  // namespace tyche::cli
