#pragma once
/// Pages that look into a trained model: embeddings in two dimensions, an explanation drawn on its graph.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "datasets/dataset.hpp"
#include "report/page.hpp"
#include "train/look.hpp"

namespace tyche::report {

/// What the page shows (web/src/look.ts): a point per row with label or target, prediction and part of its graph. Of
/// more than kMostDots rows every second, third, … is shown.
[[nodiscard]] nlohmann::ordered_json embedding_page(engine::Engine& engine, const train::Checkpoint& checkpoint,
                                                    const datasets::Dataset& dataset, bool of_nodes,
                                                    const NpyMatrix& rows, const train::LookOptions& how,
                                                    const std::string& command);
inline constexpr std::size_t kMostDots = 5000;
void write_embedding_page(const std::filesystem::path& path, const nlohmann::ordered_json& page);

/// "Graph 7: label 1 (probability 0.9812), true 1."
[[nodiscard]] std::string explained(const nlohmann::ordered_json& why);
/// `why` as train::to_json gives it. Throws InputError on a graph of more than kMaxDrawnNodes nodes.
void write_explanation_page(const std::filesystem::path& path, const nlohmann::ordered_json& why, const GraphSet& set,
                            std::uint32_t graph, const std::string& command);

}  // namespace tyche::report
