#include "cli/cli.hpp"
#include "datasets/generate.hpp"

namespace tyche::cli::generate_command {

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

void run(const Call& call) {
  const std::string kind = call.word("kind"), out = call.word("out");
  datasets::GenerateOptions options;
  options.recipe = datasets::recipe_of(kind);
  datasets::set_parameter(options.recipe, "seed", std::to_string(call.seed()));
  for (const std::string& key : datasets::parameter_keys()) {
    if (key != "seed" && call.says(key)) datasets::set_parameter(options.recipe, key, call.word(key));
  }
  if (const auto source = call.text("planar_source")) {
    datasets::set_planar_source(options.recipe, *source);
    options.planar_source_name = std::filesystem::path(*source).filename().string();
  }
  const std::vector<Format> formats = datasets::parse_written_formats(call.texts("format"), options.recipe);
  options.threads = call.threads();
  options.certify = !call.flag("no_certify");
  options.replace = call.flag("force");
  options.progress = call.progress();

  const Stopwatch watch;
  const datasets::GenerateResult result = datasets::generate(options, out);
  datasets::write_formats(formats, out);
  const double seconds = watch.seconds();

  const std::uint64_t pairs = datasets::pairs_of(options.recipe);
  const std::uint64_t graphs = datasets::graphs_of(options.recipe);
  if (call.json()) {
    nlohmann::json json = {{"kind", kind},       {"graphs", graphs},      {"seed", call.seed()},
                           {"out", out},         {"nodes", result.nodes}, {"edges", result.edges},
                           {"seconds", seconds}, {"certificate", nullptr}};
    if (pairs > 0) json["pairs"] = pairs;
    if (result.certificate) json["certificate"] = datasets::to_json(*result.certificate);
    print_json(json);
    return;
  }
  std::string text = fmt::format("{}: {} of {} (mean {:.1f} nodes, {:.1f} edges per graph), seed {}, {:.2f} s\n", out,
                                 pairs > 0 ? fmt::format("{} pairs", pairs) : fmt::format("{} graphs", graphs), kind,
                                 static_cast<double>(result.nodes) / static_cast<double>(graphs),
                                 static_cast<double>(result.edges) / static_cast<double>(graphs), call.seed(), seconds);
  if (result.certificate) {
    text += std::visit([](const auto& certificate) { return describe(certificate); }, *result.certificate);
  }
  if (!options.certify) text += fmt::format("not certified; 'tyche certify {}' does it\n", out);
  print(text);
}

const Command command("generate", run);

}  // namespace tyche::cli::generate_command
