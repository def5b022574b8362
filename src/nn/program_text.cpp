#include "nn/program_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "support/share.hpp"

namespace tyche::nn {

namespace {

// Rows that a step's rows read through a link, all in all.
double entries(Link link, Space from, Space to, const GraphSize& graph) {
  const double n = graph.nodes, degree = n > 0 ? 2 * graph.edges / n : 0, own = rows(to, graph);
  const double pairs = rows(Space::pair, graph);
  const auto set = static_cast<double>(set_size(to));
  const double of[] = {/* own */ own,
                       /* neighbours */ own * degree * std::max(1.0, set),
                       /* arcs */ rows(Space::arc, graph),
                       /* members */ own * set,
                       /* whole */ rows(from == Space::graph ? to : from, graph),
                       /* diagonal */ n,
                       /* rest */ n * n - n,
                       /* on_diagonal */ n,
                       /* ends */ 2 * own,
                       /* second */ own * degree,
                       /* first */ own * degree,
                       /* by_root */ pairs,
                       /* by_node */ pairs,
                       /* straight */ own,
                       /* turned */ own,
                       /* sized */ own};
  return of[static_cast<std::size_t>(link)];
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

// ---- a network as a picture: a box per step, from the top down, and a line from every value to whoever reads it

constexpr int kRow = 46, kBox = 32, kWide = 470, kLeft = 24, kLane = 12, kTop = 10;

const char* colour(Space space) {
  constexpr const char* kColours[] = {"#d0793a", "#2e7dd7", "#7a5af8", "#0e9384", "#dd2590",
                                      "#b42318", "#dd2590", "#b42318", "#7a5af8", "#2e7dd7"};
  return kColours[static_cast<std::size_t>(space)];
}

/// What a step reads: the values of its terms, and those it adds.
std::vector<std::size_t> read_by(const Step& step) {
  std::vector<std::size_t> out;
  for (const Term& term : step.terms) out.push_back(term.value);
  for (const std::size_t other : {step.arcs, step.onto}) {
    if (other != kNone) out.push_back(other);
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
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
  const double n = graph.nodes, m = graph.edges, degree = n > 0 ? 2 * m / n : 0;
  const double connected3 = n * degree * std::max(0.0, degree - 1) / 2;
  const double of[] = {1, n, 2 * m, n * n, n * (n - 1) / 2, n * (n - 1) * (n - 2) / 6, m, connected3, m, n};
  return of[static_cast<std::size_t>(space)];
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

std::string program_page(const Program& program, const GraphSize& graph, const std::string& title) {
  std::string lines, boxes;
  // Lines that pass over other boxes run to the right of them, each in a lane that is free.
  std::vector<std::size_t> free_from;  // by lane: the step at which its last line ends
  const auto middle = [](std::size_t s) { return kTop + static_cast<int>(s) * kRow + kBox / 2; };
  std::vector<Space> spaces;
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    if (std::ranges::find(spaces, step.space) == spaces.end()) spaces.push_back(step.space);
    for (const std::size_t from : read_by(step)) {
      if (from + 1 == s) {
        lines += fmt::format("<path class=\"line\" d=\"M{} {}V{}\" marker-end=\"url(#tip)\"/>\n", kLeft + 40,
                             middle(from) + kBox / 2, middle(s) - kBox / 2 - 1);
        continue;
      }
      std::size_t lane = 0;
      while (lane < free_from.size() && free_from[lane] > from) ++lane;
      if (lane == free_from.size()) free_from.push_back(0);
      free_from[lane] = s;
      const int x = kLeft + kWide, right = x + 16 + static_cast<int>(lane) * kLane;
      lines += fmt::format("<path class=\"line far\" d=\"M{0} {1}H{2}V{3}H{4}\" marker-end=\"url(#tip)\"/>\n", x,
                           middle(from) + 5, right, middle(s) - 5, x + 1);
    }
    const std::size_t parameters = parameters_of(program, step);
    const int y = middle(s) - kBox / 2;
    boxes += fmt::format(
        "<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" rx=\"5\" fill=\"{4}\" stroke=\"{4}\"><title>{5}: {6} "
        "over {7}, {8} columns, {9} parameters, {10:.4g} multiplications</title></rect>\n"
        "<text x=\"{11}\" y=\"{12}\">{5}</text><text class=\"small\" x=\"{11}\" y=\"{13}\">{6}</text>\n"
        "<text class=\"small\" text-anchor=\"end\" x=\"{14}\" y=\"{12}\">{7} × {8}</text>"
        "<text class=\"small\" text-anchor=\"end\" x=\"{14}\" y=\"{13}\">{15}</text>\n",
        kLeft, y, kWide, kBox, colour(step.space), step.name, describe(step), name(step.space), step.columns,
        parameters, cost(program, step, graph), kLeft + 10, y + 14, y + 27, kLeft + kWide - 10,
        parameters == 0 ? "" : fmt::format("{} parameters", parameters));
  }
  std::string keys;
  for (const Space space : spaces) {
    keys += fmt::format("<span class=\"key\"><i style=\"background:{}\"></i>{}</span>", colour(space), name(space));
  }
  const int width = kLeft + kWide + 30 + static_cast<int>(free_from.size()) * kLane;
  const int height = kTop + static_cast<int>(program.steps.size()) * kRow;
  return filled("share/network.html", {{"@TITLE@", title},
                                       {"@STEPS@", std::to_string(program.steps.size())},
                                       {"@PARAMETERS@", std::to_string(program.parameters.learned())},
                                       {"@NODES@", fmt::format("{:.4g}", graph.nodes)},
                                       {"@EDGES@", fmt::format("{:.4g}", graph.edges)},
                                       {"@KEYS@", keys},
                                       {"@WIDTH@", std::to_string(width)},
                                       {"@HEIGHT@", std::to_string(height)},
                                       {"@LINES@", lines},
                                       {"@BOXES@", boxes}});
}

}  // namespace tyche::nn
