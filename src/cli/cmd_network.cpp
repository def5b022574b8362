// tyche network: what a model is, step by step.
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/field_options.hpp"
#include "datasets/dataset.hpp"
#include "nn/description.hpp"
#include "nn/program_text.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "train/data.hpp"

namespace tyche::cli {

namespace network_command {

struct NetworkCall {
  FieldOptions fields;
  std::string data;
  std::optional<std::uint64_t> nodes, edges;
  bool toml = false;
  std::string page;
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

nn::Program program_of(const nn::ModelConfig& model) {
  return model.network.empty() ? nn::program(model) : nn::open_program(model.network, model);
}

/// The same model on data of other sizes: what differs follows from the data.
nn::Program elsewhere(nn::ModelConfig model) {
  ++model.classes;
  ++model.input_features;
  const bool described = !model.network.empty();  // it says itself which of these it reads
  if (model.edge_features > 0 || described) model.edge_features += 2;
  for (auto* types : {&model.pair_types, &model.triple_types}) {
    if (types->empty() && described) types->push_back(0);
    if (!types->empty()) types->push_back(types->back() + 1);
  }
  model.xavier_fan += 1;
  return program_of(model);
}

void run_network(const NetworkCall& call) {
  train::RunConfig config = train::call_config(call.fields.said().model(), call.fields.said().random());
  call.fields.said().apply(config);
  nn::GraphSize size{20, 30};
  nn::ModelConfig& model = config.model;
  const bool open = call.data.empty(), described = !model.network.empty();
  if (!open) {
    size = take_data(call, config);
  } else if (model.on_sets() && !described) {
    if (!call.toml && !call.common.json) {
      throw InputError(fmt::format("--data is required for {}: the types of sets, an input column each, are the data's",
                                   model.kind));
    }
    model.pair_types = model.triple_types = {0};
  }
  if (call.nodes) size.nodes = static_cast<double>(*call.nodes);
  if (call.edges) size.edges = static_cast<double>(*call.edges);
  if (open && !described) model.xavier_fan = nn::xavier_fan(model.random_dims(), size.nodes);
  const nn::Program program = program_of(model);
  if (!call.page.empty()) {
    write_file(call.page, nn::program_page(program, size, fmt::format("A network: {}", model.kind)));
    return print(fmt::format("{}\n", call.page));
  }
  const std::optional<nn::Program> other = open ? std::optional(elsewhere(model)) : std::nullopt;
  const nn::Program* const differs = other ? &*other : nullptr;
  call.common.json ? print(nn::to_json(program, differs).dump(2) + "\n")
                   : print(call.toml ? nn::to_toml(program, differs) : nn::program_table(program, size));
}

}  // namespace network_command

void add_network(CLI::App& root) {
  using network_command::NetworkCall;
  const auto [app, call] = add_command<NetworkCall>(
      root, "network", "Show a model step by step: operations, sizes, parameters, cost", network_command::run_network);
  app.add_option("--data", call->data,
                 "Data set that says columns, classes and types of sets; without it 2 types, 2 classes")
      ->type_name("PATH");
  call->fields.add(app, [](const train::Field& field) {
    const bool own = field.key.starts_with("model.") || field.key == "recipe";
    return own ? "" : "is no part of a network, but of how it is trained";
  });
  const CLI::Range sizes(std::uint64_t{0}, std::uint64_t{1000000000});
  app.add_option("--nodes", call->nodes, "Reckon costs for a graph of this many nodes")
      ->check(sizes)
      ->default_str("the data's mean; 20");
  app.add_option("--edges", call->edges, "… and this many edges")->check(sizes)->default_str("the data's mean; 30");
  CLI::Option* toml = app.add_flag("--toml", call->toml, "Print the description in TOML");
  call->common.add(app, kJson);
  app.get_option("--json")->excludes(toml);
  app.add_option("--page", call->page, "Draw it: write a page with a box per step")
      ->type_name("FILE.html")
      ->excludes(toml)
      ->excludes(app.get_option("--json"));
  app.footer(
      "A line per step: what it makes, how, over which rows (docs/networks.md), how many columns, parameters and\n"
      "multiplications. Examples:\n"
      "  tyche network --model gin --layers 4\n"
      "  tyche network --model sage --rni 0.5 --toml > mine.toml\n"
      "  tyche network --network mine.toml --page mine.html");
}

}  // namespace tyche::cli
