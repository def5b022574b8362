#include "report/look_page.hpp"

#include <fmt/format.h>

#include <cmath>

#include "graph/drawing.hpp"
#include "report/viewer.hpp"
#include "support/counted.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/machine.hpp"
#include "support/version.hpp"
#include "train/objective.hpp"
#include "train/parts.hpp"

namespace tyche::report {

namespace {

using Page = nlohmann::ordered_json;

Page page_of(const char* shows, const std::string& title, const std::string& command) {
  return {{"version", kVersion}, {"made", utc_now()}, {"command", command}, {"shows", shows}, {"title", title}};
}

double three_digits(double value) { return std::round(value * 1000) / 1000; }

}  // namespace

nlohmann::ordered_json embedding_page(engine::Engine& engine, const train::Checkpoint& checkpoint,
                                      const datasets::Dataset& dataset, bool of_nodes, const NpyMatrix& rows,
                                      const train::LookOptions& how, const std::string& command) {
  if (checkpoint.config.model.unit != Unit::graph) throw InputError("the page is of models that answer for graphs");
  const GraphSet& set = dataset.set;
  const train::RunConfig& config = checkpoint.config;
  Page page = page_of("embedding",
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
  page["dots"] = Page::array();
  for (std::size_t g = 0, row = 0; g < set.graphs.size(); ++g) {
    const Page truth = numbers ? (set.targets.empty() ? Page() : Page(set.targets[g * set.target_dim]))
                               : (set.labels.empty() ? Page() : Page(set.labels[g]));
    const Page answer = numbers ? Page(said[g].values[0]) : Page(said[g].label);
    for (std::size_t i = 0; i < (of_nodes ? set.graphs[g].num_nodes() : 1); ++i, ++row) {
      if (row % std::max<std::size_t>(1, step) != 0) continue;
      page["dots"].push_back({three_digits(points.values[2 * row]), three_digits(points.values[2 * row + 1]), g, truth,
                              answer, train::part_name(parts[g])});
    }
  }
  return page;
}

void write_embedding_page(const std::filesystem::path& path, const nlohmann::ordered_json& page) {
  write_file(path, fill_page(page_template(), page));
}

std::string explained(const nlohmann::ordered_json& why) {
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

void write_explanation_page(const std::filesystem::path& path, const nlohmann::ordered_json& why, const GraphSet& set,
                            std::uint32_t graph, const std::string& command) {
  const Graph& own = set.graphs[graph];
  if (own.num_nodes() > kMaxDrawnNodes) {
    throw InputError(fmt::format("graph {} has {} nodes; the page draws graphs of up to {}", graph, own.num_nodes(),
                                 kMaxDrawnNodes));
  }
  Page page = page_of("explanation", fmt::format("{}, graph {}: what the answer hangs on", set.name, graph), command);
  page["lead"] = explained(why);
  page["why"] = why;
  const Drawing drawing = draw(own);
  Page drawn = {{"index", graph},
                {"label", 0},
                {"nodes", own.num_nodes()},
                {"width", three_digits(drawing.width)},
                {"height", three_digits(drawing.height)},
                {"planar", drawing.planar},
                {"type", own.types()}};
  drawn["x"] = drawn["y"] = drawn["edges"] = Page::array();
  for (const Point& p : drawing.points) {
    drawn["x"].push_back(three_digits(p.x));
    drawn["y"].push_back(three_digits(p.y));
  }
  for (const auto& [u, v] : own.edges()) {
    drawn["edges"].push_back(u);
    drawn["edges"].push_back(v);
  }
  page["drawn"] = drawn;
  write_file(path, fill_page(page_template(), page));
}

}  // namespace tyche::report
