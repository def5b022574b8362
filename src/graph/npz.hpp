#pragma once
/// One graph as arrays in NumPy's .npz: `edges` (m × 2, or 2 × m as PyTorch Geometric has it), and where there are any
/// `num_nodes`, `node_features`, `node_types`, `node_labels` (a negative one is missing), `node_targets`,
/// `edge_targets`, `edge_features`, `edge_labels` or `weight`, and masks `train_mask`, `validation_mask`, `test_mask`
/// (n, or n × splits). Read only. docs/formats.md says more.
///
///   numpy.savez("cora.npz", edges=edges, node_features=x, node_labels=y, train_mask=train, test_mask=test)
#include <string_view>

#include "graph/cleaning.hpp"
#include "graph/io.hpp"

namespace tyche {

/// Whether these first bytes are those of a zip archive whose first member is a .npy file.
[[nodiscard]] bool is_npz(std::string_view head);
[[nodiscard]] GraphSet parse_npz(std::string_view bytes, std::string_view name, Cleaning* cleaning = nullptr);

}  // namespace tyche
