#include "report/look_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/viewer.hpp"
#include "support/error.hpp"
#include "support/words.hpp"
#include "train/objective.hpp"
#include "wl/colour_refinement.hpp"

namespace tyche::report {

namespace {

Json page_of(const char* shows, const std::string& title, const std::string& command) {
  Json page = page_head(shows, command);
  page["title"] = title;
  return page;
}

// What the page draws (BareGraph of web/src/data.ts): it finds the places of nodes itself.
Json bare_graph(const Graph& own, std::uint32_t index) {
  return {
      {"index", index}, {"label", 0}, {"nodes", own.num_nodes()}, {"type", own.types()}, {"edges", flat_edges(own)}};
}

// What is said of the nodes of one graph, how far off it is, and whether training saw any.
struct SaidOfGraph {
  Json truth, said, part;  ///< null: not known, not asked
  double off = 0;          ///< wrong nodes; of numbers the sum of errors
  train::Part seen = train::Part::fresh;
};

}  // namespace

Json embedding_page(engine::Engine& engine, const train::Checkpoint& checkpoint, const datasets::Dataset& dataset,
                    bool of_nodes, const NpyMatrix& rows, const train::LookOptions& how, const std::string& command) {
  if (checkpoint.config.model.unit != Unit::graph) throw InputError("the page is of models that answer for graphs");
  const GraphSet& set = dataset.set;
  const train::RunConfig& config = checkpoint.config;
  Json page = page_of("embedding",
                      fmt::format("{}: {} as {} sees them", set.name, counted(rows.rows, of_nodes ? "node" : "graph"),
                                  config.model.kind),
                      command);
  const NpyMatrix points = train::two_dimensions(rows);
  train::PredictOptions options;
  options.draws = how.draws;
  options.seed = how.seed;
  const std::vector<train::Prediction> said = train::predict(engine, checkpoint, set, options);
  std::string why;
  std::vector<train::Part> parts(set.graphs.size(), train::Part::fresh);
  if (const auto own = train::known_graphs(dataset, config, why)) {
    parts = train::parts_of(*own, dataset, config, checkpoint.fold);
  }
  const bool numbers = train::learns_numbers(config);
  const std::size_t step = (points.rows + kMostDots - 1) / kMostDots;
  page["numbers"] = numbers;
  page["of"] = of_nodes ? "nodes" : "graphs";
  page["rows"] = points.rows;
  page["dots"] = Json::array();
  const train::Learned known(set, config);
  for (std::size_t g = 0, row = 0; g < set.graphs.size(); ++g) {
    const Json truth = numbers ? (known.rows.empty() ? Json() : Json(known.rows[g * known.columns]))
                               : (set.labels.empty() ? Json() : Json(set.labels[g]));
    const Json answer = numbers ? Json(said[g].values[0]) : Json(said[g].label);
    for (std::size_t i = 0; i < (of_nodes ? set.graphs[g].num_nodes() : 1); ++i, ++row) {
      if (row % std::max<std::size_t>(1, step) != 0) continue;
      page["dots"].push_back({rounded(points.values[2 * row]), rounded(points.values[2 * row + 1]), g, truth, answer,
                              train::part_name(parts[g])});
    }
  }
  return page;
}

std::string explained(const Json& why) {
  const auto graph = why["graph"].get<std::uint32_t>();
  if (why.contains("value")) {
    return fmt::format("Graph {}: column {} is said to be {:.4g}{}.", graph, why["column"].get<std::size_t>(),
                       why["value"].get<double>(),
                       why.contains("target") ? fmt::format(" (true: {:.4g})", why["target"].get<double>()) : "");
  }
  return fmt::format("Graph {}: label {} is said (probability {:.4f}){}; label {} is explained.", graph,
                     why["said"].get<int>(), why["probability"].get<double>(),
                     why.contains("true_label") ? fmt::format(", {} is true", why["true_label"].get<int>()) : "",
                     why["label"].get<int>());
}

void write_explanation_page(const std::filesystem::path& path, const Json& why, const GraphSet& set,
                            std::uint32_t graph, const std::string& command) {
  const Graph& own = set.graphs[graph];
  if (own.num_nodes() > kMaxDrawnNodes) {
    throw InputError("graph {} has {} nodes; the page draws graphs of up to {}", graph, own.num_nodes(),
                     kMaxDrawnNodes);
  }
  Json page = page_of("explanation", fmt::format("{}, graph {}: what the answer hangs on", set.name, graph), command);
  page["lead"] = explained(why);
  page["why"] = why;
  page["drawn"] = bare_graph(own, graph);
  write_page(path, page);
}

void write_nodes_page(const std::filesystem::path& path, const GraphSet& set, const train::RunConfig& config,
                      const train::Learned& truth, std::span<const train::Answered> answered,
                      const std::string& command) {
  if (truth.units.unit() != Unit::node) throw InputError("the page of predict draws values of nodes; these are others");
  const bool numbers = train::learns_numbers(config);
  std::map<std::uint32_t, SaidOfGraph> by_graph;
  for (const train::Answered& own : answered) {
    const Units::Place place = truth.units.place(own.graph);
    const std::size_t nodes = set.graphs[place.graph].num_nodes();
    if (nodes > kMaxDrawnNodes) continue;
    SaidOfGraph& of = by_graph[place.graph];
    for (Json* list : {&of.truth, &of.said, &of.part}) {
      if (list->is_null()) *list = Json(std::vector<Json>(nodes));
    }
    of.seen = std::max(of.seen, own.part);
    of.part[place.index] = train::part_name(own.part);
    if (numbers) {
      of.said[place.index] = own.said.values[0];
      const float target = truth.columns == 0 ? std::nanf("") : truth.rows[own.graph * truth.columns];
      if (!std::isnan(target)) of.truth[place.index] = target, of.off += std::abs(own.said.values[0] - target);
    } else {
      of.said[place.index] = own.said.label;
      const int label = truth.labels.empty() ? kNoLabel : truth.labels[own.graph];
      if (label != kNoLabel) of.truth[place.index] = label, of.off += own.said.label != label ? 1 : 0;
    }
  }
  if (by_graph.empty()) {
    throw InputError("the page draws graphs of up to {} nodes, and has none to draw", kMaxDrawnNodes);
  }
  // Graphs that training did not see first, and of those the ones that it says most wrong of.
  std::vector<std::uint32_t> order;
  for (const auto& [g, of] : by_graph) order.push_back(g);
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    const SaidOfGraph &x = by_graph[a], &y = by_graph[b];
    return x.seen != y.seen ? x.seen < y.seen : x.off > y.off;
  });
  order.resize(std::min(order.size(), kMostGraphs));
  Json page = page_of("nodes", fmt::format("{}: what {} says of nodes", set.name, config.model.kind), command);
  page["numbers"] = numbers;
  page["of"] = by_graph.size();
  page["graphs"] = Json::array();
  std::vector<Graph> drawn;
  for (const std::uint32_t g : order) drawn.push_back(set.graphs[g]);
  const wl::Colouring colours = wl::refine(drawn);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const SaidOfGraph& of = by_graph[order[i]];
    page["graphs"].push_back({{"drawn", bare_graph(drawn[i], order[i])},
                              {"truth", of.truth},
                              {"said", of.said},
                              {"part", of.part},
                              {"colour", colours.of_graph(i)}});
  }
  write_page(path, page);
}

}  // namespace tyche::report
