// tyche wl: does the Weisfeiler-Leman test tell graphs apart?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/wl_individualise.hpp"
#include "distinguish/pairs.hpp"
#include "graph/folding.hpp"
#include "graph/named.hpp"
#include "report/pair_page.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"
#include "wl/answers.hpp"
#include "wl/set_compare.hpp"
#include "wl/wl.hpp"

namespace tyche::cli {

namespace wl_command {

struct WlCall {
  Common common;
  std::vector<std::string> files;
  std::vector<std::size_t> index;
  unsigned dim = 1;
  bool pairs = false;
  bool clean = false;
  std::string format;
  std::string sets;
  std::string two_sets = "edges";
  std::string space;
  std::optional<std::uint32_t> distance_cut;
  std::string page;
  IndividualiseOptions individualise;
};

/// "2-WL", or with --sets what is refined.
std::string test_name(const WlCall& a) {
  if (a.space == "folklore") return "2-WL";
  if (!a.space.empty()) return a.space == "rooted" ? "refinement of rooted pairs" : "local refinement of pairs";
  if (a.sets.empty()) return fmt::format("{}-WL", a.dim);
  if (a.sets == "1-2-3") {
    return fmt::format("refinement of nodes, {}, connected 3-sets", a.two_sets == "all" ? "2-sets" : "edges");
  }
  return fmt::format("refinement of {}-sets", a.sets);
}

/// What classes are classes of.
std::string unit_name(const WlCall& a) {
  if (!a.sets.empty()) return "sets";
  if (!a.space.empty()) return "pairs";
  return a.dim == 1 ? "nodes" : fmt::format("{}-tuples", a.dim);
}

/// The test of --sets.
wl::Comparison compare_sets(const WlCall& a, const Graph& first, const Graph& second, unsigned threads) {
  if (a.sets == "1-2-3") {
    const auto pairs = a.two_sets == "all" ? wl::SetChoice::all : wl::SetChoice::connected;
    return wl::compare_sets(first, second, wl::hierarchy(pairs), threads).answer;
  }
  return wl::compare_sets(first, second, {{{a.sets == "2" ? 2u : 3u, wl::SetChoice::all}}, false}, threads).answer;
}

GraphSet read(const WlCall& a, const std::string& path) {
  return read_cleanly(a.clean, path, [&](Cleaning* cleaning) {
    return read_graphs_of(parse_graph_name(path), format_of(a.format), cleaning);
  });
}

Graph pick(const GraphSet& set, const std::string& path, std::size_t index) {
  if (index < set.graphs.size()) return set.graphs[index];
  const std::string range = set.graphs.empty() ? "" : fmt::format(" (0 to {})", set.graphs.size() - 1);
  throw InputError::at(path, "",
                       fmt::format("holds {} graphs{}; graph {} was asked for", set.graphs.size(), range, index));
}

std::string counted(std::uint64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : (std::string_view(noun) == "class" ? "es" : "s"));
}

/// What a test says of two graphs.
struct Verdict {
  nlohmann::json json;
  std::string words;
  std::string row;  ///< of a table of pairs
  bool apart = false;
  wl::LeafVerdict leaf{};  ///< of paths
};

Verdict said(const wl::Comparison& answer, const WlCall& a) {
  const std::string verdict = answer.distinguished
                                  ? fmt::format("told apart by {}, first at round {}", test_name(a), *answer.round)
                                  : fmt::format("not told apart by {}", test_name(a));
  return {wl::to_json(answer),
          verdict + fmt::format("; stable after {}, with {} of {}", counted(*answer.stable_after, "round"),
                                counted(answer.classes, "class"), unit_name(a)),
          fmt::format("{:>10}  {:>5}  {:>12}  {:>8}", answer.distinguished ? "yes" : "no",
                      answer.round ? std::to_string(*answer.round) : "-", *answer.stable_after, answer.classes),
          answer.distinguished};
}

Verdict said(const wl::LeafComparison& answer, const wl::PathOptions& paths) {
  const std::string words = in_words(answer, paths);
  return {wl::to_json(answer), words, words, answer.verdict == wl::LeafVerdict::different, answer.verdict};
}

/// Graphs `i` and `j` of those that paths are drawn for, on so many threads.
Verdict judged(const WlCall& a, wl::Options options, const Graph& first, const Graph& second, unsigned threads,
               std::uint32_t i = 0, std::uint32_t j = 1) {
  if (a.individualise.asked()) {
    const wl::PathOptions paths = a.individualise.paths(a.common);
    return said(wl::compare_leaves(first, second, paths, i, j), paths);
  }
  options.threads = threads;
  return said(a.sets.empty() ? wl::compare(first, second, options) : compare_sets(a, first, second, threads), a);
}

std::string to_table(const std::vector<Verdict>& verdicts, const distinguish::PairSet& pairs, const WlCall& a) {
  const bool leaves = a.individualise.asked();
  std::string text = leaves ? fmt::format("{:>6}  {}\n", "pair", "verdict")
                            : fmt::format("{:>6}  {:>10}  {:>5}  {:>12}  {:>8}\n", "pair", "told apart", "round",
                                          "stable after", "classes");
  std::size_t apart = 0;
  std::vector<bool> told;
  std::map<wl::LeafVerdict, std::size_t> of;
  for (std::size_t pair = 0; pair < verdicts.size(); ++pair) {
    apart += verdicts[pair].apart;
    told.push_back(verdicts[pair].apart);
    ++of[verdicts[pair].leaf];
    text += fmt::format("{:>6}  {}\n", pairs.names[pair], verdicts[pair].row);
  }
  for (const distinguish::CategoryCount& count : distinguish::count_by_category(pairs, told)) {
    text += fmt::format("{}: {} of {} told apart\n", count.name, count.yes, count.pairs);
  }
  const std::string all = counted(verdicts.size(), "pair");
  if (!leaves) return text + fmt::format("{} of {} told apart by {}\n", apart, all, test_name(a));
  return text + fmt::format("{}: {} isomorphic, {} different, {} unknown\n", all, of[wl::LeafVerdict::isomorphic],
                            of[wl::LeafVerdict::different], of[wl::LeafVerdict::unknown]);
}

std::string in_words(const wl::Grouping& grouping, const WlCall& a) {
  std::string text =
      fmt::format("{} fall into {} under {}; stable after {}, with {} over all\n",
                  counted(grouping.group.size(), "graph"), counted(grouping.groups, "group"), test_name(a),
                  counted(grouping.stable_after, "round"), counted(grouping.classes, "class"));
  std::vector<std::vector<std::size_t>> members(grouping.groups);
  for (std::size_t g = 0; g < grouping.group.size(); ++g) members[grouping.group[g]].push_back(g);
  constexpr std::size_t kShown = 20;
  std::size_t shared = 0;
  for (const auto& group : members) {
    if (group.size() > 1 && ++shared <= kShown)
      text += fmt::format("not told apart: graphs {}\n", fmt::join(group, ", "));
  }
  if (shared > kShown) text += fmt::format("... and {} more; --json lists all\n", counted(shared - kShown, "group"));
  return text;
}

void compare_two(const WlCall& a, const wl::Options& options) {
  const std::string& first = a.files.front();
  const std::string& second = a.files.back();
  const GraphName left_name = parse_graph_name(first), right_name = parse_graph_name(second);
  if (!a.index.empty() && (left_name.one_graph() || right_name.one_graph())) {
    throw InputError("--index picks graphs of whole files: leave it out where a graph is named g6:CODE or FILE:I");
  }
  GraphSet one = read(a, first), other = a.files.size() == 2 ? read(a, second) : one;
  fold_categories(std::array{&one, &other});
  const std::size_t i = a.index.empty() ? 0 : a.index[0];
  const std::size_t j = a.index.empty() ? 0 : a.index[1];
  const Graph left = pick(one, first, i);
  const Graph right = pick(other, second, j);
  if (a.index.empty() && one.graphs.size() + other.graphs.size() > 2 && !a.common.quiet) {
    std::fprintf(stderr,
                 "tyche: comparing the first graphs of files with several; FILE:I or --index I,J picks others\n");
  }
  const std::string left_words = left_name.in_words(i), right_words = right_name.in_words(j);
  const std::string names = fmt::format("{} and {}", left_words, right_words);
  std::string page;
  if (!a.page.empty()) page = report::pair_page({left_words, left}, {right_words, right}, called());
  const auto write_page = [&] {
    if (a.page.empty()) return;
    write_file(a.page, page);
    if (!a.common.quiet && !a.common.json)
      print(fmt::format("{} ({:.1f} kB)\n", a.page, static_cast<double>(page.size()) / 1000));
  };
  Verdict verdict = judged(a, options, left, right, a.common.threads);
  verdict.json["pair"] = 0;
  a.common.json ? print_json(nlohmann::json::array({verdict.json}))
                : print(fmt::format("{}: {}\n", names, verdict.words));
  write_page();
  set_exit_code(verdict.apart ? kGood : kNo);
}

/// Graphs 2i and 2i + 1 of a file, or BREC's.
distinguish::PairSet read_pairs(const WlCall& a) {
  const std::string& path = a.files.front();
  if (a.format.empty() && distinguish::is_brec(path)) {
    return read_cleanly(a.clean, path,
                        [&](Cleaning* cleaning) { return distinguish::load_pairs(path, std::nullopt, {}, cleaning); });
  }
  distinguish::PairSet pairs;
  pairs.set = read(a, path);
  fold_categories(std::array{&pairs.set});
  if (pairs.set.graphs.size() % 2 != 0) {
    throw InputError::at(path, "",
                         fmt::format("holds {} graphs; --pairs wants an even number", pairs.set.graphs.size()));
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs.names.push_back(std::to_string(i));
  return pairs;
}

void compare_pairs(const WlCall& a, const wl::Options& options) {
  const distinguish::PairSet pairs = read_pairs(a);
  const std::vector<Graph> graphs = pairs.set.graphs.all();
  Progress progress("pairs", pairs.size(), a.common.progress());
  std::vector<Verdict> verdicts(pairs.size());
  if (a.sets.empty() && !a.individualise.asked()) {
    const std::vector<wl::Comparison> answers = wl::compare_pairs(graphs, options, &progress);
    for (std::size_t i = 0; i < answers.size(); ++i) verdicts[i] = said(answers[i], a);
  } else {
    parallel_for(verdicts.size(), a.common.threads, [&](std::size_t i) {
      if (interrupted()) throw Interrupted("stopped before all pairs were compared");
      const auto first = static_cast<std::uint32_t>(2 * i);
      verdicts[i] = judged(a, options, graphs[2 * i], graphs[2 * i + 1], 1, first, first + 1);
      progress.add(1);
    });
  }
  progress.finish();
  if (a.common.json) {
    auto json = nlohmann::json::array();
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      json.push_back(verdicts[i].json);
      json.back()["pair"] = i;
      if (!pairs.categories.empty()) json.back()["name"] = pairs.names[i];
    }
    print_json(json);
  } else {
    print(to_table(verdicts, pairs, a));
  }
  set_exit_code(std::ranges::all_of(verdicts, &Verdict::apart) ? kGood : kNo);
}

void group_all(const WlCall& a, const wl::Options& options) {
  if (!a.sets.empty()) throw InputError("--sets compares graphs in pairs: give --pairs, or two files");
  GraphSet set = read(a, a.files.front());
  fold_categories(std::array{&set});
  const std::vector<Graph> graphs = set.graphs.all();
  if (a.individualise.asked()) return survey_graphs(graphs, a.individualise, a.common);
  const wl::Grouping grouping = wl::group(graphs, options);
  a.common.json ? print_json({{"graphs", graphs.size()},
                              {"groups", grouping.groups},
                              {"group", grouping.group},
                              {"stable_after", grouping.stable_after},
                              {"classes", grouping.classes}})
                : print(in_words(grouping, a));
  set_exit_code(grouping.groups == set.graphs.size() ? kGood : kNo);
}

void run(const WlCall& a) {
  wl::Options options{.dim = a.dim};
  if (!a.space.empty()) options = wl::space_test(a.space, a.distance_cut);
  options.threads = a.common.threads;
  if (!a.page.empty() && (a.pairs || (a.files.size() == 1 && a.index.empty()))) {
    throw InputError("--page shows two graphs: name both, as in tyche wl exp:0 exp:1 --page out.html");
  }
  if (a.pairs) {
    if (a.files.size() != 1 || !a.index.empty()) {
      throw InputError("--pairs compares graphs 2i and 2i + 1 of one file: leave out the second file and --index");
    }
    compare_pairs(a, options);
  } else if (a.files.size() == 2 || !a.index.empty()) {
    compare_two(a, options);
  } else {
    group_all(a, options);
  }
}

}  // namespace wl_command

void add_wl(CLI::App& root) {
  using namespace wl_command;
  const auto [app, a] = add_command<WlCall>(root, "wl", "Does the Weisfeiler-Leman test tell graphs apart?", run);
  app.add_option("graphs", a->files,
                 "Two graphs, each g6:CODE, FILE:I (graph I, from 0) or FILE (its first graph, or --index); or one "
                 "FILE of many")
      ->required()
      ->expected(1, 2)
      ->type_name("GRAPH");
  app.add_option("--dim", a->dim, "1: colour refinement; 2, 3: the folklore test on pairs, triples of nodes")
      ->capture_default_str()
      ->check(CLI::Range(1u, 3u));
  app.add_flag("--pairs", a->pairs,
               "Compare graphs 2i and 2i + 1 of the file, for all i (or a folder of BREC's files)");
  app.add_option("--index", a->index, "Compare graph I of the first file and graph J of the second (or of the same)")
      ->delimiter(',')
      ->expected(2)
      ->type_name("I,J");
  app.add_option(
         "--sets", a->sets,
         "Instead: colour refinement on the graphs of 2-sets or 3-sets, or on the hierarchy 1-2-3: what networks "
         "on sets can see at most")
      ->check(CLI::IsMember({"2", "3", "1-2-3"}));
  app.add_option("--two-sets", a->two_sets, "Pairs of nodes in the hierarchy: edges or all")
      ->capture_default_str()
      ->check(CLI::IsMember({"edges", "all"}));
  app.add_option("--space", a->space,
                 "Instead: refinement of pairs of nodes, what networks on pairs can see at most: rooted (subgraph), "
                 "pairs (local2), folklore (2-WL: folklore2, ppgn)")
      ->check(CLI::IsMember({"rooted", "pairs", "folklore"}))
      ->excludes(app.get_option("--dim"))
      ->excludes(app.get_option("--sets"))
      ->excludes(app.get_option("--two-sets"));
  app.add_option("--distance-cut", a->distance_cut,
                 "rooted, pairs: begin with the distance of the two nodes, those beyond it all alike (default: equal, "
                 "adjacent or apart)")
      ->needs(app.get_option("--space"))
      ->check(CLI::Range(1u, 1000000u));
  app.add_option("--page", a->page,
                 "Also write a page to look at the two graphs in: click a node to individualise it, and see colours "
                 "split (graphs of up to 160 nodes)")
      ->type_name("FILE");
  a->individualise.add(app, a->common);
  for (const char* other : {"--dim", "--sets", "--two-sets", "--space"}) {
    app.get_option("--individualise")->excludes(app.get_option(other));
  }
  app.add_option("--format", a->format, "gin, graph6, ... (default: told by content)");
  app.add_flag("--clean", a->clean, kCleanHelp);
  a->common.add(app, kThreads | kJson | kQuiet);
  app.footer(
      "Examples: tyche wl a.g6 b.g6 --dim 2         are the two told apart, at which round?\n"
      "          tyche wl exp --pairs --dim 2       every pair of a data set\n"
      "          tyche wl exp --pairs --sets 1-2-3  what 1-2-3-GCN can see at most\n"
      "          tyche wl exp --pairs --space rooted  what subgraph networks can see at most\n"
      "          tyche wl graphs.g6                 which graphs of a file cannot be told apart?\n"
      "          tyche wl g6:EhEG exp:3 --page out.html    a page that shows the two\n"
      "          tyche wl exp --individualise leaf  how many different leaves do random paths of each graph reach?\n"
      "          tyche wl exp --individualise leaf --pairs  isomorphic, different, or unknown\n"
      "A round counts from 0, the node types (dim 2, 3: types, equality and adjacency of the tuple's nodes).\n"
      "Exit code 1 if some graphs that were compared are not told apart (--individualise: not shown to be different).");
}

}  // namespace tyche::cli
