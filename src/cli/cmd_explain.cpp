// tyche explain: which nodes and edges an answer hangs on.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/trained.hpp"
#include "engine/engine.hpp"
#include "report/look_page.hpp"
#include "train/look.hpp"

namespace tyche::cli {

namespace explain_command {

struct ExplainCall {
  TrainedModel model;
  DeviceOptions device;
  std::uint32_t graph = 0;
  std::optional<int> output;
  std::string page;
  std::optional<std::uint32_t> draws;
  std::optional<std::uint64_t> seed;
  Common common;
};

/// The rows of the JSON, the most important by what is lost without them first.
std::string table(const nlohmann::ordered_json& rows, const char* what) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto weight = [&](std::size_t i) { return std::abs(rows[i]["left_out"].get<double>()); };
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return weight(a) > weight(b); });
  std::string text = fmt::format("{:>9}  {:>6}  {:>16}  {:>9}\n", what, "type", "gradient × input", "left out");
  for (const std::size_t i : order) {
    const auto& row = rows[i];
    const std::string name = row.contains("edge")
                                 ? fmt::format("{}-{}", row["edge"][0].get<Node>(), row["edge"][1].get<Node>())
                                 : fmt::format("{}", row["node"].get<Node>());
    text +=
        fmt::format("{:>9}  {:>6}  {:>16}  {:>9.4f}\n", name, row.contains("type") ? row["type"].dump() : "",
                    row.contains("gradient_input") ? fmt::format("{:.4f}", row["gradient_input"].get<double>()) : "-",
                    row["left_out"].get<double>());
  }
  return text;
}

void run(const ExplainCall& a) {
  if (!a.page.empty()) (void)report::page_template();
  const auto [checkpoint, dataset] = a.model.open(a.graph);
  const auto engine = engine::make_engine(a.device.engine_name("auto"), a.common.threads);
  const train::LookOptions how{.draws = a.draws.value_or(16), .seed = a.seed, .threads = a.common.threads};
  const train::Explanation why = train::explain(*engine, checkpoint, dataset.set, a.graph, how, a.output);
  const nlohmann::ordered_json json = train::to_json(why, dataset.set, a.graph);
  if (!a.page.empty()) {
    report::write_explanation_page(a.page, json, dataset.set, a.graph, called());
  }
  if (a.common.json) return print(json.dump(2) + "\n");
  print(report::explained(json) + "\n\n" + table(json["nodes"], "node") + "\n" + table(json["edges"], "edge"));
}

}  // namespace explain_command

void add_explain(CLI::App& root) {
  using namespace explain_command;
  const auto [app, a] =
      add_command<ExplainCall>(root, "explain", "Which nodes and edges of a graph an answer hangs on", run);
  a->model.add(app);
  app.add_option("--graph", a->graph, "Number of the graph in the data, from 0")->required();
  app.add_option("--output", a->output, "The label (or column of targets) to explain")
      ->default_str("the label that is said; column 0");
  app.add_option("--page", a->page, "Also write a page that draws it on the graph")->type_name("FILE");
  app.add_option("--draws", a->draws, "Mean over so many draws of random inputs")->default_str("16");
  app.add_option("--seed", a->seed, "Seed of the draws; by default the run's");
  a->device.add(app);
  a->common.add(app, kThreads | kJson);
  app.footer(
      "Gradient × input: of a label its output less the mean of the others', of targets the value in its unit. Left "
      "out:\n"
      "how much the label's probability, or the value, falls when the node or the edge is not there.\n"
      "Example:\n"
      "  tyche explain runs/mine --graph 7 --page why.html");
}

}  // namespace tyche::cli
