#pragma once
/// Pages that look into a trained model: embeddings in two dimensions, an explanation drawn on its graph, what it says
/// of nodes.

#include "datasets/dataset.hpp"
#include "report/page.hpp"
#include "train/parts.hpp"
#include "train/predict.hpp"

namespace tyche::report {

/// What the page shows (web/src/look.ts): a point per row with label or target, prediction and part of its graph. Of
/// more than kMostDots rows every second, third, … is shown.
[[nodiscard]] Json embedding_page(engine::Engine& engine, const train::Checkpoint& checkpoint,
                                  const datasets::Dataset& dataset, bool of_nodes, const NpyMatrix& rows,
                                  const train::LookOptions& how, const std::string& command);
inline constexpr std::size_t kMostDots = 5000;

/// "Graph 7: label 1 (probability 0.9812), true 1."
[[nodiscard]] std::string explained(const Json& why);
/// `why` as train::to_json gives it. Throws InputError on a graph of more than kMaxDrawnNodes nodes.
void write_explanation_page(const std::filesystem::path& path, const Json& why, const GraphSet& set,
                            std::uint32_t graph, const std::string& command);

/// Graphs of up to kMaxDrawnNodes nodes, coloured by the truth, by what is said and by 1-WL: at most kMostGraphs, first
/// those that training did not see, and of those the worst. Throws InputError where there is none, or values are not of
/// nodes.
inline constexpr std::size_t kMostGraphs = 24;
void write_nodes_page(const std::filesystem::path& path, const GraphSet& set, const train::RunConfig& config,
                      const train::Learned& truth, std::span<const train::Answered> answered,
                      const std::string& command);

}  // namespace tyche::report
