#include "nn/description.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <utility>

#include "nn/program_text.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/words.hpp"

namespace tyche::nn {

namespace {

using nlohmann::json;

/// A [[step]] or [[parameter]], and where it stands; JSON has no lines.
struct Entry {
  json values;
  const toml::node* at = nullptr;
};

struct Document {
  toml::table text;  ///< of TOML
  std::vector<Entry> parameters, steps;
};

std::string line_of(const toml::node* node) {
  return node == nullptr ? "" : fmt::format("line {}", node->source().begin.line);
}
std::string line_of(const Entry& entry, const std::string& key) {
  const toml::node* const own = entry.at == nullptr ? nullptr : entry.at->as_table()->get(key);
  return line_of(own == nullptr ? entry.at : own);
}

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

toml::table table_of(std::string_view text, std::string_view name) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw InputError::at(name, fmt::format("line {}", error.source().begin.line), error.description());
  }
}

Document document_of(std::string_view text, std::string_view name) {
  if (text.size() > kMostText) {
    throw InputError::at(name, "", "a description of {} bytes, expected at most {}", text.size(), kMostText);
  }
  json whole;
  Document out;
  if (const std::size_t first = text.find_first_not_of(" \t\r\n"); first != text.npos && text[first] == '{') {
    try {
      whole = json::parse(text);
    } catch (const json::exception& error) {
      throw InputError::at(name, "", "not JSON: {}", error.what());
    }
  } else {
    out.text = table_of(text, name);
    whole = plain(out.text);
  }
  const auto fail = [&](const toml::node* node, const std::string& what) {
    throw InputError::at(name, line_of(node), what);
  };
  for (const auto& [key, list] : whole.items()) {
    const toml::node* const node = out.text.get(key);
    const bool parameters = key == "parameter" || key == "parameters";
    if (!parameters && key != "step" && key != "steps") {
      const std::vector<std::string> known = {"parameter", "step"};
      fail(node, fmt::format("unknown key '{}'{}", key, did_you_mean(key, known)));
    }
    const std::string expected = fmt::format("expected a list of tables, [[{}]]", key);
    if (!list.is_array()) fail(node, expected);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const toml::node* const own = node == nullptr ? nullptr : node->as_array()->get(i);
      if (!list[i].is_object()) fail(own, expected);
      (parameters ? out.parameters : out.steps).push_back({list[i], own});
    }
  }
  return out;
}

// The keys of a step: of all, and of an operation.
constexpr std::string_view kOfAll[] = {"name", "operation", "space", "columns"};
std::vector<std::string> keys_of(Operation operation) {
  static const std::map<Operation, std::vector<std::string>> own = {
      {Operation::input, {"source", "types", "random", "depth", "distribution", "fan", "roots", "eval_roots"}},
      {Operation::linear, {"from", "link", "reduce", "weight", "bias"}},
      {Operation::aggregate, {"from", "link", "reduce", "epsilon", "arcs", "onto", "activation"}},
      {Operation::normalise, {"from", "norm", "weight", "bias", "mean", "variance"}},
      {Operation::activate, {"from", "activation"}},
      {Operation::dropout, {"from", "share"}}};
  const auto at = own.find(operation);
  std::vector<std::string> keys = at == own.end() ? std::vector<std::string>{"from"} : at->second;
  keys.insert(keys.begin(), std::begin(kOfAll), std::end(kOfAll));
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
      throw InputError::at(name_, "", "{} steps, expected at most {}", steps.size(), kMostSteps);
    }
    word_ = "parameter";
    for (at_ = 0; at_ < document_.parameters.size(); ++at_) listed(document_.parameters[at_]);
    word_ = "step";
    for (at_ = 0; at_ < steps.size(); ++at_) step(steps[at_]);
    at_ = steps.size() - 1;
    for (std::size_t t = 0; t < out_.parameters.tensors.size(); ++t) {
      const Tensor& tensor = out_.parameters.tensors[t];
      if (tensor.shape.empty()) refuse(document_.parameters[t], "", "no step uses the parameter '{}'", tensor.name);
    }
    settle_sizes();
    const Step& last = out_.steps.back();
    if (last.space == space_of(data_.unit) && !open_ && last.columns != data_.classes) {
      fail("columns", "{} outputs, but the data has {} classes or targets; columns = \"classes\" takes the data's",
           last.columns, data_.classes);
    }
    validate(out_, [&](std::size_t i) {
      const std::string line = line_of(steps[i], "");
      return line.empty() ? fmt::format("{}: ", name_) : fmt::format("{}: {}: ", name_, line);
    });
    return std::move(out_);
  }

 private:
  template <class... T>
  [[noreturn]] void refuse(const Entry& entry, const std::string& key, fmt::format_string<T...> what,
                           T&&... values) const {
    throw InputError::at(name_, line_of(entry, key), fmt::format(what, std::forward<T>(values)...));
  }
  /// Of the entry at hand.
  template <class... T>
  [[noreturn]] void fail(const std::string& key, fmt::format_string<T...> what, T&&... values) const {
    const json& own = at("name");
    refuse(*entry_, key, "{} {}: {}: {}", word_,
           own.is_string() ? own.get<std::string>() : fmt::format("number {}", at_), key,
           fmt::format(what, std::forward<T>(values)...));
  }
  /// A key that is none of these.
  static std::optional<std::string> stranger(const json& values, const std::vector<std::string>& known) {
    for (const auto& [key, value] : values.items()) {
      if (std::ranges::find(known, key) == known.end()) return key;
    }
    return std::nullopt;
  }

  // ---- values of the entry at hand
  [[nodiscard]] bool has(const char* key) const { return entry_->values.contains(key); }
  /// null where there is none
  [[nodiscard]] const json& at(const char* key) const {
    static const json nothing;
    return has(key) ? entry_->values[key] : nothing;
  }
  static std::string shown(const json& value) {
    const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
    return text.size() > 60 ? text.substr(0, 57) + "..." : text;
  }
  std::string text(const char* key, const json& value) const {
    if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
      fail(key, "expected a name in quotes, found {}", shown(value));
    }
    return value.get<std::string>();
  }
  /// Of a step or a tensor: words with dots between them, which a name of PyTorch's can be.
  std::string new_name(const char* key, const std::string& own) const {
    static const std::regex words("[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*");
    if (own.size() > 200 || !std::regex_match(own, words)) {
      fail(key, "expected letters, digits, '_' and '-' with dots between, found {}", shown(own));
    }
    return own;
  }
  const json& needed(const char* key, std::string_view why = "") const {
    if (!has(key)) fail(key, "is missing{}", why);
    return at(key);
  }
  std::string text(const char* key) const { return text(key, needed(key)); }
  double number(const char* key) const {
    const json& value = needed(key);
    if (!value.is_number() || !std::isfinite(value.get<double>())) {
      fail(key, "expected a number, found {}", shown(value));
    }
    return value.get<double>();
  }
  std::size_t whole(const char* key, std::size_t most = kMostColumns) const {
    const json& value = at(key);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < 1 || value.get<std::uint64_t>() > most) {
      fail(key, "expected a whole number from 1 to {}, found {}", most, shown(value));
    }
    return value.get<std::size_t>();
  }
  template <class Enum>
  Enum one_of(const char* key, const json& value) const {
    const std::string own = text(key, value);
    const auto names = names_of<Enum>();
    const auto found = std::ranges::find(names, own);
    if (found == names.end()) {
      const std::vector<std::string> known(names.begin(), names.end());
      fail(key, "unknown '{}'{}", own, did_you_mean(own, known));
    }
    return static_cast<Enum>(found - names.begin());
  }
  template <class Make>
  auto made_by(const char* key, const Make& make) const {
    try {
      return make();
    } catch (const InputError& error) {
      fail(key, "{}", error.what());
    }
  }
  template <class Enum>
  Enum parsed(const char* key) const {
    return made_by(key, [own = text(key)] { return parse<Enum>(own); });
  }

  // ---- tensors
  /// One that [[parameter]] names; its shape is known when a step uses it.
  void listed(const Entry& entry) {
    entry_ = &entry;
    const std::vector<std::string> known = {"name", "shape", "fan_in", "start"};
    if (const auto key = stranger(entry.values, known)) {
      refuse(entry, *key, "parameter: unknown key '{}'{}", *key, did_you_mean(*key, known));
    }
    const std::string own = new_name("name", text("name"));
    if (!tensors_.emplace(own, tensors_.size()).second) fail("name", "there is such a parameter before it");
    out_.parameters.tensors.push_back({own, {}});
  }
  /// A tensor that a step uses: the next one where it was not listed.
  std::size_t tensor(const char* key, const std::string& own, std::vector<std::size_t> shape, std::size_t fan_in,
                     float start = 0, bool running = false) {
    const auto [found, fresh] = tensors_.emplace(own, tensors_.size());
    if (fresh) out_.parameters.tensors.push_back({new_name(key, own), {}});
    Tensor& tensor = out_.parameters.tensors[found->second];
    if (!tensor.shape.empty() && (running || tensor.running)) {
      fail(key, "{} is used elsewhere, and a running mean or variance is of one step", own);
    }
    if (tensor.shape.empty()) {
      tensor.shape = std::move(shape);
      tensor.fan_in = fan_in;
      tensor.start = start;
      tensor.running = running;
      if (found->second < document_.parameters.size()) check_listed(document_.parameters[found->second], tensor);
    } else if (tensor.shape != shape) {
      fail(key, "{} has the shape [{}] elsewhere, expected [{}]", own, fmt::join(tensor.shape, ", "),
           fmt::join(shape, ", "));
    }
    return found->second;
  }
  void check_listed(const Entry& entry, Tensor& tensor) const {
    const json& shape = entry.values.value("shape", json(tensor.shape));
    if (shape != json(tensor.shape)) {
      refuse(entry, "shape", "parameter {}: the shape is {}, expected [{}]", tensor.name, shown(shape),
             fmt::join(tensor.shape, ", "));
    }
    const json& start = entry.values.value("start", json(tensor.start));
    if (!start.is_number() || !std::isfinite(start.get<float>())) {
      refuse(entry, "start", "parameter {}: start is {}, expected a number", tensor.name, shown(start));
    }
    tensor.start = start.get<float>();
    const json& fan_in = entry.values.value("fan_in", json(tensor.fan_in));
    if (!fan_in.is_number_unsigned() || fan_in.get<std::uint64_t>() > kMostParameters) {
      refuse(entry, "fan_in", "parameter {}: fan_in is {}, expected a whole number", tensor.name, shown(fan_in));
    }
    tensor.fan_in = fan_in.get<std::size_t>();
  }
  void settle_sizes() {
    Layout& layout = out_.parameters;
    for (Tensor& tensor : layout.tensors) {
      tensor.offset = layout.size;
      tensor.size = 1;
      for (const std::size_t extent : tensor.shape) tensor.size *= extent;
      layout.size += tensor.size;
      if (layout.size > kMostParameters) throw InputError::at(name_, "", "more than {} parameters", kMostParameters);
    }
  }

  // ---- steps
  std::size_t made(const char* key, const json& value) const {
    const std::string own = text(key, value);
    const auto found = steps_.find(own);
    if (found != steps_.end()) return found->second;
    for (std::size_t later = at_; later < document_.steps.size(); ++later) {
      if (document_.steps[later].values.value("name", json()) == own) {
        fail(key, "'{}' is made later, by step {}: a step reads what was made before it", own, later);
      }
    }
    std::vector<std::string> known;
    for (const auto& [known_name, index] : steps_) known.push_back(known_name);
    fail(key, "there is no step '{}'{}", own, did_you_mean(own, known));
  }
  std::vector<Term> terms(Operation operation) {
    if (!has("from")) {
      if (at_ == 0) fail("from", "is missing, and there is no step before it");
      return {term(json(out_.steps.back().name), operation, 0, true)};
    }
    const json& from = at("from");
    if (!from.is_array()) return {term(from, operation, 0, true)};
    if (from.empty()) fail("from", "reads no values");
    for (const char* key : {"link", "reduce", "weight"}) {
      if (has(key)) fail(key, "stands inside from, where that is a list");
    }
    std::vector<Term> out;
    for (const json& item : from) out.push_back(term(item, operation, out.size(), from.size() == 1));
    return out;
  }
  /// A name, or { value, link, reduce, weight }.
  Term term(const json& item, Operation operation, std::size_t number, bool single) {
    const bool weighs = operation == Operation::linear || operation == Operation::normalise;
    json own = item;
    if (item.is_object()) {
      std::vector<std::string> known = {"value"};
      if (operation == Operation::linear || operation == Operation::aggregate)
        known = {"value", "link", "reduce", "weight"};
      if (operation == Operation::normalise) known = {"value", "weight"};
      if (const auto key = stranger(item, known)) fail("from", "unknown key '{}'{}", *key, did_you_mean(*key, known));
      if (!item.contains("value")) fail("from", "expected a value");
    } else {
      own = json{{"value", item}};
      for (const char* key : {"link", "reduce", "weight"}) {
        if (has(key)) own[key] = at(key);
      }
    }
    Term out;
    out.value = made("from", own["value"]);
    if (own.contains("link")) out.link = one_of<Link>("link", own["link"]);
    if (out.link == Link::own && own.contains("reduce")) fail("reduce", "a row itself is not reduced: say a link");
    if (own.contains("reduce")) out.reduce = one_of<Reduce>("reduce", own["reduce"]);
    if (weighs) {
      const std::string own_name = text("name");
      weights_.push_back(own.contains("weight") ? text("weight", own["weight"])
                         : single               ? own_name + ".weight"
                                                : fmt::format("{}.{}.weight", own_name, number));
    } else if (own.contains("weight")) {
      fail("weight", "is for linear steps and those that normalise");
    }
    return out;
  }

  void step(const Entry& entry) {
    entry_ = &entry;
    Step out;
    out.name = new_name("name", text("name"));
    if (steps_.contains(out.name)) fail("name", "there is such a step before it");
    out.operation = one_of<Operation>("operation", at("operation"));
    const std::vector<std::string> known = keys_of(out.operation);
    if (const auto key = stranger(entry.values, known)) {
      fail(*key, "{} has no such key{}", name(out.operation), did_you_mean(*key, known));
    }
    weights_.clear();
    if (out.operation == Operation::input) {
      input(out);
    } else {
      out.terms = terms(out.operation);
      const Term& first = out.terms.front();
      if (has("space")) {
        out.space = one_of<Space>("space", at("space"));
      } else if (const auto space = space_through(first.link, out_.steps[first.value].space)) {
        out.space = *space;
      } else {
        fail("space", "is missing: {}",
             first.link == Link::whole ? "every space reads the row of a graph"
                                       : "members are of set2, set3, connected2 or connected3");
      }
      more(out);
    }
    steps_.emplace(out.name, at_);
    out_.steps.push_back(std::move(out));
  }

  void more(Step& out) {
    const bool linear_map = out.operation == Operation::linear;
    std::size_t columns = 0;  // what follows from what it reads
    for (const Term& term : out.terms) {
      const std::size_t own = out_.steps[term.value].columns;
      columns = out.operation == Operation::concat ? columns + own : columns == 0 ? own : columns;
    }
    if (columns > 16 * kMostColumns) fail("columns", "are {}, which is too many", columns);
    out.columns = columns;
    if (linear_map) (void)needed("columns", ": a number, or \"classes\" for as many as the data has");
    if (has("columns")) {
      out.columns = linear_map && at("columns") == "classes" ? data_.classes : whole("columns", 16 * kMostColumns);
      if (!linear_map && out.columns != columns) {
        fail("columns", "are {}, expected {}: those of what it reads", out.columns, columns);
      }
      if (linear_map && out.columns > kMostColumns) {
        fail("columns", "are {}, expected at most {}", out.columns, kMostColumns);
      }
    }
    if (linear_map) linear(out);
    if (out.operation == Operation::normalise) normalise(out);
    if (has("activation") || out.operation == Operation::activate) out.activation = parsed<Activation>("activation");
    if (out.operation == Operation::dropout) out.share = number("share");
    if (has("epsilon")) {
      const std::string own = at("epsilon") == true ? out.name + ".eps" : text("epsilon");
      out.epsilon = tensor("epsilon", own, {1}, 0);
    }
    if (has("arcs")) out.arcs = made("arcs", at("arcs"));
    if (has("onto")) out.onto = made("onto", at("onto"));
    if (out.operation == Operation::aggregate && has("activation") != (out.arcs != kNone)) {
      fail("activation", "{}", out.arcs == kNone ? "is for messages with arcs" : "is missing: that of a message");
    }
  }

  void linear(Step& out) {
    for (std::size_t i = 0; i < out.terms.size(); ++i) {
      const std::size_t in = out_.steps[out.terms[i].value].columns;
      out.terms[i].weight = tensor("weight", weights_[i], {out.columns, in}, in);
    }
    if (at("bias") == false) return;
    const std::string own = !has("bias") || at("bias") == true ? out.name + ".bias" : text("bias");
    out.bias = tensor("bias", own, {out.columns}, out_.steps[out.terms.front().value].columns);
  }

  void normalise(Step& out) {
    (void)needed("norm", ": batch or layer");
    out.norm = parsed<Norm>("norm");
    const auto own = [&](const char* key, const char* end) {
      return has(key) ? text(key) : fmt::format("{}.{}", out.name, end);
    };
    out.terms.front().weight = tensor("weight", weights_.front(), {out.columns}, 0, 1);
    out.bias = tensor("bias", own("bias", "bias"), {out.columns}, 0);
    if (out.norm == Norm::batch) {
      out.mean = tensor("mean", own("mean", "running_mean"), {out.columns}, 0, 0, true);
      out.variance = tensor("variance", own("variance", "running_var"), {out.columns}, 0, 1, true);
    } else if (has("mean") || has("variance")) {
      fail(has("mean") ? "mean" : "variance", "is for the norm batch");
    }
  }

  /// The columns that an input has: those it says, or those of the data.
  std::size_t input_columns(const char* word, std::size_t of_data) const {
    if (!has("columns") || at("columns") == word) return of_data;
    const std::size_t own = whole("columns");
    if (!open_ && own != of_data) {
      fail("columns", "{} are said, but the data has {}; columns = \"{}\" takes the data's", own, of_data, word);
    }
    return own;
  }

  void input(Step& out) {
    out.source = one_of<Source>("source", at("source"));
    out.space = space_of(out.source);
    if (has("space") || out.source == Source::types) {
      (void)needed("space", ": types are of set2, set3, connected2 or connected3");
      out.space = one_of<Space>("space", at("space"));
    }
    constexpr std::pair<const char*, Source> kOf[] = {{"types", Source::types},        {"random", Source::drawn},
                                                      {"depth", Source::drawn},        {"distribution", Source::random},
                                                      {"fan", Source::random},         {"roots", Source::distance},
                                                      {"eval_roots", Source::distance}};
    for (const auto& [key, source] : kOf) {
      if (has(key) && out.source != source) fail(key, "is for the source {}", name(source));
    }
    switch (out.source) {
      case Source::features:
        out.columns = input_columns("features", data_.input_features);
        break;
      case Source::edges:
        if (!open_ && data_.edge_features == 0) fail("source", "the data's edges have no labels or attributes");
        out.columns = input_columns("edges", std::max(1u, data_.edge_features));
        break;
      case Source::types:
        types(out);
        break;
      case Source::adjacency:
        out.columns = input_columns("adjacency", 1);
        if (out.columns != 1) fail("columns", "expected 1");
        break;
      case Source::distance:
        (void)needed("columns", ": how many distances are told apart");
        out.columns = whole("columns");
        for (const auto& [key, number] : {std::pair{"roots", &out.roots}, std::pair{"eval_roots", &out.eval_roots}}) {
          if (has(key) && at(key) != "all") *number = static_cast<std::uint32_t>(whole(key));
        }
        break;
      case Source::drawn:
        drawn(out);
        break;
      case Source::random:
        (void)needed("columns", ": how many random features a node gets");
        out.columns = whole("columns");
        if (has("distribution")) out.distribution = parsed<Distribution>("distribution");
        fan(out);
        break;
    }
  }
  void types(Step& out) const {
    const std::vector<std::uint64_t>& own = set_size(out.space) == 3 ? data_.triple_types : data_.pair_types;
    out.types = own;
    if (has("types")) {
      json list = at("types");
      for (json& item : list) {  // beyond TOML's signed 64 bits they are text
        if (item.is_string() && json::accept(item.get<std::string>())) item = json::parse(item.get<std::string>());
      }
      if (!list.is_array() || list.empty() || list.size() > kMostColumns ||
          !std::all_of(list.begin(), list.end(), [](const json& item) { return item.is_number_unsigned(); })) {
        fail("types", "expected a list of whole numbers, found {}", shown(list));
      }
      out.types = list.get<std::vector<std::uint64_t>>();
      if (!std::ranges::is_sorted(out.types, std::less_equal<>())) fail("types", "must ascend");
      if (!open_ && out.types != own) {
        fail("types", "{} types of sets, not those {} of the data; leave them out to take the data's", out.types.size(),
             own.size());
      }
    } else if (open_ && at("columns").is_number()) {
      fail("types", "are missing: which types the columns are; columns = \"types\" takes the data's");
    }
    if (open_ && out.types.empty()) out.types = {0};
    if (out.types.empty()) fail("types", "the data has no such sets");
    out.columns = input_columns("types", out.types.size());
  }
  void drawn(Step& out) const {
    out.random = parsed<Random>("random");
    out.depth = default_depth(out.random);
    if (has("depth")) out.depth = at("depth") == "leaf" ? kLeaf : static_cast<std::uint32_t>(whole("depth", kLeaf - 1));
    made_by("depth", [&] { validate_depth(out.random, out.depth); });
    out.columns = drawn_columns(out.random, out.depth);
    if (has("columns") && whole("columns") != out.columns) {
      fail("columns", "expected {}: those of {}", out.columns, name(out.random));
    }
  }
  void fan(Step& out) const {
    const bool xavier = is_xavier(out.distribution);
    if (has("fan") && !xavier) fail("fan", "is for the distributions xavier-normal and xavier-uniform");
    if (!xavier) return;
    out.fan = data_.xavier_fan;
    if (!has("fan")) return;
    out.fan = number("fan");
    if (!(out.fan > 0)) fail("fan", "expected a number above 0");
    if (!open_ && out.fan != data_.xavier_fan) {
      fail("fan", "is {}, but that of the data is {}; leave it out to take the data's", out.fan, data_.xavier_fan);
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
  const Entry* entry_ = nullptr;      ///< at_
  std::vector<std::string> weights_;  ///< of the step at hand, a name per term
};

}  // namespace

json json_of_toml(std::string_view text, std::string_view name) { return plain(table_of(text, name)); }

ModelConfig described_by(const std::string& value) {
  if (value.empty() || value.front() == '{' || value.find('\n') != value.npos) return described(value);
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(std::filesystem::status(value, unknown))) {
    throw InputError::at(value, "", "there is no such file, which was to describe a network");
  }
  if (std::filesystem::file_size(value, unknown) > kMostText) {
    throw InputError::at(value, "", "is larger than {} bytes: no description of a network", kMostText);
  }
  return described(read_file(value), value);
}

ModelConfig described(std::string_view text, std::string_view name) {
  const Program program = Reader(text, name, ModelConfig{}, true).run();
  ModelConfig config = recognised(program);
  for (const Step& step : program.steps) {
    if (config.kind != "network" || set_size(step.space) == 0) continue;
    throw InputError::at(
        name, "",
        "step {} is over {}: of networks over sets there are gcn2, gcn3 and gcn123 alone, and this is none of them",
        step.name, nn::name(step.space));
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
