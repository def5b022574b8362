// tyche network: what a model is, step by step.
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/field_options.hpp"
#include "datasets/dataset.hpp"
#include "nn/program_text.hpp"
#include "support/error.hpp"
#include "train/data.hpp"

namespace tyche::cli {

namespace network_command {

struct NetworkCall {
  FieldOptions fields;
  std::string data;
  std::optional<std::uint64_t> nodes, edges;
  bool toml = false;
  Common common;
};

/// The mean graph of a data set, whose columns and classes the model gets.
nn::GraphSize take_data(const NetworkCall& call, train::RunConfig& config) {
  const datasets::Dataset dataset = datasets::load_dataset(call.data);
  config.folds.count = 1;
  train::resolve(config, dataset, call.data);
  nn::GraphSize mean;
  const auto graphs = static_cast<double>(dataset.set.graphs.size());
  for (const Graph& graph : dataset.set.graphs) {
    mean.nodes += graph.num_nodes() / graphs;
    mean.edges += static_cast<double>(graph.num_edges()) / graphs;
  }
  return mean;
}

void run_network(const NetworkCall& call) {
  train::RunConfig config = train::default_config(call.fields.said().model(), call.fields.said().random());
  call.fields.said().apply(config);
  nn::GraphSize size{20, 30};
  if (!call.data.empty()) {
    size = take_data(call, config);
  } else if (config.model.on_sets()) {
    throw InputError(fmt::format("--data is required for {}: the types of sets, an input column each, are the data's",
                                 config.model.kind));
  }
  if (call.nodes) size.nodes = static_cast<double>(*call.nodes);
  if (call.edges) size.edges = static_cast<double>(*call.edges);
  if (call.data.empty()) config.model.xavier_fan = nn::xavier_fan(config.model.random_dims(), size.nodes);
  const nn::Program program = nn::program(config.model);
  if (call.common.json) {
    print(nn::to_json(program).dump(2) + "\n");
  } else {
    print(call.toml ? nn::to_toml(program) : nn::program_table(program, size));
  }
}

}  // namespace network_command

void add_network(CLI::App& root) {
  using network_command::NetworkCall;
  CLI::App* app = root.add_subcommand("network", "Show a model step by step: operations, sizes, parameters, cost");
  auto call = std::make_shared<NetworkCall>();
  app->add_option("--data", call->data,
                  "Data set that says columns, classes and types of sets; without it 2 types, 2 classes")
      ->type_name("PATH");
  call->fields.add(*app, [](const train::Field& field) {
    return field.key.starts_with("model.") ? "" : "is no part of a network, but of how it is trained";
  });
  const CLI::Range sizes(std::uint64_t{0}, std::uint64_t{1000000000});
  app->add_option("--nodes", call->nodes, "Reckon costs for a graph of this many nodes")
      ->check(sizes)
      ->default_str("the data's mean; 20");
  app->add_option("--edges", call->edges, "… and this many edges")->check(sizes)->default_str("the data's mean; 30");
  CLI::Option* toml = app->add_flag("--toml", call->toml, "Print the description in TOML");
  call->common.add_json(*app);
  app->get_option("--json")->excludes(toml);
  app->footer(
      "A line per step: what it makes, how, over which rows (docs/networks.md), how many columns, parameters and\n"
      "multiplications. Examples:\n"
      "  tyche network --model gin --layers 4\n"
      "  tyche network --model sage --rni 0.5 --toml");
  app->callback([call] { network_command::run_network(*call); });
}

}  // namespace tyche::cli
