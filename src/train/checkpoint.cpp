#include "train/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "support/error.hpp"
#include "support/safetensors.hpp"
#include "support/version.hpp"
#include "train/objective.hpp"

namespace tyche::train {

namespace {

constexpr const char *kTargets = "tyche.target", *kNodes = "tyche.node", *kEdges = "tyche.edge";
constexpr std::string_view kMemo = "tyche.memo.";
constexpr const char* kMoments[] = {"", "adam.m.", "adam.v."};

const std::string& metadata_at(const TensorFile& file, const std::string& key, const std::string& path) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) {
    throw InputError::at(path, "metadata", "has no '{}'; this is not a checkpoint of tyche train", key);
  }
  return found->second;
}

[[noreturn]] void refuse(const std::string& path, std::string_view key, const std::string& wanted,
                         std::string_view found) {
  throw InputError::at(path, "metadata", "{}: expected {}, found '{}'", key, wanted, found);
}

std::uint64_t number_at(const TensorFile& file, const std::string& key, const std::string& path) {
  const std::string& text = metadata_at(file, key, path);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) refuse(path, key, "a whole number", text);
  return value;
}

std::vector<double> numbers_at(const TensorFile& file, const std::string& key, std::size_t count,
                               const std::string& path) {
  const std::string& text = metadata_at(file, key, path);
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  const auto number = [](const nlohmann::json& item) { return item.is_number(); };
  if (!json.is_array() || json.size() != count || !std::all_of(json.begin(), json.end(), number)) {
    refuse(path, key, fmt::format("a list of {} numbers", count), text);
  }
  return json.get<std::vector<double>>();
}

engine::Standard standard_at(const TensorFile& file, const std::string& what, std::size_t count,
                             const std::string& path) {
  engine::Standard standard{numbers_at(file, what + "_mean", count, path),
                            numbers_at(file, what + "_deviation", count, path)};
  const auto good = [](double deviation) { return deviation > 0; };
  if (!std::ranges::all_of(standard.deviation, good)) {
    throw InputError::at(path, "metadata", "{}_deviation: expected numbers above 0", what);
  }
  return standard;
}

/// "RATE BEST BAD", as the writer has it; a checkpoint without one has seen no loss yet, or has no plateau.
engine::Plateau plateau_at(const TensorFile& file, const std::string& path) {
  constexpr const char* kKey = "tyche.plateau";
  engine::Plateau plateau;
  if (!file.metadata.contains(kKey)) return plateau;
  const std::string& text = file.metadata.at(kKey);
  const char *at = text.data(), *const end = at + text.size();
  bool good = true;
  const auto take = [&](auto& value) {
    const auto [next, error] = std::from_chars(at, end, value);
    good = good && error == std::errc() && (next == end || *next == ' ');
    at = next == end ? end : next + 1;
  };
  take(plateau.rate);
  take(plateau.best);
  take(plateau.bad);
  if (!good || at != end || !(plateau.rate > 0)) refuse(path, kKey, "a rate, a loss and a number of epochs", text);
  return plateau;
}

}  // namespace

CheckpointWriter::CheckpointWriter(const RunConfig& config, std::uint32_t fold, const engine::Standard& standard,
                                   const InputScale& scale, const std::map<std::string, std::string>& memo)
    : layout_(nn::layout(config.model)) {
  for (const auto& [name, text] : memo) metadata_[std::string(kMemo) + name] = text;
  metadata_["format"] = "pt";
  metadata_["tyche.version"] = kVersion;
  metadata_["tyche.config"] = to_json(config).dump();
  metadata_["tyche.seed"] = std::to_string(config.seed);
  metadata_["tyche.fold"] = std::to_string(fold);
  metadata_["tyche.data_hash"] = config.data.hash;
  const auto put = [&](const std::string& what, const engine::Standard& own) {
    if (own.mean.empty()) return;
    metadata_[what + "_mean"] = nlohmann::json(own.mean).dump();
    metadata_[what + "_deviation"] = nlohmann::json(own.deviation).dump();
  };
  put(kTargets, standard);
  put(kNodes, scale.nodes);
  put(kEdges, scale.edges);
}

void CheckpointWriter::write(const std::filesystem::path& path, const engine::State& state,
                             Durability durability) const {
  TensorFile file;
  file.metadata = metadata_;
  file.metadata["tyche.epoch"] = std::to_string(state.epoch);
  file.metadata["tyche.step"] = std::to_string(state.step);
  const engine::Plateau& plateau = state.plateau;
  if (plateau.rate > 0) {
    file.metadata["tyche.plateau"] = fmt::format("{} {} {}", plateau.rate, plateau.best, plateau.bad);
  }
  const std::vector<float>* values[] = {&state.parameters, &state.adam_m, &state.adam_v};
  for (std::size_t part = 0; part < 3; ++part) {
    for (const nn::Tensor& tensor : layout_.tensors) {
      file.add(kMoments[part] + tensor.name, tensor.shape,
               std::span<const float>(*values[part]).subspan(tensor.offset, tensor.size));
    }
  }
  write_file(path, file.serialise(), durability);
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  const TensorFile file = TensorFile::read(path);
  const std::string name = path.string();
  const nlohmann::json json = nlohmann::json::parse(metadata_at(file, "tyche.config", name), nullptr, false);
  Checkpoint checkpoint;
  checkpoint.config = config_from_json(json, name + ": tyche.config", &checkpoint.notes);
  checkpoint.fold = static_cast<std::uint32_t>(number_at(file, "tyche.fold", name));
  checkpoint.state.epoch = static_cast<std::uint32_t>(number_at(file, "tyche.epoch", name));
  checkpoint.state.step = number_at(file, "tyche.step", name);
  if (learns_numbers(checkpoint.config) && !learns_bits(checkpoint.config)) {
    checkpoint.standard = standard_at(file, kTargets, checkpoint.config.model.classes, name);
  }
  if (const auto& data = checkpoint.config.data; data.standardise) {
    if (data.features.numbers() > 0) checkpoint.scale.nodes = standard_at(file, kNodes, data.features.numbers(), name);
    if (data.features.edge_attributes > 0) {
      checkpoint.scale.edges = standard_at(file, kEdges, data.features.edge_attributes, name);
    }
  }
  checkpoint.state.plateau = plateau_at(file, name);
  for (const auto& [key, text] : file.metadata) {
    if (key.starts_with(kMemo)) checkpoint.memo[key.substr(kMemo.size())] = text;
    if (key == "tyche.classes") checkpoint.memo["classes"] = text;  // as the Python module of 0.2.0 wrote it
  }
  const nn::Layout layout = nn::layout(checkpoint.config.model);
  std::vector<float>* values[] = {&checkpoint.state.parameters, &checkpoint.state.adam_m, &checkpoint.state.adam_v};
  for (std::size_t part = 0; part < 3; ++part) {
    for (const nn::Tensor& tensor : layout.tensors) {
      const std::vector<float> read = file.get<float>(kMoments[part] + tensor.name, tensor.shape);
      values[part]->insert(values[part]->end(), read.begin(), read.end());
    }
  }
  return checkpoint;
}

}  // namespace tyche::train
