#include "datasets/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <variant>

#include "graph/encoding.hpp"
#include "graph/gin.hpp"
#include "graph/jsonl.hpp"
#include "graph/patterns.hpp"
#include "graph/sets.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"
#include "support/remedy.hpp"
#include "support/said.hpp"
#include "support/seal.hpp"
#include "support/version.hpp"

namespace tyche::datasets {

namespace {

/// What is made at once: a pair, or a graph alone.
struct Portion {
  GraphSet set;
  std::vector<GraphInfo> infos;  ///< one per graph
  /// What its certificate adds up; nothing where none was asked for.
  std::variant<std::monostate, PairCertificate, CslFacts, std::string> examined;
  std::uint64_t nodes = 0, edges = 0;
  std::string text, entries;  ///< what is left of the graphs when they are written
};

/// A file, and the hash of what was written to it.
struct HashedFile {
  explicit HashedFile(const std::filesystem::path& path) : file(path) {}
  void write(const std::string& text) {
    file.write(text);
    hash = hash_bytes(text, hash);
  }

  AtomicFile file;
  std::uint64_t hash = hash_bytes("");
};

/// A recipe in steps. Refers to the parameters it was made from.
struct Work {
  std::uint64_t pieces = 0;
  nlohmann::ordered_json parameters;           ///< for the manifest
  AnyCertificate certificate;                  ///< of no piece yet
  std::function<Portion(std::uint64_t)> make;  ///< from any thread
};

/// Both graphs of a pair, examined where that is asked for.
Portion pair_piece(const Formula& sat, const Formula& unsat, GraphInfo info, bool certify) {
  Portion out;
  const LabelledGraph both[] = {{encode(sat), 1}, {encode(unsat), 0}};
  for (const LabelledGraph& one : both) {
    out.set.graphs.push_back(one.graph);
    out.set.labels.push_back(info.label = one.label);
    out.infos.push_back(info);
  }
  if (certify) out.examined = certify_pair(info.pair, both[0], both[1], expected_of(info.pair, {}, &info));
  return out;
}

/// A graph by itself.
Portion single_piece(const Graph& graph, const GraphInfo& info) {
  Portion out;
  out.set.graphs = {graph};
  out.infos = {info};
  return out;
}

void name_planar_parts(const std::vector<PlanarSize>& sizes, const std::string& source,
                       nlohmann::ordered_json& parameters) {
  if (!source.empty()) {
    parameters["planar_source"] = source;
  } else {
    parameters["planar_nodes"] = sizes.empty() ? "none" : planar_sizes_text(sizes);
  }
}

Work work_of(const ExpParameters& p, const GenerateOptions& options) {
  nlohmann::ordered_json parameters = {{"core_min", p.core_min}, {"core_max", p.core_max}};
  name_planar_parts(p.planar_sizes, options.planar_source_name, parameters);
  const auto make = [&p, certify = options.certify](std::uint64_t index) {
    const ExpPair pair = make_pair(p, index);
    const GraphInfo info{.pair = static_cast<std::uint32_t>(index), .subset = pair.subset, .core = pair.core};
    return pair_piece(pair.sat, pair.unsat, info, certify);
  };
  return {p.pairs, std::move(parameters), Certificate{}, make};
}

Work work_of(const TseitinParameters& p, const GenerateOptions& options) {
  nlohmann::ordered_json parameters = {{"base_nodes", base_nodes_text(p.base_nodes)}};
  name_planar_parts(p.planar_sizes, options.planar_source_name, parameters);
  if (p.unseen > 0) parameters["unseen"] = p.unseen;
  const auto make = [maker = std::make_shared<const TseitinMaker>(p), certify = options.certify](std::uint64_t index) {
    const TseitinPair pair = maker->make(index);
    const GraphInfo info{.pair = static_cast<std::uint32_t>(index),
                         .subset = Subset::tseitin,
                         .core = pair.base_nodes,
                         .base_class = pair.base_class};
    return pair_piece(pair.sat, pair.unsat, info, certify);
  };
  return {p.pairs, std::move(parameters), Certificate{}, make};
}

Work work_of(const CslParameters& p, const GenerateOptions& options) {
  const auto make = [&p, certify = options.certify](std::uint64_t index) {
    const LabelledGraph made = make_csl(p, index);
    const Node skip = kCslSkips[static_cast<std::size_t>(made.label)];
    Portion out = single_piece(made.graph, {.subset = Subset::csl, .label = made.label, .skip = skip});
    out.set.labels = {made.label};
    if (certify) {
      CslFacts facts = examine_csl(made, csl_graph(kCslNodes, kCslSkips[0]));
      facts.said_skip = skip;
      out.examined = std::move(facts);
    }
    return out;
  };
  return {p.graphs(), {{"nodes", kCslNodes}, {"copies", p.copies}}, CslCertificate{}, make};
}

Work work_of(const CountingParameters& p, const GenerateOptions& options) {
  const auto make = [&p, certify = options.certify](std::uint64_t index) {
    CountedGraph made = make_counting(p, index);
    Portion out = single_piece(made.graph, {.subset = Subset::counting});
    if (certify) out.examined = examine_counting(made.graph, made.targets);
    out.set.target_dim = made.targets.size();
    out.set.targets = std::move(made.targets);
    return out;
  };
  return {p.graphs, {{"patterns", kUsualPatterns}}, TaskCertificate{}, make};
}

Work work_of(const NodeTaskParameters& p, const GenerateOptions& options) {
  nlohmann::ordered_json parameters = {{"nodes", p.nodes}};
  if (p.task <= NodeTask::lcc) parameters["degree"] = p.degree;
  const auto make = [&p, certify = options.certify](std::uint64_t index) {
    const NodeLabelled made = make_node_task(p, index);
    Portion out = single_piece(made.graph, {.subset = subset_of(p.task)});
    out.set.node_labels = {made.labels};
    if (certify) out.examined = examine_node_task(p.task, made.graph, made.labels);
    return out;
  };
  return {p.graphs, std::move(parameters), TaskCertificate{.task = p.task}, make};
}

/// Throws InputError on parameters out of range.
Work work_of(const GenerateOptions& options) {
  check(options.recipe);
  return std::visit([&](const auto& parameters) { return work_of(parameters, options); }, options.recipe);
}

/// The manifest up to its list of graphs, which follows entry by entry.
std::string manifest_head(const Recipe& recipe, const Work& work) {
  nlohmann::ordered_json head;
  head["name"] = recipe_name(recipe);
  head["made_by"] = "tyche";
  head["version"] = kVersion;
  head["seed"] = seed_of(recipe);
  if (pairs_of(recipe) > 0) head["pairs"] = pairs_of(recipe);
  head["parameters"] = work.parameters;
  std::string text = "{\n";
  for (const auto& [key, value] : head.items())
    text += fmt::format("  {}: {},\n", nlohmann::ordered_json(key).dump(), value.dump());
  return text + "  \"graphs\": [\n";
}

void write_down(Portion& piece) {
  const GraphSet& set = piece.set;
  for (std::size_t i = 0; i < set.graphs.size(); ++i) {
    piece.text += set.labels.empty() ? jsonl_line(set, i) : gin_text(set.graphs[i], set.labels[i]);
    piece.entries += fmt::format("{}    {}", i == 0 ? "" : ",\n", manifest_entry(piece.infos[i]));
  }
  piece.set = {};
}

void add(Certificate& sums, Portion& piece) { sums.add(std::get<PairCertificate>(std::move(piece.examined))); }
void add(CslCertificate& sums, Portion& piece) { sums.add(std::get<CslFacts>(piece.examined)); }
void add(TaskCertificate& sums, Portion& piece) { sums.add(std::get<std::string>(piece.examined)); }

/// Counts a piece; throws where it fails.
void count(Portion& piece, GenerateResult& result) {
  result.nodes += piece.nodes;
  result.edges += piece.edges;
  if (!result.certificate) return;
  const auto count_in = [&](auto& certificate) {
    add(certificate, piece);
    for (const Failure& failure : certificate.failures) {
      throw Error("{} {} fails its certificate ({}: {}); nothing was written, please report this", certificate.kOf,
                  failure.of, failure.property, failure.detail);
    }
  };
  std::visit(count_in, *result.certificate);
}

/// Makes all pieces, a few hundred at a time: finish(piece) on threads, then take(piece) in order.
template <class Finish, class Take>
GenerateResult make_all(const Work& work, const GenerateOptions& options, const char* stopped, const Finish& finish,
                        const Take& take) {
  GenerateResult result;
  if (options.certify) result.certificate = work.certificate;
  Progress progress("generate", work.pieces, options.progress);
  constexpr std::uint64_t kChunk = 512;  // pieces in memory at a time
  for (std::uint64_t first = 0; first < work.pieces; first += kChunk) {
    std::vector<Portion> made(std::min(kChunk, work.pieces - first));
    parallel_for(made.size(), options.threads, [&](std::size_t i) {
      if (interrupted()) throw Interrupted(stopped);
      made[i] = work.make(first + i);
      const GraphsSummary all = made[i].set.graphs.summary();
      made[i].nodes = all.nodes;
      made[i].edges = all.edges;
      finish(made[i]);
      progress.add(1);
    });
    for (Portion& piece : made) {
      count(piece, result);
      take(piece);
    }
  }
  return result;
}

void append(const Portion& piece, Dataset& out) {
  const GraphSet& set = piece.set;
  for (const Graph& graph : set.graphs) out.set.graphs.push_back(graph);
  out.set.labels.insert(out.set.labels.end(), set.labels.begin(), set.labels.end());
  out.set.targets.insert(out.set.targets.end(), set.targets.begin(), set.targets.end());
  out.set.target_dim = set.target_dim;
  for (const auto labels : set.node_labels) out.set.node_labels.push_back(labels);
  for (const GraphInfo& info : piece.infos) {
    if (info.subset >= Subset::counting) continue;  // plain graphs with targets or labels of nodes
    out.subset.push_back(info.subset);
    if (in_pairs(info.subset)) out.pair.push_back(info.pair);
  }
}

}  // namespace

GenerateOptions options_of(const std::string& kind, const Said& said) {
  GenerateOptions options;
  options.recipe = recipe_of(kind);
  for (const std::string& key : parameter_keys()) {
    const nlohmann::json& value = said.value(key);
    if (value.is_null()) continue;
    set_parameter(options.recipe, key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  if (const auto source = said.text("planar_source")) {
    set_planar_source(options.recipe, *source);
    options.planar_source_name = std::filesystem::path(*source).filename().string();
  }
  options.threads = said.threads();
  options.replace = said.flag("force");
  return options;
}

GenerateResult generate(const GenerateOptions& options, const std::filesystem::path& folder) {
  const Work work = work_of(options);
  make_folder(folder);
  const FolderLock lock(folder);
  remove_temporaries(folder);
  const std::filesystem::path place = folder / (in_lines(options.recipe) ? "graphs.jsonl" : "graphs.txt");
  const std::filesystem::path other = folder / (in_lines(options.recipe) ? "graphs.txt" : "graphs.jsonl");
  if (!options.replace && (std::filesystem::exists(place) || std::filesystem::exists(other))) {
    throw Remedied(InputError::at(folder.string(), "", "holds a data set already"), Remedy::replace_data);
  }
  HashedFile graphs(place);
  HashedFile manifest(folder / "manifest.json");
  if (!in_lines(options.recipe)) graphs.write(gin_header(graphs_of(options.recipe)));
  manifest.write(manifest_head(options.recipe, work));

  const char* between = "";
  GenerateResult result =
      make_all(work, options, "stopped; nothing was written (the same command gives the same data set from the start)",
               write_down, [&](const Portion& piece) {
                 graphs.write(piece.text);
                 manifest.write(between + piece.entries);
                 between = ",\n";
               });
  manifest.write(fmt::format("\n  ],\n  \"content\": \"{:016x}\"", graphs.hash));
  manifest.write(json_seal(manifest.hash, "\n  ") + "\n}\n");
  // Graphs make a data set, and come last: a kill at any moment leaves what was there before, nothing, or all of it,
  // never the graphs of one set beside the manifest of another.
  graphs.file.settle();
  manifest.file.settle();
  for (const std::filesystem::path& old : {place, other}) {
    std::error_code error;
    std::filesystem::remove(old, error);
    if (error) throw IoError::from_errno(old.string(), "replace", error.value());
  }
  manifest.file.commit();
  graphs.file.commit();
  return result;
}

Made make(const GenerateOptions& options) {
  Made out;
  out.dataset.name = out.dataset.set.name = recipe_name(options.recipe);
  out.result = make_all(
      work_of(options), options, "stopped before all graphs were made", [](Portion&) {},
      [&](const Portion& piece) { append(piece, out.dataset); });
  out.dataset.hash = content_hash(out.dataset.set);
  return out;
}

Dataset sample(const Recipe& recipe, std::uint64_t most) {
  GenerateOptions options;
  options.recipe = recipe;
  options.certify = false;
  const Work work = work_of(options);
  Dataset out;
  out.name = recipe_name(recipe);
  for (std::uint64_t i = 0; i < work.pieces && out.set.graphs.size() < most; ++i) append(work.make(i), out);
  return out;
}

/// Where formats that can be written are in a data set's folder.
constexpr std::pair<Format, const char*> kPlaces[] = {{Format::gin, "graphs.txt"},    {Format::graph6, "graphs.g6"},
                                                      {Format::sparse6, "graphs.s6"}, {Format::tu, "tu"},
                                                      {Format::dimacs, "dimacs"},     {Format::jsonl, "graphs.jsonl"}};

std::vector<Format> parse_written_formats(const std::vector<std::string>& names, const Recipe& recipe) {
  std::vector<Format> out;
  for (const std::string& name : names) {
    const Format format = out.emplace_back(parse_format(name));
    if (std::ranges::none_of(kPlaces, [&](const auto& place) { return place.first == format; })) {
      throw InputError("{} can be read but not written: expected gin, tu, graph6, sparse6, dimacs or jsonl", name);
    }
    if (format == Format::dimacs && pairs_of(recipe) == 0) {
      throw InputError("dimacs holds formulas, and the graphs of {} encode none", recipe_name(recipe));
    }
    if (format == Format::gin && in_lines(recipe)) {
      throw InputError("gin holds neither targets nor labels of nodes: the graphs of {} are in graphs.jsonl",
                       recipe_name(recipe));
    }
  }
  return out;
}

void write_formats(const std::vector<Format>& formats, const std::filesystem::path& folder) {
  if (formats.empty()) return;
  const GraphSet set = read_graphs(folder);
  for (const Format format : formats) {
    const auto place = std::ranges::find(kPlaces, format, &std::pair<Format, const char*>::first);
    if (format != Format::gin) write_graphs(folder / place->second, set, format);  // graphs.txt is there
  }
}

}  // namespace tyche::datasets
