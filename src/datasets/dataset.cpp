#include "datasets/dataset.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "graph/packed.hpp"
#include "graph/sets.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/seal.hpp"

namespace tyche::datasets {

std::string manifest_entry(const GraphInfo& info) {
  const std::string_view subset = subset_name(info.subset);
  if (info.subset == Subset::csl) {
    return fmt::format(R"({{"subset": "{}", "skip": {}, "label": {}}})", subset, info.skip, info.label);
  }
  if (info.subset >= Subset::counting) return fmt::format(R"({{"subset": "{}"}})", subset);
  std::string more;
  if (info.subset == Subset::tseitin) more = fmt::format(R"("class": {}, )", nlohmann::json(info.base_class).dump());
  return fmt::format(R"({{"pair": {}, "subset": "{}", "core": {}, {}"label": {}}})", info.pair, subset, info.core, more,
                     info.label);
}

namespace {

/// One entry of the list of graphs; fail(what) throws.
template <class Fail>
GraphInfo read_entry(const nlohmann::json& entry, const Fail& fail) {
  const auto number = [&](const char* key) {
    if (!entry.is_object() || !entry.contains(key) || !entry[key].is_number_unsigned() || entry[key] > 0x7fffffffu) {
      fail(fmt::format("expected a whole number under '{}'", key));
    }
    return entry[key].template get<std::uint32_t>();
  };
  GraphInfo info;
  const nlohmann::json& said = entry.is_object() && entry.contains("subset") ? entry["subset"] : nlohmann::json();
  auto subset = static_cast<unsigned>(Subset::exp);
  const auto last = static_cast<unsigned>(Subset::matching);
  while (subset <= last && said != subset_name(static_cast<Subset>(subset))) ++subset;
  info.subset = static_cast<Subset>(subset);
  if (subset > last)
    fail(
        "expected \"EXP\", \"CORRUPT\", \"TSEITIN\", \"CSL\", \"COUNTING\", \"TRIANGLE\", \"LCC\", \"ORBITS\" or "
        "\"MATCHING\" under 'subset'");
  if (info.subset >= Subset::counting) return info;
  info.label = static_cast<int>(number("label"));
  if (info.subset == Subset::csl) {
    info.skip = number("skip");
    return info;
  }
  info.pair = number("pair");
  info.core = number("core");
  if (info.subset == Subset::tseitin) {
    if (!entry.contains("class") || !entry["class"].is_string()) fail("expected text under 'class'");
    info.base_class = entry["class"].template get<std::string>();
  }
  return info;
}

}  // namespace

Manifest read_manifest(const std::filesystem::path& path) {
  nlohmann::json manifest;
  const std::string text = read_file(path);
  check_seal(text, path.string());
  try {
    manifest = nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw InputError::at(path.string(), "", "not JSON: {}", error.what());
  }
  if (!manifest.is_object() || !manifest.contains("graphs") || !manifest["graphs"].is_array()) {
    throw InputError::at(path.string(), "", "expected an object with a list 'graphs'");
  }
  Manifest out;
  if (manifest.contains("content") && manifest["content"].is_string()) out.content = manifest["content"];
  const nlohmann::json parameters = manifest.value("parameters", nlohmann::json::object());
  if (parameters.is_object() && parameters.contains("unseen")) {
    const nlohmann::json& folds = parameters["unseen"];
    if (!folds.is_number_unsigned() || folds < 2u || folds > 0x7fffffffu) {
      throw InputError::at(path.string(), "parameters", "expected a number of folds, 2 or more, under 'unseen'");
    }
    out.unseen = folds.get<std::uint32_t>();
  }
  for (const auto& entry : manifest["graphs"]) {
    const auto fail = [&](const std::string& what) {
      throw InputError::at(path.string(), fmt::format("graphs[{}]", out.graphs.size()), what);
    };
    out.graphs.push_back(read_entry(entry, fail));
    const Subset own = out.graphs.back().subset, first = out.graphs.front().subset;
    if (in_pairs(own) ? !in_pairs(first) : own != first) {
      fail("expected graphs of pairs alone, CSL graphs alone or COUNTING graphs alone, found several");
    }
  }
  return out;
}

FoldScheme usual_scheme(const Dataset& dataset) {
  return dataset.subset.empty() && dataset.pair.empty() ? FoldScheme::stratified : FoldScheme::contiguous;
}

Dataset load_dataset(const std::filesystem::path& path, std::optional<Format> format, Cleaning* cleaning) {
  Dataset data;
  data.set = read_graphs(path, format, cleaning);
  data.name = data.set.name;
  std::error_code ignored;
  const bool packed =
      std::filesystem::is_regular_file(path, ignored) && locate_graphs(path, format).format == Format::packed;
  data.hash = packed ? packed_hash(path) : content_hash(data.set);
  const std::filesystem::path manifest = path / "manifest.json";
  if (!std::filesystem::is_directory(path, ignored) || !std::filesystem::exists(manifest, ignored)) return data;
  const Manifest read = read_manifest(manifest);
  const std::vector<GraphInfo>& infos = read.graphs;
  const std::filesystem::path graphs = locate_graphs(path, format).path;
  const bool hashed = graphs.filename() == "graphs.txt" || graphs.filename() == "graphs.jsonl";
  if (hashed && !read.content.empty() && read.content != fmt::format("{:016x}", hash_bytes(read_file(graphs)))) {
    throw InputError::at(graphs.string(), "",
                         "is not what {} was written for: it was damaged or changed (who changed it on "
                         "purpose removes the manifest)",
                         manifest.string());
  }
  if (infos.size() != data.set.graphs.size()) {
    throw InputError::at(manifest.string(), "", "lists {} graphs, the data holds {}", infos.size(),
                         data.set.graphs.size());
  }
  for (std::size_t g = 0; g < infos.size(); ++g) {
    if (!data.set.labels.empty() && infos[g].label != data.set.labels[g]) {
      throw InputError::at(manifest.string(), fmt::format("graphs[{}]", g), "label {} here, {} in the data",
                           infos[g].label, data.set.labels[g]);
    }
    if (infos[g].subset >= Subset::counting) continue;  // plain graphs with targets or labels of nodes
    data.subset.push_back(infos[g].subset);
    if (in_pairs(infos[g].subset)) data.pair.push_back(infos[g].pair);
  }
  return data;
}

void types_as_labels(Dataset& dataset) {
  GraphSet& set = dataset.set;
  if (!set.node_labels.empty()) return;
  if (set.graphs.summary().types.size() < 2) return;
  Graphs untyped;
  for (const Graph& graph : set.graphs) {
    set.node_labels.push_back(std::vector<int>(graph.types().begin(), graph.types().end()));
    untyped.push_back(Graph::from_edges(graph.num_nodes(), graph.edges(), {}, graph.labels_of_edges()));
  }
  set.graphs = std::move(untyped);
  dataset.hash = content_hash(set);
}

}  // namespace tyche::datasets
