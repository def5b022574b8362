// tyche explain: which nodes and edges an answer hangs on.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>

#include "cli/cli.hpp"
#include "cli/trained.hpp"
#include "engine/engine.hpp"
#include "report/look_page.hpp"

namespace tyche::cli {

namespace explain_command {

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
        fmt::format("{:>9}  {:>6}  {:>16}  {:>9.3g}\n", name, row.contains("type") ? row["type"].dump() : "",
                    row.contains("gradient_input") ? fmt::format("{:.3g}", row["gradient_input"].get<double>()) : "-",
                    row["left_out"].get<double>());
  }
  return text;
}

void run(const Call& call) {
  const std::string page = call.word("page");
  if (!page.empty()) (void)report::page_template();
  const std::uint32_t graph = *call.small("graph");
  const auto [checkpoint, dataset] = open_trained(call, graph);
  const auto engine = engine::make_engine(call.engine().name("auto"), call.threads());
  const auto output = call.says("output") ? std::optional(call.value("output").get<int>()) : std::nullopt;
  const train::Explanation why = train::explain(*engine, checkpoint, dataset.set, graph, look_of(call, 16), output);
  const nlohmann::ordered_json json = train::to_json(why, dataset.set, graph);
  if (!page.empty()) report::write_explanation_page(page, json, dataset.set, graph, called());
  if (call.json()) return print(json.dump(2) + "\n");
  print(report::explained(json) + "\n\n" + table(json["nodes"], "node") + "\n" + table(json["edges"], "edge"));
}

const Command command("explain", run);

}  // namespace explain_command

}  // namespace tyche::cli
