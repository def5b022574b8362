#include "nn/program_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tyche::nn {

namespace {

// Rows that a step's rows read through a link, all in all.
double entries(Link link, Space from, Space to, const GraphSize& graph) {
  const double degree = graph.nodes > 0 ? 2 * graph.edges / graph.nodes : 0;
  switch (link) {
    case Link::neighbours:
      return rows(to, graph) * degree * static_cast<double>(std::max<std::size_t>(1, set_size(to)));
    case Link::arcs:
      return rows(Space::arc, graph);
    case Link::members:
      return rows(to, graph) * static_cast<double>(set_size(to));
    case Link::whole:
      return rows(from == Space::graph ? to : from, graph);
    case Link::diagonal:
    case Link::on_diagonal:
      return graph.nodes;
    case Link::rest:
      return graph.nodes * graph.nodes - graph.nodes;
    case Link::ends:
      return 2 * rows(to, graph);
    case Link::second:
    case Link::first:
      return rows(to, graph) * degree;
    case Link::by_root:
    case Link::by_node:
      return rows(Space::pair, graph);
    case Link::own:
    case Link::straight:
    case Link::turned:
    case Link::sized:
      return rows(to, graph);
  }
  return 0;
}

// "12", "3.4 k", "5.6 M", "7.8 G"
std::string short_count(double value) {
  const char* units[] = {"", " k", " M", " G", " T"};
  std::size_t unit = 0;
  while (value >= 1000 && unit < 4) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}{}", value, units[unit]);
}

// A value in TOML. JSON's strings, numbers, truth values and lists of those are TOML's.
std::string toml_value(const nlohmann::ordered_json& value) {
  if (value.is_array()) {
    std::string text;
    for (const auto& item : value) text += (text.empty() ? "" : ", ") + toml_value(item);
    return "[" + text + "]";
  }
  if (!value.is_object()) return value.dump();
  std::string text;
  for (const auto& [key, item] : value.items()) {
    text += fmt::format("{}{} = {}", text.empty() ? " " : ", ", key, toml_value(item));
  }
  return "{" + text + " }";
}

std::string toml_tables(std::string_view name, const nlohmann::ordered_json& list) {
  std::string text;
  for (const auto& table : list) {
    text += fmt::format("\n[[{}]]\n", name);
    for (const auto& [key, value] : table.items()) text += fmt::format("{} = {}\n", key, toml_value(value));
  }
  return text;
}

}  // namespace

std::size_t parameters_of(const Program& program, const Step& step) {
  std::size_t sum = 0;
  const auto add = [&](std::size_t tensor) {
    if (tensor != kNone) sum += program.parameters.tensors[tensor].size;
  };
  for (const Term& term : step.terms) add(term.weight);
  add(step.bias);
  add(step.epsilon);
  return sum;
}

double rows(Space space, const GraphSize& graph) {
  const double n = graph.nodes, m = graph.edges;
  switch (space) {
    case Space::graph:
      return 1;
    case Space::node:
    case Space::root:
      return n;
    case Space::arc:
      return 2 * m;
    case Space::pair:
      return n * n;
    case Space::set2:
      return n * (n - 1) / 2;
    case Space::set3:
      return n * (n - 1) * (n - 2) / 6;
    case Space::connected2:
    case Space::edge:
      return m;
    case Space::connected3: {
      const double degree = n > 0 ? 2 * m / n : 0;
      return n * degree * std::max(0.0, degree - 1) / 2;
    }
  }
  return 0;
}

double cost(const Program& program, const Step& step, const GraphSize& graph) {
  const double own = rows(step.space, graph) * static_cast<double>(step.columns);
  switch (step.operation) {
    case Operation::linear: {
      double sum = 0;
      for (const Term& term : step.terms) {
        const Step& read = program.steps[term.value];
        const auto in = static_cast<double>(read.columns);
        sum += own * in;
        if (term.link != Link::own) sum += in * entries(term.link, read.space, step.space, graph);
      }
      return sum;
    }
    case Operation::aggregate: {
      const Term& term = step.terms.front();
      const double messages = entries(term.link, program.steps[term.value].space, step.space, graph);
      return messages * static_cast<double>(step.columns) + (step.epsilon == kNone ? 0 : own);
    }
    case Operation::product:
      return own * graph.nodes;
    case Operation::normalise:
    case Operation::activate:
    case Operation::dropout:
      return own;
    default:
      return 0;
  }
}

std::string program_table(const Program& program, const GraphSize& graph) {
  struct Line {
    std::string name, what, space, columns, parameters, cost;
  };
  std::vector<Line> lines = {{"step", "operation", "space", "columns", "parameters", "cost"}};
  double all = 0;
  for (const Step& step : program.steps) {
    const double own = cost(program, step, graph);
    all += own;
    const std::size_t parameters = parameters_of(program, step);
    lines.push_back({step.name, describe(step), std::string(name(step.space)), std::to_string(step.columns),
                     parameters == 0 ? "" : std::to_string(parameters), own == 0 ? "" : short_count(own)});
  }
  lines.push_back({"all", "", "", "", std::to_string(program.parameters.learned()), short_count(all)});
  const auto width = [&](std::string Line::*column) {
    std::size_t most = 0;
    for (const Line& line : lines) {
      const std::string& text = line.*column;  // an ε is one letter and two bytes
      most = std::max(most, text.size() - static_cast<std::size_t>(std::ranges::count(text, '\xce')));
    }
    return most;
  };
  const std::size_t first = width(&Line::name), second = width(&Line::what), third = width(&Line::space);
  std::string text;
  for (const Line& line : lines) {
    const auto more = static_cast<std::size_t>(std::ranges::count(line.what, '\xce'));
    text += fmt::format("{:<{}}  {}{:{}}  {:<{}}  {:>7}  {:>10}  {:>7}\n", line.name, first, line.what, "",
                        second + more - line.what.size(), line.space, third, line.columns, line.parameters, line.cost);
    text.erase(text.find_last_not_of(" \n") + 1);
    text += '\n';
  }
  return text + fmt::format("cost: multiplications of a pass forward over a graph of {:.4g} nodes and {:.4g} edges\n",
                            graph.nodes, graph.edges);
}

nlohmann::ordered_json to_json(const Program& program, const Program* other) {
  using nlohmann::ordered_json;
  ordered_json json = {{"parameters", ordered_json::array()}, {"steps", ordered_json::array()}};
  const std::vector<Tensor>& tensors = program.parameters.tensors;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const Tensor& tensor = tensors[t];
    const Tensor& again = other == nullptr ? tensor : other->parameters.tensors[t];
    ordered_json one = {{"name", tensor.name}};
    if (tensor.shape == again.shape) one["shape"] = tensor.shape;
    if (tensor.fan_in == again.fan_in) one["fan_in"] = tensor.fan_in;
    if (tensor.start != 0) one["start"] = tensor.start;
    json["parameters"].push_back(std::move(one));
  }
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    const Step& again = other == nullptr ? step : other->steps[s];
    const bool input = step.operation == Operation::input;
    ordered_json one = {{"name", step.name},
                        {"operation", name(step.operation)},
                        {"space", name(step.space)},
                        {"columns", step.columns}};
    if (input) one["source"] = name(step.source);
    if (step.columns != again.columns) {
      one.erase("columns");
      if (input) one["columns"] = name(step.source);
      if (step.operation == Operation::linear) one["columns"] = "classes";
    } else if (!step.types.empty()) {
      for (const std::uint64_t type : step.types) {  // text beyond TOML's signed 64 bits
        one["types"].push_back(std::in_range<std::int64_t>(type) ? ordered_json(type)
                                                                 : ordered_json(std::to_string(type)));
      }
    }
    if (input && step.source == Source::drawn) {
      one["random"] = name(step.random);
      one["depth"] = step.depth == kLeaf ? ordered_json("leaf") : ordered_json(step.depth);
    }
    if (input && step.source == Source::random) {
      one["distribution"] = name(step.distribution);
      if (is_xavier(step.distribution) && step.fan == again.fan) one["fan"] = step.fan;
    }
    if (step.roots > 0) one["roots"] = step.roots;
    if (step.eval_roots > 0) one["eval_roots"] = step.eval_roots;
    for (const Term& term : step.terms) {
      ordered_json from = {{"value", program.steps[term.value].name}};
      if (term.link != Link::own) {
        from["link"] = name(term.link);
        from["reduce"] = name(term.reduce);
      }
      if (term.weight != kNone) from["weight"] = tensors[term.weight].name;
      one["from"].push_back(std::move(from));
    }
    if (step.operation == Operation::linear) {
      one["bias"] = step.bias == kNone ? ordered_json(false) : ordered_json(tensors[step.bias].name);
    }
    if (step.operation == Operation::normalise) {
      one["norm"] = name(step.norm);
      one["bias"] = tensors[step.bias].name;
      if (step.mean != kNone) one["mean"] = tensors[step.mean].name;
      if (step.variance != kNone) one["variance"] = tensors[step.variance].name;
    }
    if (step.epsilon != kNone) one["epsilon"] = tensors[step.epsilon].name;
    if (step.arcs != kNone) one["arcs"] = program.steps[step.arcs].name;
    if (step.onto != kNone) one["onto"] = program.steps[step.onto].name;
    if (step.operation == Operation::activate || step.arcs != kNone) one["activation"] = name(step.activation);
    if (step.operation == Operation::dropout) one["share"] = step.share;
    json["steps"].push_back(std::move(one));
  }
  return json;
}

std::string to_toml(const Program& program, const Program* other) {
  const nlohmann::ordered_json json = to_json(program, other);
  return "# A network: values over spaces, made step by step. The last step gives the logits.\n" +
         toml_tables("parameter", json["parameters"]) + toml_tables("step", json["steps"]);
}

}  // namespace tyche::nn
