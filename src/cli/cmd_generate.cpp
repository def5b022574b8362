// tyche generate, certify: data sets made, and checked.
#include "cli/cli.hpp"
#include "datasets/certificate.hpp"
#include "datasets/generate.hpp"

namespace tyche::cli::generate_command {

/// What a certificate says of graphs that were just made, in a line.
std::string in_short(const datasets::Certificate& c) {
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

std::string in_short(const datasets::CslCertificate& c) {
  return fmt::format(
      "certified: every graph 4-regular and equal to the others under 1-WL, {} classes, no two "
      "isomorphic, every copy isomorphic to its class\n",
      c.classes.size());
}

std::string in_short(const datasets::TaskCertificate& c) {
  return c.task ? fmt::format("certified: the nodes of all {} graphs alike to 1-WL, their labels right by two ways\n",
                              c.graphs)
                : fmt::format("certified: all counts of {} graphs by two ways that share nothing\n", c.graphs);
}

void generate(const Call& call) {
  const std::string kind = call.word("kind"), out = call.word("out");
  datasets::GenerateOptions options = datasets::options_of(kind, call);
  const std::vector<Format> formats = datasets::parse_written_formats(call.texts("format"), options.recipe);
  options.certify = !call.flag("no_certify");
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
    text += std::visit([](const auto& certificate) { return in_short(certificate); }, *result.certificate);
  }
  if (!options.certify) text += fmt::format("not certified; 'tyche certify {}' does it\n", out);
  print(text);
}

std::string line(const char* what, std::uint64_t have, std::uint64_t of) {
  return fmt::format("  {:<58} {:>7} of {}{}\n", what, have, of, have == of ? "" : "   <--");
}

/// What is told and demanded of nobody.
std::string remark(const char* what, std::uint64_t have, std::uint64_t of) {
  return fmt::format("  {:<58} {:>7} of {}\n", what, have, of);
}

std::string describe_ladder(const datasets::Certificate& c) {
  const datasets::TseitinTotals& t = c.tseitin;
  std::string text = fmt::format("{} pairs of Tseitin formulas", t.pairs);
  if (c.base_classes) text += fmt::format(", {} base graphs up to isomorphism", *c.base_classes);
  text += "\n" + line("labels right by parity (assignment checked)", t.labels_parity, t.pairs);
  text += line("labels right by CaDiCaL", t.labels_solver, t.solver_tried);
  if (t.solver_tried < t.pairs) text += remark("  asked, the base graph being small enough", t.solver_tried, t.pairs);
  text += line("equal under 1-WL", t.wl1_equal, t.pairs);
  text += line("equal under 2-WL", t.wl2_equal, t.pairs);
  text += line("not isomorphic", t.non_isomorphic, t.pairs);
  if (t.sets3_tried > 0) text += remark("told apart on 3-sets, of those tried", t.sets3_distinct, t.sets3_tried);
  if (t.wl3_tried > 0) text += remark("told apart by 3-WL, of those tried", t.wl3_distinct, t.wl3_tried);
  if (t.sets3_tried + t.wl3_tried == 0) text += "  3-sets and 3-WL were not tried: --higher PAIRS asks for them\n";
  return text;
}

std::string describe_exp(const datasets::Certificate& c, bool published) {
  const std::uint64_t pairs = c.pairs - c.tseitin.pairs;
  const std::uint64_t exp = pairs - c.corrupt_pairs;
  std::string text = fmt::format("{} pairs\n", pairs);
  text += line("labels right (assignment checked; solver says no)", c.labels_ok, pairs);
  text += line("  of these, core tried exhaustively", c.unsat_exhaustive, pairs);
  text += line("planar (embedding checked by Euler's formula)", c.planar_pairs, exp);
  text += line("equal under 1-WL", c.wl1_equal, exp);
  text += line("different under 2-WL", c.wl2_distinct, pairs);
  text += line("not isomorphic", c.non_isomorphic, pairs);
  if (c.corrupt_pairs > 0) text += line("CORRUPT: no added edge can be spared", c.corrupt_minimal, c.corrupt_pairs);
  const char* note = published ? " (reported, not failed)" : "";
  text += fmt::format("  {:<58} {:>7}{}\n", "disjunctions of more than 5 literals", c.width_violations,
                      c.width_violations == 0 ? "" : note);
  text += fmt::format("  {:<58} {:>7}{}\n", "planar parts with bridges or in pieces", c.bridge_violations,
                      c.bridge_violations == 0 ? "" : note);
  return text;
}

/// The first failures.
std::string describe_failures(const auto& certificate) {
  const std::vector<datasets::Failure>& failures = certificate.failures;
  const char* what = certificate.kOf;
  if (failures.empty()) return fmt::format("all {}s pass\n", what);
  constexpr std::size_t kShown = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, failures.size()); ++i) {
    text += fmt::format("{} {} fails {}: {}\n", what, failures[i].of, failures[i].property, failures[i].detail);
  }
  if (failures.size() > kShown) text += fmt::format("... and {} more; --json lists all\n", failures.size() - kShown);
  return text;
}

std::string describe(const datasets::Certificate& c, bool published) {
  std::string text;
  if (c.tseitin.pairs > 0) text += describe_ladder(c);
  if (c.tseitin.pairs < c.pairs) text += describe_exp(c, published);
  return text + describe_failures(c);
}

std::string describe(const datasets::CslCertificate& c, bool) {
  std::string text = fmt::format("{} graphs of circular skip links\n", c.graphs);
  text += line("connected, 4-regular, one node type", c.regular, c.graphs);
  text += line("equal to the first under 1-WL", c.wl1_equal, c.graphs);
  text += line("isomorphic to the first of their class", c.copies_ok, c.graphs);
  text += fmt::format("  {} classes\n", c.classes.size());
  for (const auto& [label, own] : c.classes) {
    text += fmt::format("    label {:<3} skip {:<3} {} copies\n", label, own.skip, own.copies);
  }
  return text + describe_failures(c);
}

std::string describe(const datasets::TaskCertificate& c, bool) {
  std::string text = c.task ? fmt::format("{} graphs whose nodes have labels: {}\n", c.graphs, datasets::name(*c.task))
                            : fmt::format("{} graphs whose subgraphs are counted\n", c.graphs);
  text += line(c.task ? "nodes alike to 1-WL; labels right by a second way"
                      : "targets right (copies found; homomorphisms summed)",
               c.right, c.graphs);
  return text + describe_failures(c);
}

void certify(const Call& call) {
  datasets::CertifyOptions options = datasets::certify_options(call);
  options.progress = call.progress();
  const auto answer = datasets::certify_any(call.word("path"), options);
  std::visit(
      [&](const auto& certificate) {
        call.json() ? print_json(datasets::to_json(answer)) : print(describe(certificate, options.published));
        set_exit_code(certificate.failures.empty() ? kGood : kNo);
      },
      answer);
}

const Command commands[] = {{"generate", generate}, {"certify", certify}};

}  // namespace tyche::cli::generate_command
