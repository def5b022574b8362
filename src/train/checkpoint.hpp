#pragma once
/// A trial on disk, in one safetensors file. Parameters carry the names of PyTorch's state_dict, so that
/// `safetensors.torch.load_file` gives what a PyTorch module of the same shape can load; Adam's moments stand beside
/// them as adam.m.NAME and adam.v.NAME. The metadata (all text): format "pt", tyche.version, tyche.config (JSON of the
/// RunConfig), tyche.seed, tyche.fold, tyche.data_hash, tyche.epoch, tyche.step; of real targets tyche.target_mean and
/// tyche.target_deviation (JSON lists), with which outputs become targets: output · deviation + mean; where attributes
/// are standardised, tyche.node_mean, tyche.node_deviation, tyche.edge_mean and tyche.edge_deviation; where the rate
/// follows a plateau, tyche.plateau ("RATE BEST BAD").
///
///   const CheckpointWriter writer(config, fold);
///   writer.write("fold-3/last.safetensors", state);          // whole or not at all
///   const Checkpoint c = read_checkpoint("fold-3/last.safetensors");
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "engine/engine.hpp"
#include "support/file.hpp"
#include "train/config.hpp"

namespace tyche::train {

struct Checkpoint {
  RunConfig config;
  std::uint32_t fold = 0;
  engine::State state;
  engine::Standard standard;                  ///< of real targets, in the fold's training graphs
  InputScale scale;                           ///< of attributes, likewise
  Notes notes;                                ///< on a configuration of an earlier version, see read_config
  std::map<std::string, std::string> memo{};  ///< what whoever saved it wrote beside it, by name: no part of the model
};

class CheckpointWriter {
 public:
  CheckpointWriter(const RunConfig& config, std::uint32_t fold, const engine::Standard& standard = {},
                   const InputScale& scale = {}, const std::map<std::string, std::string>& memo = {});
  /// Throws IoError where the disk says no; what stood under the name stays then.
  void write(const std::filesystem::path& path, const engine::State& state,
             Durability durability = Durability::disk) const;

 private:
  nn::Layout layout_;
  std::map<std::string, std::string> metadata_;
};

/// Throws InputError where the file is no checkpoint of this program, or its tensors are not those its configuration
/// makes.
[[nodiscard]] Checkpoint read_checkpoint(const std::filesystem::path& path);

/// The trained network for those who have PyTorch and not this program: model.py, a class Network(torch.nn.Module)
/// written out of the network's description (nn/program.hpp), weights.safetensors, and a README.md that says how they
/// are used. `folder` must be new or empty. Throws IoError where it is not, or cannot be written.
void export_model(const Checkpoint& checkpoint, const std::filesystem::path& folder);

}  // namespace tyche::train
