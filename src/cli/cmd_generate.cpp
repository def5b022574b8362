#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "datasets/generate.hpp"
#include "graph/io.hpp"
#include "graph/planarity.hpp"
#include "support/error.hpp"
#include "support/progress.hpp"

namespace tyche::cli {

namespace {

struct Arguments {
  Common common;
  std::string kind;
  std::optional<std::uint64_t> pairs;
  std::uint32_t core_min = 2;
  std::uint32_t core_max = 4;
  std::string planar_nodes = "12:5,15:1";
  std::string planar_source;
  std::string out;
  std::vector<std::string> formats;
  bool no_certify = false;
  bool force = false;
};

std::vector<datasets::PlaneGraph> read_planar_source(const std::string& path) {
  std::vector<datasets::PlaneGraph> out;
  GraphSet set = read_graphs(path);
  for (std::size_t i = 0; i < set.graphs.size(); ++i) {
    Graph& graph = set.graphs[i];
    auto rotation = planar_embedding(graph);
    if (!rotation || graph.num_nodes() == 0 || connected_components(graph).count != 1 || !is_bipartite(graph)) {
      throw InputError::at(path, fmt::format("graph {}", i), "expected a connected bipartite planar graph");
    }
    out.push_back({std::move(graph), *std::move(rotation)});
  }
  return out;
}

/// The data set once more, in other formats, beside graphs.txt.
void write_formats(const std::vector<Format>& formats, const std::filesystem::path& folder) {
  if (formats.empty()) return;
  GraphSet set = read_graphs(folder);
  for (const Format format : formats) {
    switch (format) {
      case Format::graph6:
        write_graphs(folder / "graphs.g6", set, format);
        break;
      case Format::sparse6:
        write_graphs(folder / "graphs.s6", set, format);
        break;
      case Format::tu:
        write_graphs(folder / "tu", set, format);
        break;
      case Format::dimacs:
        write_graphs(folder / "dimacs", set, format);
        break;
      case Format::gin:
        break;
      default:
        throw InputError(fmt::format("{} can be read but not written", format_name(format)));
    }
  }
}

void run(const Arguments& a) {
  datasets::GenerateOptions options;
  auto& p = options.parameters;
  p.kind = datasets::parse_kind(a.kind);
  p.pairs = a.pairs.value_or(datasets::paper_pairs(p.kind));
  p.seed = a.common.seed;
  p.core_min = a.core_min;
  p.core_max = a.core_max;
  p.planar_sizes = datasets::parse_planar_sizes(a.planar_nodes);
  if (!a.planar_source.empty()) {
    p.planar_source = read_planar_source(a.planar_source);
    options.planar_source_name = std::filesystem::path(a.planar_source).filename().string();
  }
  std::vector<Format> formats;
  for (const std::string& name : a.formats) {
    formats.push_back(parse_format(name));
    if (formats.back() == Format::planar_code || formats.back() == Format::npy) {
      throw InputError(
          fmt::format("{} can be read but not written: expected gin, tu, graph6, sparse6 or dimacs", name));
    }
  }
  options.threads = a.common.threads;
  options.certify = !a.no_certify;
  options.replace = a.force;
  options.progress = a.common.progress();

  const auto start = std::chrono::steady_clock::now();
  const datasets::GenerateResult result = datasets::generate(options, a.out);
  write_formats(formats, a.out);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  if (a.common.json) {
    nlohmann::json json = {{"kind", a.kind},     {"pairs", p.pairs},      {"seed", p.seed},
                           {"out", a.out},       {"nodes", result.nodes}, {"edges", result.edges},
                           {"seconds", seconds}, {"certificate", nullptr}};
    if (result.certificate) json["certificate"] = datasets::to_json(*result.certificate);
    print_json(json);
    return;
  }
  std::string text =
      fmt::format("{}: {} pairs of {} (mean {:.1f} nodes, {:.1f} edges a graph), seed {}, {:.2f} s\n", a.out, p.pairs,
                  a.kind, static_cast<double>(result.nodes) / (2.0 * static_cast<double>(p.pairs)),
                  static_cast<double>(result.edges) / (2.0 * static_cast<double>(p.pairs)), p.seed, seconds);
  if (result.certificate) {
    text +=
        "certified: every label, planarity, equal under 1-WL, different under 2-WL, not isomorphic, widths, bridges";
    if (result.certificate->corrupt_pairs > 0) {
      text += fmt::format("; {} CORRUPT pairs with minimal added edges, told apart by 1-WL",
                          result.certificate->corrupt_pairs);
    }
    text += "\n";
  } else {
    text += fmt::format("not certified; 'tyche certify {}' does it\n", a.out);
  }
  print(text);
}

}  // namespace

void add_generate(CLI::App& root) {
  auto a = std::make_shared<Arguments>();
  CLI::App& app = *root.add_subcommand("generate", "Make EXP, CEXP or their sparse forms, with certificates");
  app.add_option("kind", a->kind, "exp, cexp, sparse-exp or sparse-cexp")->required();
  app.add_option("--out", a->out, "Folder for graphs.txt and manifest.json")->required();
  app.add_option("--pairs", a->pairs, "Pairs of graphs (default: the paper's 600, or 150 for the sparse sets)");
  app.add_option("--core-min", a->core_min, "Smallest n of a core (2n variables)")->capture_default_str();
  app.add_option("--core-max", a->core_max, "Largest n of a core")->capture_default_str();
  app.add_option("--planar-nodes", a->planar_nodes, "Sizes of the planar graphs and how many pairs of each in a row")
      ->capture_default_str();
  app.add_option("--planar-source", a->planar_source,
                 "Take planar graphs from a file (plantri's planar_code, graph6, ...) instead of the sampler");
  app.add_option("--format", a->formats, "Also write tu, graph6, sparse6 or dimacs (one file a graph); may be repeated")
      ->delimiter(',');
  app.add_flag("--no-certify", a->no_certify, "Do not check the pairs");
  app.add_flag("--force", a->force, "Replace a data set that is in the folder already");
  a->common.add_seed(app);
  a->common.add_threads(app);
  a->common.add_json(app);
  a->common.add_quiet(app);
  app.footer(
      "Example: tyche generate exp --seed 1 --out exp\n         tyche generate cexp --pairs 100 --seed 7 --format "
      "tu,dimacs --out small");
  app.callback([a] { run(*a); });
}

}  // namespace tyche::cli
