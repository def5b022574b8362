// tyche network: what a model is, step by step.
#include "cli/cli.hpp"
#include "nn/description.hpp"
#include "nn/program_text.hpp"
#include "train/data.hpp"

namespace tyche::cli::network_command {

/// The mean graph of a data set, whose columns and classes the model gets.
nn::GraphSize take_data(const std::string& path, train::RunConfig& config) {
  const datasets::Dataset dataset = datasets::load_dataset(path);
  config.folds.count = 1;
  train::resolve(config, dataset, path);
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

void run(const Call& call) {
  const std::string data = call.word("data"), page = call.word("page");
  const bool toml = call.flag("toml");
  train::RunConfig config = train::call_config(call.fields().model(), call.fields().random());
  call.fields().apply(config);
  nn::GraphSize size{20, 30};
  nn::ModelConfig& model = config.model;
  const bool open = data.empty(), described = !model.network.empty();
  if (!open) {
    size = take_data(data, config);
  } else if (model.on_sets() && !described) {
    if (!toml && !call.json()) {
      throw InputError("--data is required for {}: the types of sets, an input column each, are the data's",
                       model.kind);
    }
    model.pair_types = model.triple_types = {0};
  }
  if (const auto nodes = call.whole("nodes")) size.nodes = static_cast<double>(*nodes);
  if (const auto edges = call.whole("edges")) size.edges = static_cast<double>(*edges);
  if (open && !described) model.xavier_fan = nn::xavier_fan(model.random_dims(), size.nodes);
  const nn::Program program = program_of(model);
  if (!page.empty()) {
    write_file(page, nn::program_page(program, size, fmt::format("A network: {}", model.kind)));
    return print(fmt::format("{}\n", page));
  }
  const std::optional<nn::Program> other = open ? std::optional(elsewhere(model)) : std::nullopt;
  const nn::Program* const differs = other ? &*other : nullptr;
  call.json() ? print(nn::to_json(program, differs).dump(2) + "\n")
              : print(toml ? nn::to_toml(program, differs) : nn::program_table(program, size));
}

const Command command("network", run, [](const train::Field& field) {
  const bool own = field.key.starts_with("model.") || field.key == "recipe";
  return own ? "" : "is no part of a network, but of how it is trained";
});

}  // namespace tyche::cli::network_command
