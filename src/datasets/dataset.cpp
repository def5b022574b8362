#include "datasets/dataset.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "support/error.hpp"
#include "support/file.hpp"

namespace tyche::datasets {

std::string manifest_entry(const GraphInfo& info) {
  return fmt::format(R"({{"pair": {}, "subset": "{}", "core": {}, "label": {}}})", info.pair, subset_name(info.subset),
                     info.core, info.label);
}

std::vector<GraphInfo> read_manifest(const std::filesystem::path& path) {
  nlohmann::json manifest;
  try {
    manifest = nlohmann::json::parse(read_file(path));
  } catch (const nlohmann::json::exception& error) {
    throw InputError::at(path.string(), "", fmt::format("not JSON: {}", error.what()));
  }
  if (!manifest.is_object() || !manifest.contains("graphs") || !manifest["graphs"].is_array()) {
    throw InputError::at(path.string(), "", "expected an object with a list 'graphs'");
  }
  std::vector<GraphInfo> out;
  for (const auto& entry : manifest["graphs"]) {
    const std::string place = fmt::format("graphs[{}]", out.size());
    const auto number = [&](const char* key) {
      if (!entry.is_object() || !entry.contains(key) || !entry[key].is_number_unsigned() || entry[key] > 0x7fffffffu) {
        throw InputError::at(path.string(), place, fmt::format("expected a whole number under '{}'", key));
      }
      return entry[key].get<std::uint32_t>();
    };
    GraphInfo info;
    info.pair = number("pair");
    info.core = number("core");
    info.label = static_cast<int>(number("label"));
    const auto subset = entry.find("subset");
    if (subset == entry.end() || (*subset != "EXP" && *subset != "CORRUPT")) {
      throw InputError::at(path.string(), place, "expected \"EXP\" or \"CORRUPT\" under 'subset'");
    }
    info.subset = *subset == "EXP" ? Subset::exp : Subset::corrupt;
    out.push_back(info);
  }
  return out;
}

namespace {

std::uint64_t hash_of(const GraphSet& set) {
  std::uint64_t hash = hash_bytes("tyche data 1");
  const auto add = [&hash](const auto& values) {
    hash = hash_bytes({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0])}, hash);
  };
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    add(set.graphs[g].offsets());
    add(set.graphs[g].adjacency());
    add(set.graphs[g].types());
    if (!set.attributes.empty()) add(set.attributes[g]);
  }
  add(set.labels);
  return hash;
}

}  // namespace

Dataset load_dataset(const std::filesystem::path& path, std::optional<Format> format) {
  Dataset data;
  data.set = read_graphs(path, format);
  data.name = data.set.name;
  data.hash = hash_of(data.set);
  const std::filesystem::path manifest = path / "manifest.json";
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored) || !std::filesystem::exists(manifest, ignored)) return data;
  const std::vector<GraphInfo> infos = read_manifest(manifest);
  if (infos.size() != data.set.graphs.size()) {
    throw InputError::at(manifest.string(), "",
                         fmt::format("lists {} graphs, the data holds {}", infos.size(), data.set.graphs.size()));
  }
  for (std::size_t g = 0; g < infos.size(); ++g) {
    if (!data.set.labels.empty() && infos[g].label != data.set.labels[g]) {
      throw InputError::at(manifest.string(), fmt::format("graphs[{}]", g),
                           fmt::format("label {} here, {} in the data", infos[g].label, data.set.labels[g]));
    }
    data.subset.push_back(infos[g].subset);
    data.pair.push_back(infos[g].pair);
  }
  return data;
}

}  // namespace tyche::datasets
