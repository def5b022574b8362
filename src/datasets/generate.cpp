#include "datasets/generate.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "datasets/dataset.hpp"
#include "graph/encoding.hpp"
#include "graph/gin.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"
#include "support/remedy.hpp"
#include "support/version.hpp"

namespace tyche::datasets {

namespace {

/// The manifest up to its list of graphs, which is written entry by entry.
std::string manifest_head(const GenerateOptions& options) {
  const ExpParameters& p = options.parameters;
  nlohmann::ordered_json head;
  head["name"] = kind_name(p.kind);
  head["made_by"] = "tyche";
  head["version"] = kVersion;
  head["seed"] = p.seed;
  head["pairs"] = p.pairs;
  head["parameters"] = {{"core_min", p.core_min}, {"core_max", p.core_max}};
  if (options.planar_source_name.empty()) {
    head["parameters"]["planar_nodes"] = planar_sizes_text(p.planar_sizes);
  } else {
    head["parameters"]["planar_source"] = options.planar_source_name;
  }
  std::string text = head.dump(2);
  text.resize(text.size() - 2);  // the closing brace and its newline
  return text + ",\n  \"graphs\": [\n";
}

struct MadePair {
  std::string text;
  std::string entries;
  PairCertificate certificate;
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
};

MadePair make(const GenerateOptions& options, std::uint64_t index) {
  const ExpPair pair = make_pair(options.parameters, index);
  const LabelledGraph sat{encode(pair.sat), 1};
  const LabelledGraph unsat{encode(pair.unsat), 0};
  MadePair out;
  for (const LabelledGraph* g : {&sat, &unsat}) {
    out.text += gin_text(g->graph, g->label);
    out.nodes += g->graph.num_nodes();
    out.edges += g->graph.num_edges();
    const GraphInfo info{static_cast<std::uint32_t>(index), pair.subset, pair.core, g->label};
    out.entries += fmt::format("{}    {}", out.entries.empty() ? "" : ",\n", manifest_entry(info));
  }
  if (options.certify) {
    out.certificate = certify_pair(index, sat, unsat, {.subset = pair.subset, .core = pair.core, .published = false});
  }
  return out;
}

}  // namespace

GenerateResult generate(const GenerateOptions& options, const std::filesystem::path& folder) {
  check(options.parameters);
  make_folder(folder);
  if (!options.replace && std::filesystem::exists(folder / "graphs.txt")) {
    throw Remedied(InputError::at(folder.string(), "", "holds a data set already"), Remedy::replace_data);
  }
  AtomicFile graphs(folder / "graphs.txt");
  AtomicFile manifest(folder / "manifest.json");
  const std::uint64_t pairs = options.parameters.pairs;
  graphs.write(gin_header(2 * pairs));
  manifest.write(manifest_head(options));

  GenerateResult result;
  Certificate certificate;
  Progress progress("generate", pairs, options.progress);
  constexpr std::uint64_t kChunk = 512;  // pairs in memory at a time
  for (std::uint64_t first = 0; first < pairs; first += kChunk) {
    if (interrupted())
      throw Interrupted("stopped; nothing was written (the same command gives the same data set from the start)");
    std::vector<MadePair> made(std::min(kChunk, pairs - first));
    parallel_for(made.size(), options.threads, [&](std::size_t i) {
      made[i] = make(options, first + i);
      progress.add(1);
    });
    for (std::size_t i = 0; i < made.size(); ++i) {
      graphs.write(made[i].text);
      manifest.write((first + i == 0 ? "" : ",\n") + made[i].entries);
      result.nodes += made[i].nodes;
      result.edges += made[i].edges;
      if (options.certify) certificate.add(std::move(made[i].certificate));
    }
    if (!certificate.failures.empty()) {
      const Failure& f = certificate.failures.front();
      throw Error(fmt::format("pair {} fails its certificate ({}: {}); nothing was written, please report this", f.pair,
                              f.property, f.detail));
    }
  }
  manifest.write("\n  ]\n}\n");
  graphs.commit();
  manifest.commit();
  if (options.certify) result.certificate = std::move(certificate);
  return result;
}

}  // namespace tyche::datasets
