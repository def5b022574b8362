#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "datasets/generate.hpp"
#include "support/stopwatch.hpp"

namespace tyche::cli {

namespace generate_command {

struct GenerateCall {
  Common common;
  std::string kind;
  /// Given on the command line, by the name set_parameter() knows.
  std::map<std::string, std::string> parameters;
  std::string planar_source;
  std::string out;
  std::vector<std::string> formats;
  bool no_certify = false;
  bool force = false;
};

std::string describe(const datasets::Certificate& c) {
  const datasets::TseitinTotals& t = c.tseitin;
  if (t.pairs > 0) {
    std::string text = "certified: every label by parity";
    text += t.solver_tried == t.pairs ? " and by CaDiCaL"
                                      : fmt::format(" ({} of {} by CaDiCaL too)", t.solver_tried, t.pairs);
    text += ", equal under 1-WL and 2-WL, not isomorphic";
    if (t.sets3_tried > 0) text += fmt::format("; 3-sets tell {} of {} apart", t.sets3_distinct, t.sets3_tried);
    if (t.wl3_tried > 0) text += fmt::format("; 3-WL tells {} of {} apart", t.wl3_distinct, t.wl3_tried);
    return text + "\n";
  }
  std::string text =
      "certified: every label, planarity, equal under 1-WL, different under 2-WL, not isomorphic, widths, bridges";
  if (c.corrupt_pairs > 0) {
    text += fmt::format("; {} CORRUPT pairs with minimal added edges, told apart by 1-WL", c.corrupt_pairs);
  }
  return text + "\n";
}

std::string describe(const datasets::CslCertificate& c) {
  return fmt::format(
      "certified: every graph 4-regular and equal to the others under 1-WL, {} classes, no two "
      "isomorphic, every copy isomorphic to its class\n",
      c.classes.size());
}

std::string describe(const datasets::TaskCertificate& c) {
  return c.task ? fmt::format("certified: the nodes of all {} graphs alike to 1-WL, their labels right by two ways\n",
                              c.graphs)
                : fmt::format("certified: all counts of {} graphs by two ways that share nothing\n", c.graphs);
}

void run(const GenerateCall& a) {
  datasets::GenerateOptions options;
  options.recipe = datasets::recipe_of(a.kind);
  datasets::set_parameter(options.recipe, "seed", std::to_string(a.common.seed));
  for (const auto& [key, value] : a.parameters) datasets::set_parameter(options.recipe, key, value);
  if (!a.planar_source.empty()) {
    datasets::set_planar_source(options.recipe, a.planar_source);
    options.planar_source_name = std::filesystem::path(a.planar_source).filename().string();
  }
  const std::vector<Format> formats = datasets::parse_written_formats(a.formats, options.recipe);
  options.threads = a.common.threads;
  options.certify = !a.no_certify;
  options.replace = a.force;
  options.progress = a.common.progress();

  const Stopwatch watch;
  const datasets::GenerateResult result = datasets::generate(options, a.out);
  datasets::write_formats(formats, a.out);
  const double seconds = watch.seconds();

  const std::uint64_t pairs = datasets::pairs_of(options.recipe);
  const std::uint64_t graphs = datasets::graphs_of(options.recipe);
  if (a.common.json) {
    nlohmann::json json = {{"kind", a.kind},     {"graphs", graphs},      {"seed", a.common.seed},
                           {"out", a.out},       {"nodes", result.nodes}, {"edges", result.edges},
                           {"seconds", seconds}, {"certificate", nullptr}};
    if (pairs > 0) json["pairs"] = pairs;
    if (result.certificate) json["certificate"] = datasets::to_json(*result.certificate);
    print_json(json);
    return;
  }
  std::string text =
      fmt::format("{}: {} of {} (mean {:.1f} nodes, {:.1f} edges per graph), seed {}, {:.2f} s\n", a.out,
                  pairs > 0 ? fmt::format("{} pairs", pairs) : fmt::format("{} graphs", graphs), a.kind,
                  static_cast<double>(result.nodes) / static_cast<double>(graphs),
                  static_cast<double>(result.edges) / static_cast<double>(graphs), a.common.seed, seconds);
  if (result.certificate) {
    text += std::visit([](const auto& certificate) { return describe(certificate); }, *result.certificate);
  }
  if (!options.certify) text += fmt::format("not certified; 'tyche certify {}' does it\n", a.out);
  print(text);
}

}  // namespace generate_command

void add_generate(CLI::App& root) {
  using namespace generate_command;
  auto a = std::make_shared<GenerateCall>();
  CLI::App& app = *root.add_subcommand(
      "generate", "Make EXP, CEXP, the ladder (tseitin), CSL, counting tasks or tasks of nodes, with certificates");
  app.add_option("kind", a->kind,
                 "exp, cexp, sparse-exp, sparse-cexp, tseitin, csl, counting; labels of nodes: triangle, lcc, orbits "
                 "or matching")
      ->required();
  app.add_option("--out", a->out, "Folder for graphs.txt (counting, labels of nodes: graphs.jsonl) and manifest.json")
      ->required();
  const auto parameter = [&](const char* option, const char* key, const char* about) {
    app.add_option_function<std::string>(
        option, [a, key](const std::string& value) { a->parameters[key] = value; }, about);
  };
  parameter("--pairs", "pairs", "Pairs of graphs (default: 600, or 150 for the sparse sets)");
  parameter("--core-min", "core_min", "exp and its kin: smallest n of a core, which has 2n variables (default: 2)");
  parameter("--core-max", "core_max", "exp and its kin: largest n of a core (default: 4)");
  parameter("--planar-nodes", "planar_nodes",
            "Sizes of the planar graphs and how many pairs of each in a row (default: 12:5,15:1; tseitin: none)");
  app.add_option("--planar-source", a->planar_source,
                 "Take planar graphs from a file (plantri's planar_code, graph6, ...) instead of the sampler");
  parameter("--base-nodes", "base_nodes",
            "tseitin: nodes of the cubic base graphs, even numbers 4,6,8 or a range 4:10 (default: 12)");
  parameter("--unseen", "unseen", "tseitin: the number of contiguous folds that share no base graph up to isomorphism");
  parameter("--copies", "copies", "csl: relabelled copies of each of the ten classes (default: 15)");
  parameter("--graphs", "graphs", "counting, labels of nodes: how many graphs (default: 5000, 1000)");
  parameter("--nodes", "nodes", "labels of nodes: nodes of a graph (default: 20)");
  parameter("--degree", "degree", "triangle, lcc: neighbours of every node (default: 3)");
  app.add_option("--format", a->formats,
                 "Also write tu, graph6, sparse6, jsonl or dimacs (one file per graph); may be repeated")
      ->delimiter(',');
  app.add_flag("--no-certify", a->no_certify, "Do not check the pairs");
  app.add_flag("--force", a->force, "Replace a data set that is in the folder already");
  a->common.add(app, kSeed | kThreads | kJson | kQuiet);
  app.footer(
      "Example: tyche generate exp --seed 1 --out exp\n         tyche generate cexp --pairs 100 --seed 7 --format "
      "tu,dimacs --out small\n         tyche generate tseitin --base-nodes 12 --unseen 10 --out ladder\n         tyche "
      "generate triangle --graphs 2000 --out triangles");
  app.callback([a] { run(*a); });
}

}  // namespace tyche::cli
