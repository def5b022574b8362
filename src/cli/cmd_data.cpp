// tyche inspect, count, pack: what is in a data set, and how it is stored.
#include <map>

#include "cli/cli.hpp"
#include "graph/packed.hpp"
#include "graph/patterns.hpp"
#include "inspect/inspection.hpp"
#include "report/page.hpp"
#include "report/viewer.hpp"

namespace tyche::cli::data_command {

/// tyche inspect: what is in a data set, and what can be learned from it at all?
void look_into(const Call& call) {
  const datasets::Dataset dataset = call.data();
  const std::string page = call.word("page");
  if (!page.empty()) (void)report::page_template();  // throws where there is none, before the work
  inspect::Options options = inspect::options_of(call, dataset);
  Progress progress("graphs", inspect::steps(dataset.set), call.progress());
  options.progress = &progress;
  const inspect::Inspection found = inspect::examine(dataset, options);
  progress.finish();
  if (!page.empty()) {
    const std::string made = fmt::format("tyche inspect --data {} --page {}", call.word("data"), page);
    report::write_page(page, inspect::confused_page(found, dataset.set, made));
  }
  print(call.json() ? inspect::to_json(found).dump(2) + "\n" : inspect::to_text(found));
}

constexpr std::uint64_t kExact = std::uint64_t{1} << 24;  // the largest number below which floats are whole

const std::map<std::string, CountsAs> kAs = {{"targets", CountsAs::targets},
                                             {"node-targets", CountsAs::node_targets},
                                             {"edge-targets", CountsAs::edge_targets},
                                             {"attributes", CountsAs::attributes},
                                             {"edge-attributes", CountsAs::edge_attributes}};

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

/// tyche count: how often small graphs are in large ones.
void count(const Call& call) {
  const std::vector<Pattern> patterns = parse_patterns(call.word("patterns"));
  const std::string of = call.word("of"), as = call.word("as"), out = call.word("out");
  GraphSet set = call.data().set;
  const Stopwatch watch;
  Progress progress("graphs", set.graphs.size(), call.progress());
  const Counts counts = count_patterns(set.graphs, patterns, call.threads(), &progress);
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
  if (!out.empty()) {
    add_counts(set, counts, kAs.at(as));
    write_graphs(out, set, Format::jsonl);
  }
  if (call.json()) {
    nlohmann::json json = {{"graphs", set.graphs.size()}, {"of", of}, {"seconds", seconds}};
    for (const Pattern& pattern : patterns) json["patterns"].push_back(pattern.name);
    json["totals"] = totals;
    if (!out.empty()) json["out"] = out;
    for (const std::vector<PatternCounts>& graph : counts) {
      std::vector<std::uint64_t> rows;
      append_rows(rows, graph, parse_counts_of(of));
      auto list = nlohmann::json::array();
      for (auto at = rows.begin(); at != rows.end(); at += static_cast<std::ptrdiff_t>(patterns.size())) {
        list.push_back(std::vector(at, at + static_cast<std::ptrdiff_t>(patterns.size())));
      }
      json["counts"].push_back(of == "graphs" ? list[0] : list);
    }
    return print_json(json);
  }
  if (out.empty()) return print(table(set, patterns, counts, of));
  std::string text =
      fmt::format("{}: {} graphs with {} more columns of {}:", out, set.graphs.size(), patterns.size(), as);
  for (std::size_t p = 0; p < patterns.size(); ++p) text += fmt::format(" {} ({})", patterns[p].name, totals[p]);
  text += fmt::format("; {:.2f} s\n", seconds);
  if (most > kExact) text += fmt::format("counts above {} are rounded: files hold 32-bit numbers\n", kExact);
  print(text);
}

/// tyche pack: a data set as one file that is mapped into memory.
void pack(const Call& call) {
  const Stopwatch watch;
  const std::string data = call.word("data"), out = call.word("out");
  const std::uint64_t graphs = read_cleanly(
      call.flag("clean"), data, [&](Cleaning* cleaning) { return pack_graphs(data, call.format(), cleaning, out); });
  const auto bytes = std::filesystem::file_size(out);
  if (call.json()) {
    return print_json({{"out", out}, {"graphs", graphs}, {"bytes", bytes}, {"seconds", watch.seconds()}});
  }
  print(fmt::format("{}: {} graphs, {} bytes ({:.0f} a graph); {:.2f} s\n", out, graphs, bytes,
                    static_cast<double>(bytes) / static_cast<double>(graphs), watch.seconds()));
}

const Command commands[] = {{"inspect", look_into}, {"count", count}, {"pack", pack}};

}  // namespace tyche::cli::data_command
