// tyche wl: does the Weisfeiler-Leman test tell graphs apart?
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <map>

#include "cli/cli.hpp"
#include "distinguish/pairs.hpp"
#include "graph/named.hpp"
#include "graph/sets.hpp"
#include "report/page.hpp"
#include "report/viewer.hpp"
#include "support/parallel.hpp"
#include "wl/answers.hpp"

namespace tyche::cli::wl_command {

std::string counted(std::uint64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : (std::string_view(noun) == "class" ? "es" : "s"));
}

std::string end_of_paths(const wl::PathOptions& options) {
  return options.depth == wl::kLeaf ? "the leaf" : fmt::format("depth {}", options.depth);
}

std::string survey_table(std::span<const Graph> graphs, const std::vector<wl::Survey>& surveys,
                         const wl::PathOptions& options) {
  std::string text = fmt::format("{:>6}  {:>7}  {:>11}  {:>8}  {:>11}  {:>13}\n", "graph", "nodes", "depth", "distinct",
                                 "tree leaves", "distinct of it");
  double depth = 0;
  double distinct = 0;
  std::size_t whole = 0;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const wl::Survey& s = surveys[g];
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

/// The call, which --individualise may give a number as text, and the test that it asks for.
struct Asked {
  explicit Asked(Call said) : call(with_depth(std::move(said))), test(call) {}
  Call call;
  wl::AskedTest test;
  std::vector<std::string> files = call.texts("graphs");
  std::vector<std::size_t> index =
      call.says("index") ? call.value("index").get<std::vector<std::size_t>>() : std::vector<std::size_t>();

  static Call with_depth(Call call) {
    const std::string text = call.text("individualise").value_or("leaf");
    if (text == "leaf") return call;
    std::uint64_t number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || number == 0) {
      throw InputError("--individualise '{}': expected at least 1 or leaf", text);
    }
    call.set("individualise", number);
    return call;
  }
};

GraphSet read(const Asked& a, const std::string& path) {
  return read_cleanly(a.call.flag("clean"), path, [&](Cleaning* cleaning) {
    return read_graphs_of(parse_graph_name(path), a.call.format(), cleaning);
  });
}

Graph pick(const GraphSet& set, const std::string& path, std::size_t index) {
  if (index < set.graphs.size()) return set.graphs[index];
  const std::string range = set.graphs.empty() ? "" : fmt::format(" (0 to {})", set.graphs.size() - 1);
  throw InputError::at(path, "", "holds {} graphs{}; graph {} was asked for", set.graphs.size(), range, index);
}

/// What a test says of two graphs.
struct Verdict {
  nlohmann::json json;
  std::string words;
  std::string row;  ///< of a table of pairs
  bool apart = false;
  wl::LeafVerdict leaf{};  ///< of paths
};

Verdict said(const wl::Comparison& answer, const Asked& a) {
  const std::string verdict = answer.distinguished
                                  ? fmt::format("told apart by {}, first at round {}", a.test.name, *answer.round)
                                  : fmt::format("not told apart by {}", a.test.name);
  return {wl::to_json(answer),
          verdict + fmt::format("; stable after {}, with {} of {}", counted(*answer.stable_after, "round"),
                                counted(answer.classes, "class"), a.test.unit),
          fmt::format("{:>10}  {:>5}  {:>12}  {:>8}", answer.distinguished ? "yes" : "no",
                      answer.round ? std::to_string(*answer.round) : "-", *answer.stable_after, answer.classes),
          answer.distinguished};
}

Verdict said(const wl::LeafComparison& answer, const Asked& a) {
  const std::string words = in_words(answer, *a.test.paths);
  return {wl::to_json(answer), words, words, answer.verdict == wl::LeafVerdict::different, answer.verdict};
}

/// Graphs `i` and `j` of those that paths are drawn for, on so many threads.
Verdict judged(const Asked& a, const Graph& first, const Graph& second, unsigned threads, std::uint32_t i = 0,
               std::uint32_t j = 1) {
  return std::visit([&](const auto& answer) { return said(answer, a); }, a.test.compare(first, second, threads, i, j));
}

std::string to_table(const std::vector<Verdict>& verdicts, const distinguish::PairSet& pairs, const Asked& a) {
  const bool leaves = a.test.paths.has_value();
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
  if (!leaves) return text + fmt::format("{} of {} told apart by {}\n", apart, all, a.test.name);
  return text + fmt::format("{}: {} isomorphic, {} different, {} unknown\n", all, of[wl::LeafVerdict::isomorphic],
                            of[wl::LeafVerdict::different], of[wl::LeafVerdict::unknown]);
}

std::string in_words(const wl::Grouping& grouping, const Asked& a) {
  std::string text =
      fmt::format("{} fall into {} under {}; stable after {}, with {} over all\n",
                  counted(grouping.group.size(), "graph"), counted(grouping.groups, "group"), a.test.name,
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

void compare_two(const Asked& a) {
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
  if (a.index.empty() && one.graphs.size() + other.graphs.size() > 2 && !a.call.quiet()) {
    std::fprintf(stderr,
                 "tyche: comparing the first graphs of files with several; FILE:I or --index I,J picks others\n");
  }
  const std::string left_words = left_name.in_words(i), right_words = right_name.in_words(j);
  const std::string names = fmt::format("{} and {}", left_words, right_words);
  const std::string path = a.call.word("page");
  const std::string page =
      path.empty() ? ""
                   : report::fill_page(report::page_template(),
                                       report::pair_page_data({left_words, left}, {right_words, right}, called()));
  Verdict verdict = judged(a, left, right, a.call.threads());
  verdict.json["pair"] = 0;
  a.call.json() ? print_json(nlohmann::json::array({verdict.json}))
                : print(fmt::format("{}: {}\n", names, verdict.words));
  if (!path.empty()) {
    write_file(path, page);
    if (!a.call.quiet() && !a.call.json())
      print(fmt::format("{} ({:.1f} kB)\n", path, static_cast<double>(page.size()) / 1000));
  }
  set_exit_code(verdict.apart ? kGood : kNo);
}

/// Graphs 2i and 2i + 1 of a file, or BREC's.
distinguish::PairSet read_pairs(const Asked& a) {
  const std::string& path = a.files.front();
  if (!a.call.says("format") && distinguish::is_brec(path)) {
    return read_cleanly(a.call.flag("clean"), path,
                        [&](Cleaning* cleaning) { return distinguish::load_pairs(path, std::nullopt, {}, cleaning); });
  }
  distinguish::PairSet pairs;
  pairs.set = read(a, path);
  fold_categories(std::array{&pairs.set});
  if (pairs.set.graphs.size() % 2 != 0) {
    throw InputError::at(path, "", "holds {} graphs; --pairs wants an even number", pairs.set.graphs.size());
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs.names.push_back(std::to_string(i));
  return pairs;
}

void compare_pairs(const Asked& a) {
  const distinguish::PairSet pairs = read_pairs(a);
  const std::vector<Graph> graphs = pairs.set.graphs.all();
  Progress progress("pairs", pairs.size(), a.call.progress());
  std::vector<Verdict> verdicts(pairs.size());
  if (!a.test.sets && !a.test.paths) {
    const std::vector<wl::Comparison> answers = wl::compare_pairs(graphs, a.test.refining, &progress);
    for (std::size_t i = 0; i < answers.size(); ++i) verdicts[i] = said(answers[i], a);
  } else {
    parallel_for(verdicts.size(), a.call.threads(), [&](std::size_t i) {
      if (interrupted()) throw Interrupted("stopped before all pairs were compared");
      const auto first = static_cast<std::uint32_t>(2 * i);
      verdicts[i] = judged(a, graphs[2 * i], graphs[2 * i + 1], 1, first, first + 1);
      progress.add(1);
    });
  }
  progress.finish();
  if (a.call.json()) {
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

/// Prints what the draws saw of each graph.
void survey_graphs(std::span<const Graph> graphs, const Asked& a) {
  Progress progress("graphs", graphs.size(), a.call.progress());
  std::vector<wl::Survey> surveys(graphs.size());
  parallel_for(graphs.size(), a.call.threads(), [&](std::size_t g) {
    surveys[g] = wl::survey(graphs[g], static_cast<std::uint32_t>(g), *a.test.paths);
    progress.add(1);
  });
  progress.finish();
  if (!a.call.json()) return print(survey_table(graphs, surveys, *a.test.paths));
  auto json = nlohmann::json::array();
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    json.emplace_back(wl::to_json(surveys[g], graphs[g].num_nodes()));
    json.back()["graph"] = g;
  }
  print_json(json);
}

void group_all(const Asked& a) {
  if (a.test.sets) throw InputError("--sets compares graphs in pairs: give --pairs, or two files");
  GraphSet set = read(a, a.files.front());
  fold_categories(std::array{&set});
  const std::vector<Graph> graphs = set.graphs.all();
  if (a.test.paths) return survey_graphs(graphs, a);
  const wl::Grouping grouping = wl::group(graphs, a.test.refining);
  a.call.json() ? print_json(wl::to_json(grouping)) : print(in_words(grouping, a));
  set_exit_code(grouping.groups == set.graphs.size() ? kGood : kNo);
}

void run(const Call& call) {
  const Asked a(call);
  const bool pairs = call.flag("pairs");
  if (call.says("page") && (pairs || (a.files.size() == 1 && a.index.empty()))) {
    throw InputError("--page shows two graphs: name both, as in tyche wl exp:0 exp:1 --page out.html");
  }
  if (pairs && (a.files.size() != 1 || !a.index.empty())) {
    throw InputError("--pairs compares graphs 2i and 2i + 1 of one file: leave out the second file and --index");
  }
  pairs ? compare_pairs(a) : a.files.size() == 2 || !a.index.empty() ? compare_two(a) : group_all(a);
}

const Command command("wl", run);

}  // namespace tyche::cli::wl_command
