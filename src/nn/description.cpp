#include "nn/description.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "nn/program_text.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/nearest.hpp"

namespace tyche::nn {

namespace {

using nlohmann::json;

/// A [[step]] or [[parameter]] with the lines it stands in; of JSON there are none.
struct Entry {
  json values = json::object();
  std::map<std::string, std::uint64_t> lines;
  std::uint64_t line = 0;
};

struct Document {
  std::vector<Entry> parameters, steps;
};

json plain(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* whole = node.as_integer()) {
    return whole->get() < 0 ? json(whole->get()) : json(static_cast<std::uint64_t>(whole->get()));
  }
  if (const auto* real = node.as_floating_point()) return real->get();
  if (const auto* flag = node.as_boolean()) return flag->get();
  json out = node.is_array() ? json::array() : node.is_table() ? json::object() : json();
  if (const auto* list = node.as_array()) {
    for (const toml::node& item : *list) out.push_back(plain(item));
  } else if (const auto* table = node.as_table()) {
    for (const auto& [key, value] : *table) out[std::string(key.str())] = plain(value);
  }
  return out;
}

Document document_of(std::string_view text, std::string_view name) {
  if (text.size() > kMostText) {
    throw InputError::at(name, "",
                         fmt::format("a description of {} bytes, expected at most {}", text.size(), kMostText));
  }
  Document out;
  const auto list_of = [&](std::string key, std::uint64_t line) -> std::vector<Entry>& {
    const bool parameters = key == "parameter" || key == "parameters";
    if (parameters || key == "step" || key == "steps") return parameters ? out.parameters : out.steps;
    const std::vector<std::string> known = {"parameter", "step"};
    throw InputError::at(name, line == 0 ? "" : fmt::format("line {}", line),
                         fmt::format("unknown key '{}'{}", key, did_you_mean(key, known)));
  };
  const auto no_list = [&](std::string_view key, std::uint64_t line) {
    throw InputError::at(name, line == 0 ? "" : fmt::format("line {}", line),
                         fmt::format("expected a list of tables, [[{}]]", key));
  };
  if (const std::size_t first = text.find_first_not_of(" \t\r\n"); first != text.npos && text[first] == '{') {
    json whole;
    try {
      whole = json::parse(text);
    } catch (const json::exception& error) {
      throw InputError::at(name, "", fmt::format("not JSON: {}", error.what()));
    }
    for (const auto& [key, list] : whole.items()) {
      std::vector<Entry>& to = list_of(key, 0);
      if (!list.is_array()) no_list(key, 0);
      for (const json& item : list) {
        if (!item.is_object()) no_list(key, 0);
        to.push_back({item, {}, 0});
      }
    }
    return out;
  }
  toml::table whole;
  try {
    whole = toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw InputError::at(name, fmt::format("line {}", error.source().begin.line), error.description());
  }
  for (const auto& [key, node] : whole) {
    const std::uint64_t line = node.source().begin.line;
    std::vector<Entry>& to = list_of(std::string(key.str()), line);
    const toml::array* list = node.as_array();
    if (list == nullptr) no_list(key.str(), line);
    for (const toml::node& item : *list) {
      const toml::table* table = item.as_table();
      if (table == nullptr) no_list(key.str(), item.source().begin.line);
      Entry& entry = to.emplace_back(Entry{plain(item), {}, item.source().begin.line});
      for (const auto& [inner, value] : *table) entry.lines[std::string(inner.str())] = value.source().begin.line;
    }
  }
  return out;
}

// The keys of a step: of all, and of an operation.
constexpr std::string_view kOfAll[] = {"name", "operation", "space", "columns"};
std::vector<std::string> keys_of(Operation operation) {
  std::vector<std::string> keys(std::begin(kOfAll), std::end(kOfAll));
  const auto more = [&](std::initializer_list<const char*> names) {
    keys.insert(keys.end(), names.begin(), names.end());
  };
  if (operation == Operation::input) {
    more({"source", "types", "random", "depth", "distribution", "fan", "roots", "eval_roots"});
    return keys;
  }
  more({"from"});
  if (operation == Operation::linear) more({"link", "reduce", "weight", "bias"});
  if (operation == Operation::aggregate) more({"link", "reduce", "epsilon", "arcs", "onto", "activation"});
  if (operation == Operation::normalise) more({"norm", "weight", "bias", "mean", "variance"});
  if (operation == Operation::activate) more({"activation"});
  if (operation == Operation::dropout) more({"share"});
  return keys;
}

class Reader {
 public:
  /// `open`: what the description says of the data is taken for true; else `data` is held against it.
  Reader(std::string_view text, std::string_view name, const ModelConfig& data, bool open)
      : name_(name), data_(data), open_(open), document_(document_of(text, name)) {}

  Program run() {
    const std::vector<Entry>& steps = document_.steps;
    if (steps.empty())
      throw InputError::at(name_, "", "no steps: expected [[step]], the last of which gives the logits");
    if (steps.size() > kMostSteps) {
      throw InputError::at(name_, "", fmt::format("{} steps, expected at most {}", steps.size(), kMostSteps));
    }
    word_ = "parameter";
    for (const Entry& entry : document_.parameters) listed(entry);
    word_ = "step";
    for (at_ = 0; at_ < steps.size(); ++at_) step(steps[at_]);
    at_ = steps.size() - 1;
    for (std::size_t t = 0; t < out_.parameters.tensors.size(); ++t) {
      const Tensor& tensor = out_.parameters.tensors[t];
      if (!tensor.shape.empty()) continue;
      const Entry& entry = document_.parameters[t];
      throw InputError::at(name_, line_of(entry, ""), fmt::format("no step uses the parameter '{}'", tensor.name));
    }
    settle_sizes();
    const Step& last = out_.steps.back();
    if (last.space == space_of(data_.unit) && !open_ && last.columns != data_.classes) {
      fail(steps.back(), "columns",
           fmt::format("{} outputs, but the data has {} classes or targets; columns = \"classes\" takes the data's",
                       last.columns, data_.classes));
    }
    validate(out_, [&](std::size_t i) {
      const std::string line = line_of(steps[i], "");
      return line.empty() ? fmt::format("{}: ", name_) : fmt::format("{}: {}: ", name_, line);
    });
    return std::move(out_);
  }

 private:
  static std::string line_of(const Entry& entry, const std::string& key) {
    const auto found = entry.lines.find(key);
    const std::uint64_t line = found == entry.lines.end() ? entry.line : found->second;
    return line == 0 ? "" : fmt::format("line {}", line);
  }
  [[noreturn]] void fail(const Entry& entry, const std::string& key, const std::string& what) const {
    const json& own = entry.values.contains("name") ? entry.values["name"] : json();
    const std::string step = own.is_string() ? own.get<std::string>() : fmt::format("number {}", at_);
    throw InputError::at(name_, line_of(entry, key), fmt::format("{} {}: {}: {}", word_, step, key, what));
  }

  // ---- values of an entry
  static bool has(const Entry& entry, const char* key) { return entry.values.contains(key); }
  static std::string shown(const json& value) {
    const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
    return text.size() > 60 ? text.substr(0, 57) + "..." : text;
  }
  std::string text(const Entry& entry, const char* key, const json& value) const {
    if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
      fail(entry, key, fmt::format("expected a name in quotes, found {}", shown(value)));
    }
    return value.get<std::string>();
  }
  /// Of a step or a tensor: words with dots between them, which a name of PyTorch's can be.
  std::string new_name(const Entry& entry, const char* key, const std::string& own) const {
    const auto good = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; };
    bool word = false;  // since the last dot
    bool fine = own.size() <= 200;
    for (const char c : own) {
      fine = fine && (c == '.' ? word : good(c));
      word = c != '.';
    }
    if (!fine || !word) {
      fail(entry, key, fmt::format("expected letters, digits, '_' and '-' with dots between, found {}", shown(own)));
    }
    return own;
  }
  std::string text(const Entry& entry, const char* key) const {
    if (!has(entry, key)) fail(entry, key, "is missing");
    return text(entry, key, entry.values[key]);
  }
  double number(const Entry& entry, const char* key) const {
    const json& value = entry.values[key];
    if (!value.is_number() || !std::isfinite(value.get<double>())) {
      fail(entry, key, fmt::format("expected a number, found {}", shown(value)));
    }
    return value.get<double>();
  }
  std::size_t whole(const Entry& entry, const char* key, const json& value, std::size_t most) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < 1 || value.get<std::uint64_t>() > most) {
      fail(entry, key, fmt::format("expected a whole number from 1 to {}, found {}", most, shown(value)));
    }
    return value.get<std::size_t>();
  }
  template <class Enum>
  Enum one_of(const Entry& entry, const char* key, const json& value) const {
    const std::string own = text(entry, key, value);
    const auto names = names_of<Enum>();
    const auto found = std::ranges::find(names, own);
    if (found == names.end()) {
      const std::vector<std::string> known(names.begin(), names.end());
      fail(entry, key, fmt::format("unknown '{}'{}", own, did_you_mean(own, known)));
    }
    return static_cast<Enum>(found - names.begin());
  }
  template <class Parse>
  auto parsed(const Entry& entry, const char* key, const Parse& parse) const {
    try {
      return parse(text(entry, key));
    } catch (const InputError& error) {
      if (std::string_view(error.what()).starts_with(name_)) throw;
      fail(entry, key, error.what());
    }
  }

  // ---- tensors
  /// One that [[parameter]] names; its shape is known when a step uses it.
  void listed(const Entry& entry) {
    at_ = tensors_.size();
    for (const auto& [key, value] : entry.values.items()) {
      const std::vector<std::string> known = {"name", "shape", "fan_in", "start"};
      if (std::ranges::find(known, key) == known.end()) {
        throw InputError::at(name_, line_of(entry, key),
                             fmt::format("parameter: unknown key '{}'{}", key, did_you_mean(key, known)));
      }
    }
    const std::string own = new_name(entry, "name", text(entry, "name"));
    if (!tensors_.emplace(own, tensors_.size()).second) fail(entry, "name", "there is such a parameter before it");
    out_.parameters.tensors.push_back({own, {}});
  }
  /// A tensor that a step uses: the next one where it was not listed.
  std::size_t tensor(const Entry& entry, const char* key, const std::string& own, std::vector<std::size_t> shape,
                     std::size_t fan_in, float start = 0, bool running = false) {
    const auto [found, fresh] = tensors_.emplace(own, tensors_.size());
    if (fresh) out_.parameters.tensors.push_back({new_name(entry, key, own), {}});
    Tensor& tensor = out_.parameters.tensors[found->second];
    if (!tensor.shape.empty() && (running || tensor.running)) {
      fail(entry, key, fmt::format("{} is used elsewhere, and a running mean or variance is of one step", own));
    }
    if (tensor.shape.empty()) {
      tensor.shape = std::move(shape);
      tensor.fan_in = fan_in;
      tensor.start = start;
      tensor.running = running;
      if (found->second < document_.parameters.size()) check_listed(document_.parameters[found->second], tensor);
    } else if (tensor.shape != shape) {
      fail(entry, key,
           fmt::format("{} has the shape [{}] elsewhere, expected [{}]", own, fmt::join(tensor.shape, ", "),
                       fmt::join(shape, ", ")));
    }
    return found->second;
  }
  void check_listed(const Entry& entry, Tensor& tensor) const {
    if (has(entry, "shape") && entry.values["shape"] != json(tensor.shape)) {
      throw InputError::at(name_, line_of(entry, "shape"),
                           fmt::format("parameter {}: the shape is {}, expected [{}]", tensor.name,
                                       shown(entry.values["shape"]), fmt::join(tensor.shape, ", ")));
    }
    if (has(entry, "start")) {
      if (!entry.values["start"].is_number() || !std::isfinite(entry.values["start"].get<float>())) {
        throw InputError::at(
            name_, line_of(entry, "start"),
            fmt::format("parameter {}: start is {}, expected a number", tensor.name, shown(entry.values["start"])));
      }
      tensor.start = entry.values["start"].get<float>();
    }
    if (!has(entry, "fan_in")) return;
    const json& value = entry.values["fan_in"];
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMostParameters) {
      throw InputError::at(
          name_, line_of(entry, "fan_in"),
          fmt::format("parameter {}: fan_in is {}, expected a whole number", tensor.name, shown(value)));
    }
    tensor.fan_in = value.get<std::size_t>();
  }
  void settle_sizes() {
    Layout& layout = out_.parameters;
    for (Tensor& tensor : layout.tensors) {
      tensor.offset = layout.size;
      tensor.size = 1;
      for (const std::size_t extent : tensor.shape) tensor.size *= extent;
      layout.size += tensor.size;
      if (layout.size > kMostParameters) {
        throw InputError::at(name_, "", fmt::format("more than {} parameters", kMostParameters));
      }
    }
  }

  // ---- steps
  std::size_t made(const Entry& entry, const char* key, const json& value) const {
    const std::string own = text(entry, key, value);
    const auto found = steps_.find(own);
    if (found != steps_.end()) return found->second;
    for (std::size_t later = at_; later < document_.steps.size(); ++later) {
      if (document_.steps[later].values.value("name", json()) == own) {
        fail(entry, key,
             fmt::format("'{}' is made later, by step {}: a step reads what was made before it", own, later));
      }
    }
    std::vector<std::string> known;
    for (const auto& [known_name, index] : steps_) known.push_back(known_name);
    fail(entry, key, fmt::format("there is no step '{}'{}", own, did_you_mean(own, known)));
  }
  std::vector<Term> terms(const Entry& entry, Operation operation) {
    if (!has(entry, "from")) {
      if (at_ == 0) fail(entry, "from", "is missing, and there is no step before it");
      return {term(entry, json(out_.steps.back().name), operation, 0, true)};
    }
    const json& from = entry.values["from"];
    if (!from.is_array()) return {term(entry, from, operation, 0, true)};
    if (from.empty()) fail(entry, "from", "reads no values");
    for (const std::string_view key : {"link", "reduce", "weight"}) {
      if (has(entry, std::string(key).c_str()))
        fail(entry, std::string(key), "stands inside from, where that is a list");
    }
    std::vector<Term> out;
    for (const json& item : from) out.push_back(term(entry, item, operation, out.size(), from.size() == 1));
    return out;
  }
  /// A name, or { value, link, reduce, weight }.
  Term term(const Entry& entry, const json& item, Operation operation, std::size_t number, bool single) {
    const bool links = operation == Operation::linear || operation == Operation::aggregate;
    Entry own{item.is_object() ? item : json::object(), {}, 0};
    if (item.is_object()) {
      const std::vector<std::string> known = links ? std::vector<std::string>{"value", "link", "reduce", "weight"}
                                             : operation == Operation::normalise
                                                 ? std::vector<std::string>{"value", "weight"}
                                                 : std::vector<std::string>{"value"};
      for (const auto& [key, value] : item.items()) {
        if (std::ranges::find(known, key) == known.end()) {
          fail(entry, "from", fmt::format("unknown key '{}'{}", key, did_you_mean(key, known)));
        }
      }
      if (!item.contains("value")) fail(entry, "from", "expected a value");
    } else {
      own.values["value"] = item;
      for (const char* key : {"link", "reduce", "weight"}) {
        if (has(entry, key)) own.values[key] = entry.values[key];
      }
    }
    Term out;
    out.value = made(entry, "from", own.values["value"]);
    if (has(own, "link")) out.link = one_of<Link>(entry, "link", own.values["link"]);
    if (out.link == Link::own && has(own, "reduce")) fail(entry, "reduce", "a row itself is not reduced: say a link");
    if (has(own, "reduce")) out.reduce = one_of<Reduce>(entry, "reduce", own.values["reduce"]);
    if (operation == Operation::linear || operation == Operation::normalise) {
      const std::string own_name = entry.values["name"].get<std::string>();
      weights_.push_back(has(own, "weight") ? text(entry, "weight", own.values["weight"])
                         : single           ? own_name + ".weight"
                                            : fmt::format("{}.{}.weight", own_name, number));
    } else if (has(own, "weight")) {
      fail(entry, "weight", "is for linear steps and those that normalise");
    }
    return out;
  }
  Space space_after(const Entry& entry, const Term& term) const {
    const Space from = out_.steps[term.value].space;
    switch (term.link) {
      case Link::own:
      case Link::neighbours:
      case Link::second:
      case Link::first:
      case Link::sized:
        return from;
      case Link::arcs:
        return Space::node;
      case Link::whole:
        if (from == Space::graph) fail(entry, "space", "is missing: every space reads the row of a graph");
        return Space::graph;
      case Link::diagonal:
      case Link::rest:
        return Space::graph;
      case Link::on_diagonal:
      case Link::by_node:
        return from == Space::pair ? Space::node : Space::pair;
      case Link::by_root:
        return from == Space::pair ? Space::root : Space::pair;
      case Link::ends:
        return Space::edge;
      case Link::straight:
      case Link::turned:
        return Space::arc;
      case Link::members:
        break;
    }
    fail(entry, "space", "is missing: members are of set2, set3, connected2 or connected3");
  }

  void step(const Entry& entry) {
    Step out;
    out.name = new_name(entry, "name", text(entry, "name"));
    if (steps_.contains(out.name)) fail(entry, "name", "there is such a step before it");
    out.operation = one_of<Operation>(entry, "operation", entry.values.value("operation", json()));
    const std::vector<std::string> known = keys_of(out.operation);
    for (const auto& [key, value] : entry.values.items()) {
      if (std::ranges::find(known, key) != known.end()) continue;
      fail(entry, key, fmt::format("{} has no such key{}", name(out.operation), did_you_mean(key, known)));
    }
    weights_.clear();
    if (out.operation == Operation::input) {
      input(entry, out);
    } else {
      out.terms = terms(entry, out.operation);
      out.space = has(entry, "space") ? one_of<Space>(entry, "space", entry.values["space"])
                                      : space_after(entry, out.terms.front());
      more(entry, out);
    }
    steps_.emplace(out.name, at_);
    out_.steps.push_back(std::move(out));
  }

  void more(const Entry& entry, Step& out) {
    std::size_t columns = 0;  // what follows from what it reads
    for (const Term& term : out.terms) {
      const std::size_t own = out_.steps[term.value].columns;
      columns = out.operation == Operation::concat ? columns + own : columns == 0 ? own : columns;
    }
    if (columns > 16 * kMostColumns) fail(entry, "columns", fmt::format("are {}, which is too many", columns));
    out.columns = columns;
    if (out.operation == Operation::linear && !has(entry, "columns")) {
      fail(entry, "columns", "is missing: a number, or \"classes\" for as many as the data has");
    }
    if (has(entry, "columns")) {
      const json& value = entry.values["columns"];
      const bool classes = value == "classes" && out.operation == Operation::linear;
      out.columns = classes ? data_.classes : whole(entry, "columns", value, 16 * kMostColumns);
      if (out.operation != Operation::linear && out.columns != columns) {
        fail(entry, "columns", fmt::format("are {}, expected {}: those of what it reads", out.columns, columns));
      }
      if (out.operation == Operation::linear && out.columns > kMostColumns) {
        fail(entry, "columns", fmt::format("are {}, expected at most {}", out.columns, kMostColumns));
      }
    }
    if (out.operation == Operation::linear) linear(entry, out);
    if (out.operation == Operation::normalise) normalise(entry, out);
    if (has(entry, "activation")) out.activation = parsed(entry, "activation", parse_activation);
    if (out.operation == Operation::activate && !has(entry, "activation")) fail(entry, "activation", "is missing");
    if (out.operation == Operation::dropout) {
      if (!has(entry, "share")) fail(entry, "share", "is missing");
      out.share = number(entry, "share");
    }
    if (has(entry, "epsilon")) {
      const json& value = entry.values["epsilon"];
      const std::string own = value == true ? out.name + ".eps" : text(entry, "epsilon", value);
      out.epsilon = tensor(entry, "epsilon", own, {1}, 0);
    }
    if (has(entry, "arcs")) out.arcs = made(entry, "arcs", entry.values["arcs"]);
    if (has(entry, "onto")) out.onto = made(entry, "onto", entry.values["onto"]);
    if (out.operation == Operation::aggregate && has(entry, "activation") != (out.arcs != kNone)) {
      fail(entry, "activation", out.arcs == kNone ? "is for messages with arcs" : "is missing: that of a message");
    }
  }

  void linear(const Entry& entry, Step& out) {
    std::size_t first = 0;
    for (std::size_t i = 0; i < out.terms.size(); ++i) {
      const std::size_t in = out_.steps[out.terms[i].value].columns;
      if (i == 0) first = in;
      out.terms[i].weight = tensor(entry, "weight", weights_[i], {out.columns, in}, in);
    }
    const json& bias = has(entry, "bias") ? entry.values["bias"] : json(true);
    if (bias == false) return;
    const std::string own = bias == true ? out.name + ".bias" : text(entry, "bias", bias);
    out.bias = tensor(entry, "bias", own, {out.columns}, first);
  }

  void normalise(const Entry& entry, Step& out) {
    if (!has(entry, "norm")) fail(entry, "norm", "is missing: batch or layer");
    out.norm = parsed(entry, "norm", parse_norm);
    const auto own = [&](const char* key, const char* end) {
      return has(entry, key) ? text(entry, key) : fmt::format("{}.{}", out.name, end);
    };
    out.terms.front().weight = tensor(entry, "weight", weights_.front(), {out.columns}, 0, 1);
    out.bias = tensor(entry, "bias", own("bias", "bias"), {out.columns}, 0);
    if (out.norm == Norm::batch) {
      out.mean = tensor(entry, "mean", own("mean", "running_mean"), {out.columns}, 0, 0, true);
      out.variance = tensor(entry, "variance", own("variance", "running_var"), {out.columns}, 0, 1, true);
    } else if (has(entry, "mean") || has(entry, "variance")) {
      fail(entry, has(entry, "mean") ? "mean" : "variance", "is for the norm batch");
    }
  }

  /// The columns that an input has: those it says, or those of the data.
  std::size_t input_columns(const Entry& entry, std::string_view word, std::size_t of_data) const {
    if (!has(entry, "columns") || entry.values["columns"] == std::string(word)) return of_data;
    const std::size_t own = whole(entry, "columns", entry.values["columns"], kMostColumns);
    if (!open_ && own != of_data) {
      fail(entry, "columns",
           fmt::format("{} are said, but the data has {}; columns = \"{}\" takes the data's", own, of_data, word));
    }
    return own;
  }

  void input(const Entry& entry, Step& out) {
    out.source = one_of<Source>(entry, "source", entry.values.value("source", json()));
    out.space = space_of(out.source);
    if (has(entry, "space")) {
      out.space = one_of<Space>(entry, "space", entry.values["space"]);
    } else if (out.source == Source::types) {
      fail(entry, "space", "is missing: types are of set2, set3, connected2 or connected3");
    }
    const auto only = [&](std::initializer_list<const char*> keys, Source source) {
      for (const char* key : keys) {
        if (has(entry, key) && out.source != source)
          fail(entry, key, fmt::format("is for the source {}", name(source)));
      }
    };
    only({"types"}, Source::types);
    only({"random", "depth"}, Source::drawn);
    only({"distribution", "fan"}, Source::random);
    only({"roots", "eval_roots"}, Source::distance);
    switch (out.source) {
      case Source::features:
        out.columns = input_columns(entry, "features", data_.input_features);
        break;
      case Source::edges:
        if (!open_ && data_.edge_features == 0) fail(entry, "source", "the data's edges have no labels or attributes");
        out.columns = input_columns(entry, "edges", std::max(1u, data_.edge_features));
        break;
      case Source::types:
        types(entry, out);
        break;
      case Source::adjacency:
        out.columns = input_columns(entry, "adjacency", 1);
        if (out.columns != 1) fail(entry, "columns", "expected 1");
        break;
      case Source::distance:
        if (!has(entry, "columns")) fail(entry, "columns", "is missing: how many distances are told apart");
        out.columns = whole(entry, "columns", entry.values["columns"], kMostColumns);
        for (const auto& [key, number] : {std::pair{"roots", &out.roots}, std::pair{"eval_roots", &out.eval_roots}}) {
          if (!has(entry, key) || entry.values[key] == "all") continue;
          *number = static_cast<std::uint32_t>(whole(entry, key, entry.values[key], kMostColumns));
        }
        break;
      case Source::drawn:
        drawn(entry, out);
        break;
      case Source::random:
        if (!has(entry, "columns")) fail(entry, "columns", "is missing: how many random features a node gets");
        out.columns = whole(entry, "columns", entry.values["columns"], kMostColumns);
        if (has(entry, "distribution")) out.distribution = parsed(entry, "distribution", parse_distribution);
        fan(entry, out);
        break;
    }
  }
  void types(const Entry& entry, Step& out) const {
    const std::vector<std::uint64_t>& own = set_size(out.space) == 3 ? data_.triple_types : data_.pair_types;
    out.types = own;
    if (has(entry, "types")) {
      json list = entry.values["types"];
      for (json& item : list) {  // beyond TOML's signed 64 bits they are text
        if (item.is_string() && json::accept(item.get<std::string>())) item = json::parse(item.get<std::string>());
      }
      if (!list.is_array() || list.empty() || list.size() > kMostColumns ||
          !std::all_of(list.begin(), list.end(), [](const json& item) { return item.is_number_unsigned(); })) {
        fail(entry, "types", fmt::format("expected a list of whole numbers, found {}", shown(list)));
      }
      out.types = list.get<std::vector<std::uint64_t>>();
      if (!std::ranges::is_sorted(out.types, std::less_equal<>())) fail(entry, "types", "must ascend");
      if (!open_ && out.types != own) {
        fail(entry, "types",
             fmt::format("{} types of sets, not those {} of the data; leave them out to take the data's",
                         out.types.size(), own.size()));
      }
    } else if (open_ && has(entry, "columns") && entry.values["columns"].is_number()) {
      fail(entry, "types", "are missing: which types the columns are; columns = \"types\" takes the data's");
    }
    if (open_ && out.types.empty()) out.types = {0};
    if (out.types.empty()) fail(entry, "types", "the data has no such sets");
    out.columns = input_columns(entry, "types", out.types.size());
  }
  void drawn(const Entry& entry, Step& out) const {
    out.random = parsed(entry, "random", parse_random);
    out.depth = default_depth(out.random);
    if (has(entry, "depth") && entry.values["depth"] != "leaf") {
      out.depth = static_cast<std::uint32_t>(whole(entry, "depth", entry.values["depth"], kLeaf - 1));
    } else if (has(entry, "depth")) {
      out.depth = kLeaf;
    }
    try {
      validate_depth(out.random, out.depth);
    } catch (const InputError& error) {
      fail(entry, "depth", error.what());
    }
    out.columns = drawn_columns(out.random, out.depth);
    if (has(entry, "columns") && whole(entry, "columns", entry.values["columns"], kMostColumns) != out.columns) {
      fail(entry, "columns", fmt::format("expected {}: those of {}", out.columns, name(out.random)));
    }
  }
  void fan(const Entry& entry, Step& out) const {
    const bool xavier = is_xavier(out.distribution);
    if (has(entry, "fan") && !xavier) fail(entry, "fan", "is for the distributions xavier-normal and xavier-uniform");
    if (!xavier) return;
    out.fan = data_.xavier_fan;
    if (!has(entry, "fan")) return;
    out.fan = number(entry, "fan");
    if (!(out.fan > 0)) fail(entry, "fan", "expected a number above 0");
    if (!open_ && out.fan != data_.xavier_fan) {
      fail(
          entry, "fan",
          fmt::format("is {}, but that of the data is {}; leave it out to take the data's", out.fan, data_.xavier_fan));
    }
  }

  std::string name_;
  const ModelConfig& data_;
  bool open_;
  Document document_;
  Program out_;
  std::map<std::string, std::size_t> steps_, tensors_;
  const char* word_ = "step";
  std::size_t at_ = 0;
  std::vector<std::string> weights_;  ///< of the step at hand, a name per term
};

}  // namespace

std::string network_text(const std::string& value) {
  if (value.empty() || value.front() == '{' || value.find('\n') != value.npos) return value;
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(value, unknown);
  if (!std::filesystem::is_regular_file(status)) {
    throw InputError::at(value, "", "there is no such file, which was to describe a network");
  }
  if (std::filesystem::file_size(value, unknown) > kMostText) {
    throw InputError::at(value, "", fmt::format("is larger than {} bytes: no description of a network", kMostText));
  }
  return read_file(value);
}

ModelConfig described_by(const std::string& value) {
  const std::string text = network_text(value);
  return described(text, text == value ? "network" : value);
}

ModelConfig described(std::string_view text, std::string_view name) {
  const Program program = Reader(text, name, ModelConfig{}, true).run();
  ModelConfig config = recognised(program);
  for (const Step& step : program.steps) {
    if (config.kind != "network" || set_size(step.space) == 0) continue;
    throw InputError::at(name, "",
                         fmt::format("step {} is over {}: of networks over sets there are gcn2, gcn3 and gcn123 alone, "
                                     "and this is none of them",
                                     step.name, nn::name(step.space)));
  }
  config.network = text;
  return config;
}

Program open_program(std::string_view text, const ModelConfig& data) {
  return Reader(text, "network", data, true).run();
}

void fit(ModelConfig& config) {
  if (config.network.empty()) return;
  const Program program = Reader(config.network, "network", config, false).run();
  config.network = config.kind == "network" ? to_toml(program) : std::string();
}

Program described_network(const ModelConfig& config) {
  if (config.network.empty()) throw InputError("model: the kind network has no description");
  return Reader(config.network, "network", config, false).run();
}

}  // namespace tyche::nn
