#pragma once
/// ACR networks as safetensors files.
///
/// Tensors: layer.<l>.<self|neighbour|readout>.<offsets|columns|values>, layer.<l>.bias, head.<offsets|columns|values>,
/// head.bias; offsets are I64 (rows + 1), columns I32, values and biases F64. Metadata: kind "acr", inputs, layers,
/// activation, and what the caller adds.
#include <filesystem>
#include <map>
#include <string>

#include "theory/acr.hpp"

namespace tyche::theory {

/// Throws InputError where a layer has 2^31 units or more, IoError where the disk says no.
void save_acr(const std::filesystem::path& path, const AcrNetwork& network,
              const std::map<std::string, std::string>& metadata = {});

/// Throws InputError where the file is no ACR network (it is checked throughout), IoError where it cannot be read.
[[nodiscard]] AcrNetwork load_acr(const std::filesystem::path& path);

}  // namespace tyche::theory
