#include "theory/acr_io.hpp"

#include <fmt/format.h>

#include <charconv>

#include "support/error.hpp"
#include "support/safetensors.hpp"

namespace tyche::theory {
namespace {

void add_matrix(TensorFile& file, const std::string& name, const AcrMatrix& matrix) {
  std::vector<std::int64_t> offsets(matrix.offsets.begin(), matrix.offsets.end());
  std::vector<std::int32_t> columns(matrix.columns.begin(), matrix.columns.end());
  file.add<std::int64_t>(name + ".offsets", {offsets.size()}, offsets);
  file.add<std::int32_t>(name + ".columns", {columns.size()}, columns);
  file.add<double>(name + ".values", {matrix.values.size()}, matrix.values);
}

AcrMatrix get_matrix(const TensorFile& file, const std::string& name) {
  AcrMatrix out;
  out.offsets.clear();
  // Negative numbers become huge ones, which AcrNetwork::check refuses.
  for (const std::int64_t offset : file.get<std::int64_t>(name + ".offsets")) {
    out.offsets.push_back(static_cast<std::uint64_t>(offset));
  }
  for (const std::int32_t column : file.get<std::int32_t>(name + ".columns")) {
    out.columns.push_back(static_cast<std::uint32_t>(column));
  }
  out.values = file.get<double>(name + ".values");
  return out;
}

/// The matrices of a layer, by name.
constexpr std::pair<const char*, AcrMatrix AcrLayer::*> kMatrices[] = {
    {"self", &AcrLayer::self}, {"neighbour", &AcrLayer::neighbour}, {"readout", &AcrLayer::readout}};

std::uint32_t number(const TensorFile& file, const std::string& key, const std::string& origin) {
  const auto found = file.metadata.find(key);
  std::uint32_t value = 0;
  if (found != file.metadata.end()) {
    const std::string& text = found->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) return value;
  }
  throw InputError::at(origin, "metadata", fmt::format("expected a number under '{}'", key));
}

}  // namespace

void save_acr(const std::filesystem::path& path, const AcrNetwork& network,
              const std::map<std::string, std::string>& metadata) {
  if (network.width() > 0x7fffffffu) throw InputError("a layer of 2^31 units or more cannot be saved");
  TensorFile file;
  file.metadata = metadata;
  file.metadata["kind"] = "acr";
  file.metadata["activation"] = "min(max(x, 0), 1)";
  file.metadata["inputs"] = std::to_string(network.inputs);
  file.metadata["layers"] = std::to_string(network.layers.size());
  if (network.weighted) file.metadata["weighted"] = "1";
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    const AcrLayer& layer = network.layers[l];
    const std::string name = fmt::format("layer.{}", l);
    for (const auto& [part, matrix] : kMatrices) add_matrix(file, fmt::format("{}.{}", name, part), layer.*matrix);
    file.add<double>(name + ".bias", {layer.width()}, layer.bias);
  }
  add_matrix(file, "head", network.head);
  file.add<double>("head.bias", {network.outputs()}, network.head_bias);
  file.write(path);
}

AcrNetwork load_acr(const std::filesystem::path& path) {
  const TensorFile file = TensorFile::read(path);
  const auto kind = file.metadata.find("kind");
  if (kind == file.metadata.end() || kind->second != "acr") {
    throw InputError::at(path.string(), "metadata", "expected kind 'acr': this file holds something else");
  }
  AcrNetwork net;
  net.inputs = number(file, "inputs", path.string());
  net.weighted = file.metadata.contains("weighted");
  const std::uint32_t layers = number(file, "layers", path.string());
  for (std::uint32_t l = 0; l < layers; ++l) {
    const std::string name = fmt::format("layer.{}", l);
    AcrLayer layer;
    for (const auto& [part, matrix] : kMatrices) layer.*matrix = get_matrix(file, fmt::format("{}.{}", name, part));
    layer.bias = file.get<double>(name + ".bias");
    net.layers.push_back(std::move(layer));
  }
  net.head = get_matrix(file, "head");
  net.head_bias = file.get<double>("head.bias");
  try {
    net.check();
  } catch (const InputError& error) {
    throw InputError::at(path.string(), "", error.what());
  }
  return net;
}

}  // namespace tyche::theory
