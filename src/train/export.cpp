#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/core/inputs.hpp"
#include "graph/patterns.hpp"
#include "nn/program.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/safetensors.hpp"
#include "support/share.hpp"
#include "support/version.hpp"
#include "train/checkpoint.hpp"
#include "train/objective.hpp"

namespace tyche::train {

namespace {

/// The lines of the network's class: a tensor each, and a step each.
class PythonWriter {
 public:
  explicit PythonWriter(const nn::Program& program) : program_(program) {}

  [[nodiscard]] std::string shapes() const {
    std::string out;
    for (const nn::Tensor& tensor : program_.parameters.tensors) {
      out += fmt::format("        {}: {},\n", quoted(tensor.name), nlohmann::json(tensor.shape).dump());
    }
    return out;
  }
  [[nodiscard]] std::string running() const {
    std::vector<std::string> names;
    for (const nn::Tensor& tensor : program_.parameters.tensors) {
      if (tensor.running) names.push_back(tensor.name);
    }
    return nlohmann::json(names).dump();
  }
  [[nodiscard]] std::string steps() const {
    std::string out;
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      out += fmt::format("        v{} = {}  # {}\n", s, value_of(program_.steps[s]), program_.steps[s].name);
    }
    return out + fmt::format("        return v{}\n", program_.steps.size() - 1);
  }

 private:
  static std::string quoted(std::string_view text) { return nlohmann::json(std::string(text)).dump(); }
  [[nodiscard]] std::string tensor(std::size_t index) const {
    return fmt::format("p({})", quoted(program_.parameters.tensors[index].name));
  }
  [[nodiscard]] std::string read(const nn::Term& term, nn::Space to) const {
    if (term.link == nn::Link::own) return fmt::format("v{}", term.value);
    return fmt::format("graph.read(v{}, \"{}\", \"{}\", \"{}\", \"{}\")", term.value, nn::name(term.link),
                       nn::name(term.reduce), nn::name(program_.steps[term.value].space), nn::name(to));
  }
  [[nodiscard]] static std::string function(nn::Activation activation) {
    return fmt::format("{}.{}", activation == nn::Activation::tanh ? "torch" : "F", nn::name(activation));
  }
  [[nodiscard]] static std::string values(const nn::Step& step, const char* between) {
    std::vector<std::string> names;
    for (const nn::Term& term : step.terms) names.push_back(fmt::format("v{}", term.value));
    return fmt::format("{}", fmt::join(names, between));
  }
  [[nodiscard]] static std::string input(const nn::Step& step) {
    if (step.source == nn::Source::types) {
      return fmt::format("graph.types(\"{}\", {})", nn::name(step.space), nlohmann::json(step.types).dump());
    }
    if (step.source == nn::Source::distance) return fmt::format("graph.distance({})", step.columns);
    return fmt::format("graph.{}", step.source == nn::Source::drawn ? "random" : nn::name(step.source));
  }
  [[nodiscard]] std::string value_of(const nn::Step& step) const {
    const std::string first = step.terms.empty() ? "" : fmt::format("v{}", step.terms.front().value);
    switch (step.operation) {
      case nn::Operation::input:
        return input(step);
      case nn::Operation::linear: {
        std::vector<std::string> terms;
        for (const nn::Term& term : step.terms) {
          terms.push_back(fmt::format("{} @ {}.T", read(term, step.space), tensor(term.weight)));
        }
        if (step.bias != nn::kNone) terms.push_back(tensor(step.bias));
        return fmt::format("{}", fmt::join(terms, " + "));
      }
      case nn::Operation::aggregate: {
        const nn::Term& term = step.terms.front();
        std::string out = read(term, step.space);
        if (step.arcs != nn::kNone) {
          out =
              fmt::format("graph.messages({}, v{}, {}, \"{}\", \"{}\", \"{}\")", first, step.arcs,
                          function(step.activation), nn::name(term.link), nn::name(term.reduce), nn::name(step.space));
        }
        const std::string own = step.onto == nn::kNone ? first : fmt::format("v{}", step.onto);
        if (step.epsilon != nn::kNone) return fmt::format("{} + (1 + {}) * {}", out, tensor(step.epsilon), own);
        return step.onto == nn::kNone ? out : fmt::format("{} + {}", own, out);
      }
      case nn::Operation::normalise: {  // as in tests: by what batches were like in training
        const std::string ends = fmt::format("{}, {}", tensor(step.terms.front().weight), tensor(step.bias));
        if (step.norm == nn::Norm::layer) {
          return fmt::format("F.layer_norm({}, [{}], {}, {})", first, step.columns, ends, nn::kNormEpsilon);
        }
        return fmt::format("F.batch_norm({}, {}, {}, {}, False, 0.1, {})", first, tensor(step.mean),
                           tensor(step.variance), ends, nn::kNormEpsilon);
      }
      case nn::Operation::product:
        return fmt::format("graph.product({})", values(step, ", "));
      case nn::Operation::concat:
        return fmt::format("torch.cat([{}], 1)", values(step, ", "));
      case nn::Operation::add:
        return values(step, " + ");
      case nn::Operation::activate:
        return fmt::format("{}({})", function(step.activation), first);
      case nn::Operation::dropout:
        return fmt::format("F.dropout({}, {}, self.training)", first, step.share);
    }
    return first;
  }

  const nn::Program& program_;
};

/// How one random feature is drawn: its distribution, and what the number is multiplied with.
std::string distribution_of(const nn::ModelConfig& model) {
  if (model.random_dims() == 0) return "None";
  return fmt::format("(\"{}\", {})", engine::is_normal(model) ? "normal" : "uniform", engine::feature_scale(model));
}

std::string constants(const Checkpoint& checkpoint) {
  const RunConfig& config = checkpoint.config;
  const FeatureSpec& spec = config.data.features;
  const auto list = [](const auto& values) { return nlohmann::json(values).dump(); };
  const auto scale = [&](const engine::Standard& own) {
    return fmt::format("({}, {})", list(own.mean), list(own.deviation));
  };
  std::string out = "# What the network was trained on.\n";
  const auto add = [&](const char* name, const std::string& value, const char* why) {
    out += fmt::format("{} = {}  # {}\n", name, value, why);
  };
  add("TYPES", list(spec.types), "node types, a column each");
  const auto lists = [&](std::vector<std::vector<std::uint32_t>> own) {
    for (auto& values : own) values.resize(values.size() > 1 ? values.size() : 0);  // one value says nothing
    return list(own);
  };
  add("CATEGORIES", lists(spec.categories), "of every column beside the type the values, a column each");
  add("ATTRIBUTES", std::to_string(spec.attributes), "columns of numbers per node, behind those");
  auto counts = nlohmann::json::array();
  for (const Pattern& pattern : spec.counts.empty() ? std::vector<Pattern>{} : parse_patterns(spec.counts)) {
    counts.push_back({pattern.graph.num_nodes(), pattern.graph.edges()});
  }
  add("COUNTS", counts.dump(), "small graphs (nodes, edges): how many copies a node is in, a column each behind those");
  add("NODE_SCALE", scale(checkpoint.scale.nodes), "their means and deviations in training; none: as they are");
  add("EDGES", spec.edges ? "True" : "False", "whether edges' labels and attributes are looked at");
  add("EDGE_LABELS", list(spec.edge_labels), "a column each");
  add("EDGE_CATEGORIES", lists(spec.edge_categories), "as CATEGORIES");
  add("EDGE_ATTRIBUTES", std::to_string(spec.edges ? spec.edge_attributes : 0), "columns of numbers per edge");
  add("EDGE_SCALE", scale(checkpoint.scale.edges), "as NODE_SCALE");
  add("OTHER", spec.other ? "True" : "False", "one more column for types and labels that training did not see");
  add("RANDOM", std::to_string(config.model.random_dims() + config.model.drawn_columns()), "random columns per node");
  add("DISTRIBUTION", distribution_of(config.model), "of random features: how they are drawn, and their scale");
  add("ROOTS", std::to_string(config.model.eval_roots), "nodes u of pairs (u, v), drawn afresh; 0: all");
  add("UNIT", fmt::format("\"{}\"", name(config.model.unit)), "what has a value");
  add("WEIGHTED", spec.weighted ? "True" : "False", "whether messages are multiplied by the edges' weights");
  add("LABELS", list(config.data.labels), "what the outputs are called");
  add("BINARY", learns_bits(config) ? "True" : "False", "whether outputs are logits of a 1, each by itself");
  if (!learns_numbers(config)) {
    add("TARGET_SCALE", "None", "outputs are logits");
  } else if (checkpoint.standard.mean.empty()) {
    const std::vector<double> zeros(config.model.classes, 0.0), ones(config.model.classes, 1.0);
    add("TARGET_SCALE", fmt::format("({}, {})", list(zeros), list(ones)), "outputs are the targets");
  } else {
    add("TARGET_SCALE", scale(checkpoint.standard), "targets are output * deviation + mean");
  }
  return out;
}

std::string readme(const Checkpoint& checkpoint) {
  const nn::ModelConfig& model = checkpoint.config.model;
  std::string random;
  if (model.drawn_columns() > 0) {
    random = fmt::format(
        "\nIts input has {} columns per node that are drawn at random ({}): give them as the key `random`, a list with "
        "a list\nof {} numbers per node. `tyche.random_columns` (Python) draws them as training did.\n",
        model.drawn_columns(), nn::name(model.random), model.drawn_columns());
  } else if (model.random_dims() > 0) {
    random = fmt::format(
        "\nIts input has {} random features per node ({}). They are drawn afresh for every graph, from PyTorch's\n"
        "generator, unless a graph has the key `random`: a list with a list of {} numbers per node. Answers are meant "
        "to be\naveraged over several draws.\n",
        model.random_dims(), nn::name(model.distribution), model.random_dims());
  }
  const RunConfig& config = checkpoint.config;
  const std::string answers = learns_bits(config)      ? "its `values`, the chance of a 1 in each column"
                              : learns_numbers(config) ? "its `values` in the targets' unit"
                                                       : "its `label`, and the `logits` of all";
  const std::string unit(name(model.unit));
  return filled("share/export/README.md",
                {{"@KIND@", model.kind},
                 {"@PARAMETERS@", std::to_string(nn::layout(model).learned())},
                 {"@FOLD@", std::to_string(checkpoint.fold)},
                 {"@EPOCHS@", std::to_string(checkpoint.state.epoch)},
                 {"@VERSION@", kVersion},
                 {"@ANSWERS@", answers + (unit == "graph" ? "" : fmt::format(", a list with an entry per {}", unit))},
                 {"@UNIT@", unit},
                 {"@RANDOM@", random}});
}

}  // namespace

void export_model(const Checkpoint& checkpoint, const std::filesystem::path& folder) {
  const nn::ModelConfig& model = checkpoint.config.model;
  std::error_code unknown;
  if (std::filesystem::exists(folder, unknown) && !std::filesystem::is_empty(folder, unknown)) {
    throw IoError("{}: is there already; a network is written to a new folder", folder.string());
  }
  std::filesystem::create_directories(folder, unknown);
  if (unknown) throw IoError::from_errno(folder.string(), "make", unknown.value());
  const nn::Program program = nn::program(model);
  TensorFile weights;
  weights.metadata["format"] = "pt";
  for (const nn::Tensor& tensor : program.parameters.tensors) {
    weights.add(tensor.name, tensor.shape,
                std::span<const float>(checkpoint.state.parameters).subspan(tensor.offset, tensor.size));
  }
  weights.write(folder / "weights.safetensors");
  const PythonWriter network(program);
  write_file(folder / "model.py",
             filled("share/export/model.py", {{"# @CONSTANTS@\n", constants(checkpoint)},
                                              {"@ROWS@", std::string(nn::name(program.steps.back().space))},
                                              {"        # @SHAPES@\n", network.shapes()},
                                              {"[\"@RUNNING@\"]", network.running()},
                                              {"        # @STEPS@\n", network.steps()}}));
  write_file(folder / "README.md", readme(checkpoint));
}

}  // namespace tyche::train
