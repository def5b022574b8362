#pragma once
/// A trained network for those who have PyTorch and not this program: model.py, a class Network(torch.nn.Module)
/// written out of the network's description (nn/program.hpp), weights.safetensors, and a README.md that says how they
/// are used.
///
///   export_model(read_checkpoint(path), "folder");       // python3 folder/model.py graphs.jsonl
#include <filesystem>

#include "train/checkpoint.hpp"

namespace tyche::train {

/// `folder` must be new or empty. Throws IoError where it is not, or cannot be written.
void export_model(const Checkpoint& checkpoint, const std::filesystem::path& folder);

}  // namespace tyche::train
