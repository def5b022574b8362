// tyche count: how often small graphs are in large ones.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "graph/patterns.hpp"
#include "support/progress.hpp"
#include "support/stopwatch.hpp"

namespace tyche::cli {

namespace count_command {

constexpr std::uint64_t kExact = std::uint64_t{1} << 24;  // the largest number below which floats are whole

const std::map<std::string, CountsAs> kAs = {{"targets", CountsAs::targets},
                                             {"node-targets", CountsAs::node_targets},
                                             {"edge-targets", CountsAs::edge_targets},
                                             {"attributes", CountsAs::attributes},
                                             {"edge-attributes", CountsAs::edge_attributes}};

struct CountCall {
  Common common;
  std::string data;
  std::string format;
  std::string patterns = kUsualPatterns;
  std::string of = "graphs";
  std::string as = "targets";
  std::string out;
  bool clean = false;
};

using Counts = std::vector<std::vector<PatternCounts>>;

std::string table(const GraphSet& set, const std::vector<Pattern>& patterns, const Counts& counts,
                  const std::string& of) {
  std::string text = of == "graphs"  ? fmt::format("{:>8} {:>7} {:>7}", "graph", "nodes", "edges")
                     : of == "nodes" ? fmt::format("{:>8} {:>7}", "graph", "node")
                                     : fmt::format("{:>8} {:>15}", "graph", "edge");
  std::vector<std::size_t> width;
  for (const Pattern& pattern : patterns) {
    width.push_back(std::max<std::size_t>(pattern.name.size(), 8));
    text += fmt::format(" {:>{}}", pattern.name, width.back());
  }
  text += '\n';
  for (std::size_t g = 0; g < counts.size(); ++g) {
    const Graph& graph = set.graphs[g];
    const std::vector<Edge> edges = of == "edges" ? graph.edges() : std::vector<Edge>{};
    std::vector<std::uint64_t> rows;
    append_rows(rows, counts[g], parse_counts_of(of));
    for (std::size_t r = 0; r < rows.size() / patterns.size(); ++r) {
      text += of == "graphs"  ? fmt::format("{:>8} {:>7} {:>7}", g, graph.num_nodes(), graph.num_edges())
              : of == "nodes" ? fmt::format("{:>8} {:>7}", g, r)
                              : fmt::format("{:>8} {:>15}", g, fmt::format("{}-{}", edges[r].first, edges[r].second));
      for (std::size_t p = 0; p < patterns.size(); ++p)
        text += fmt::format(" {:>{}}", rows[r * patterns.size() + p], width[p]);
      text += '\n';
    }
  }
  return text;
}

void write(const CountCall& call, GraphSet& set, const Counts& counts) {
  add_counts(set, counts, kAs.at(call.as));
  write_graphs(call.out, set, Format::jsonl);
}

void run(const CountCall& call) {
  const std::vector<Pattern> patterns = parse_patterns(call.patterns);
  GraphSet set = read_data(call.data, call.format, call.clean).set;
  const Stopwatch watch;
  Progress progress("graphs", set.graphs.size(), call.common.progress());
  const Counts counts = count_patterns(set.graphs, patterns, call.common.threads, &progress);
  progress.finish();
  const double seconds = watch.seconds();
  std::vector<std::uint64_t> totals(patterns.size());
  std::uint64_t most = 0;
  for (const std::vector<PatternCounts>& graph : counts) {
    for (std::size_t p = 0; p < patterns.size(); ++p) {
      totals[p] += graph[p].in_all;
      most = std::max(most, graph[p].in_all);
    }
  }
  if (!call.out.empty()) write(call, set, counts);
  if (call.common.json) {
    nlohmann::json json = {{"graphs", set.graphs.size()}, {"of", call.of}, {"seconds", seconds}};
    for (const Pattern& pattern : patterns) json["patterns"].push_back(pattern.name);
    json["totals"] = totals;
    if (!call.out.empty()) json["out"] = call.out;
    for (const std::vector<PatternCounts>& graph : counts) {
      std::vector<std::uint64_t> rows;
      append_rows(rows, graph, parse_counts_of(call.of));
      auto list = nlohmann::json::array();
      for (auto at = rows.begin(); at != rows.end(); at += static_cast<std::ptrdiff_t>(patterns.size())) {
        list.push_back(std::vector(at, at + static_cast<std::ptrdiff_t>(patterns.size())));
      }
      json["counts"].push_back(call.of == "graphs" ? list[0] : list);
    }
    print_json(json);
    return;
  }
  if (call.out.empty()) {
    print(table(set, patterns, counts, call.of));
    return;
  }
  std::string text =
      fmt::format("{}: {} graphs with {} more columns of {}:", call.out, set.graphs.size(), patterns.size(), call.as);
  for (std::size_t p = 0; p < patterns.size(); ++p) text += fmt::format(" {} ({})", patterns[p].name, totals[p]);
  text += fmt::format("; {:.2f} s\n", seconds);
  if (most > kExact) text += fmt::format("counts above {} are rounded: files hold 32-bit numbers\n", kExact);
  print(text);
}

}  // namespace count_command

void add_count(CLI::App& root) {
  using namespace count_command;
  const auto [app, call] =
      add_command<CountCall>(root, "count", "How often are small graphs in these? Per graph, node and edge", run);
  app.add_option("data,--data", call->data, "Data set: a file or folder of graphs")->required()->type_name("PATH");
  app.add_option("--format", call->format, "gin, graph6, ... (default: told by content)");
  app.add_flag("--clean", call->clean, kCleanHelp);
  app.add_option("--patterns", call->patterns,
                 "What is counted: cycle3 to cycle6, path2 to path6, clique3 to clique6, star3 to star6, chordal4, "
                 "chordal5, or files of graphs of at most 6 nodes")
      ->capture_default_str();
  CLI::Option* of = app.add_option("--of", call->of, "A row per graph, or per node or edge: the copies that it is in")
                        ->capture_default_str()
                        ->check(CLI::IsMember({"graphs", "nodes", "edges"}));
  app.add_option("--out", call->out, "Write the graphs as JSON lines, counts behind the columns that they have")
      ->type_name("FILE");
  app.add_option("--as", call->as, "With --out: what the counts are there")
      ->capture_default_str()
      ->needs(app.get_option("--out"))
      ->check(CLI::IsMember({"targets", "node-targets", "edge-targets", "attributes", "edge-attributes"}));
  app.get_option("--out")->excludes(of);
  call->common.add(app, kThreads | kJson | kQuiet);
  app.footer(
      "Copies are subgraphs, not induced ones: a clique of four nodes has three cycles of four. Examples:\n"
      "  tyche count exp --patterns cycle3,cycle4\n"
      "  tyche count molecules.jsonl --patterns cycle5,cycle6 --of nodes --json\n"
      "  tyche count molecules.jsonl --patterns mine.g6 --out counted.jsonl --as attributes");
}

}  // namespace tyche::cli
