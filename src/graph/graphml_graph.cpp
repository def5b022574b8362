#include "graph/graphml_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tyche {

namespace {

using Kind = GraphmlKey::Kind;

Kind parse_kind(std::string_view name, const Where& where) {
  if (name == "int" || name == "long") return Kind::whole;
  if (name == "float" || name == "double") return Kind::real;
  if (name == "boolean") return Kind::truth;
  if (name == "string") return Kind::text;
  where.fail(fmt::format("expected int, long, float, double, boolean or string for attr.type, found {}", shown(name)));
}

std::optional<GraphmlElement> parse_element(std::string_view name) {
  if (name == "node") return GraphmlElement::node;
  if (name == "edge") return GraphmlElement::edge;
  if (name == "graph") return GraphmlElement::graph;
  return std::nullopt;  // all; and ports, of which graphs here have none
}

const char* name_of(GraphmlElement element) {
  return element == GraphmlElement::node ? "node" : element == GraphmlElement::edge ? "edge" : "graph";
}

}  // namespace

GraphmlKey& GraphmlKeys::add(const XmlAttributes& attributes, const Where& where) {
  const auto id = attributes.find("id");
  if (!id) where.fail("expected an attribute id of <key>");
  if (!place_of_.emplace(*id, keys_.size()).second) where.fail(fmt::format("key {} stands twice", shown(*id)));
  GraphmlKey key;
  key.name = attributes.find("attr.name").value_or(*id);
  if (const auto type = attributes.find("attr.type")) key.kind = parse_kind(*type, where);
  if (const auto element = attributes.find("for")) key.only = parse_element(*element);
  keys_.push_back(std::move(key));
  return keys_.back();
}

std::size_t GraphmlKeys::find(const XmlAttributes& attributes, GraphmlElement element, const Where& where) const {
  const auto id = attributes.find("key");
  if (!id) where.fail("expected an attribute key of <data>");
  const auto found = place_of_.find(std::string(*id));
  if (found == place_of_.end()) where.fail(fmt::format("no <key> declares {}", shown(*id)));
  const GraphmlKey& key = keys_[found->second];
  if (key.only && *key.only != element) {
    where.fail(fmt::format("key {} is for {}s, not for {}s", shown(*id), name_of(*key.only), name_of(element)));
  }
  return found->second;
}

GraphmlMeaning GraphmlKeys::meaning(std::size_t key, GraphmlElement element, const Where& where) const {
  const std::string& name = keys_[key].name;
  const Kind kind = keys_[key].kind;
  const bool of_graph = element == GraphmlElement::graph;
  const bool category = name == "label" || (!of_graph && name == "type");
  const bool target = of_graph && name.starts_with("target");
  if (kind == Kind::text && (target || (category && (of_graph || name == "type")))) {
    where.fail(fmt::format("expected numbers under {} of {}s, but its key declares text (attr.type=\"string\")",
                           shown(name), name_of(element)));
  }
  if (kind == Kind::text) return GraphmlMeaning::nothing;
  if (category) return GraphmlMeaning::category;
  return of_graph && !target ? GraphmlMeaning::nothing : GraphmlMeaning::column;
}

float GraphmlKeys::number(std::size_t key, std::string_view text, const Where& where) const {
  if (keys_[key].kind == Kind::truth) {
    for (const std::string_view yes : {"true", "True", "1"}) {
      if (text == yes) return 1;
    }
    for (const std::string_view no : {"false", "False", "0"}) {
      if (text == no) return 0;
    }
    where.fail(fmt::format("expected true or false under {}, found {}", shown(keys_[key].name), shown(text)));
  }
  Row row(text, where);
  const std::string what = fmt::format("a number under {}", shown(keys_[key].name));
  const float value = row.real(what.c_str());
  row.expect_end("the number");
  return value;
}

namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

std::uint32_t parse_category(const char* element, const char* category, std::string_view text, const Where& where) {
  Row row(text, where);
  const std::string what = fmt::format("the {} of a {}", category, element);
  const std::uint64_t value = row.natural(what.c_str());
  row.expect_end(what.c_str());
  if (value > std::numeric_limits<std::uint32_t>::max()) where.fail(fmt::format("{} {} is too large", category, value));
  return static_cast<std::uint32_t>(value);
}

/// What nodes and edges are to give: the one data that some may lack.
bool is_target(std::string_view name) {
  return name == "node_label" || name.starts_with("node_target") || name.starts_with("edge_target");
}

/// The columns whose names fit, taken out of a table.
template <class Fits>
Table taken_out(Table& table, const std::vector<std::string>& names, const Fits& fits) {
  Table out, rest;
  for (std::size_t c = 0; c < table.columns; ++c) ++(fits(names[c]) ? out : rest).columns;
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    (fits(names[i % table.columns]) ? out : rest).values.push_back(table.values[i]);
  }
  table = std::move(rest);
  return out;
}

/// Where each of `names` stands among `columns`, which take the names where there are none yet.
std::vector<std::size_t> places(const std::vector<std::string>& names, std::vector<std::string>& columns,
                                const char* what, const Where& where) {
  if (columns.empty()) columns = names;
  std::vector<std::size_t> out;
  for (const std::string& name : names) {
    const auto found = std::find(columns.begin(), columns.end(), name);
    if (found == columns.end()) {
      where.fail(fmt::format("this graph has {} {}, which the graphs before it have not", what, shown(name)));
    }
    out.push_back(static_cast<std::size_t>(found - columns.begin()));
  }
  return out;
}

}  // namespace

std::uint32_t GraphmlGraph::number_of(std::string_view id) {
  const auto [at, fresh] = ids_.emplace(id, static_cast<std::uint32_t>(ids_.size()));
  if (fresh) node_of_id_.emplace_back();
  return at->second;
}

void GraphmlGraph::add_node(std::string_view id, const Where& where) {
  std::optional<Node>& node = node_of_id_[number_of(id)];
  if (node) where.fail(fmt::format("node {} stands twice", shown(id)));
  node = static_cast<Node>(names_.size());
  names_.emplace_back(id);
  nodes_.lines.push_back(where.number);
  nodes_.categories.emplace_back();
}

void GraphmlGraph::add_edge(std::string_view source, std::string_view target, const Where& where) {
  const std::uint32_t from = number_of(source), to = number_of(target);
  ends_.emplace_back(from, to);
  edges_.lines.push_back(where.number);
  edges_.categories.emplace_back();
}

void GraphmlGraph::set_category(Elements& elements, std::size_t key, std::string_view text, const Where& where) {
  if (elements.categories.back()) {
    where.fail(fmt::format("this {} has its {} twice ('type' and 'label' are the same here)", elements.name,
                           elements.category));
  }
  elements.categories.back() = parse_category(elements.name, elements.category, text, where);
  elements.category_key = key;
}

void GraphmlGraph::add_data(GraphmlElement element, std::size_t key, std::string_view text, const Where& where) {
  const GraphmlMeaning meaning = keys_.meaning(key, element, where);
  if (meaning == GraphmlMeaning::nothing) return;
  if (element != GraphmlElement::graph) {
    Elements& elements = element == GraphmlElement::node ? nodes_ : edges_;
    if (meaning == GraphmlMeaning::category) return set_category(elements, key, text, where);
    elements.values.push_back({elements.lines.size() - 1, key, keys_.number(key, text, where)});
  } else if (meaning == GraphmlMeaning::column) {
    targets_.emplace_back(key, keys_.number(key, text, where));
  } else {
    if (label_) where.fail("this graph has its label twice");
    Row row(text, where);
    const std::int64_t label = row.integer("the label of a graph");
    row.expect_end("the label of a graph");
    if (label != static_cast<int>(label)) where.fail(fmt::format("label {} does not fit in 32 bits", label));
    label_ = static_cast<int>(label);
  }
}

std::vector<std::uint32_t> GraphmlGraph::categories(const Elements& elements) const {
  std::vector<std::uint32_t> out;
  if (!elements.category_key) return out;
  const GraphmlKey& key = keys_[*elements.category_key];
  for (std::size_t i = 0; i < elements.categories.size(); ++i) {
    const auto& category = elements.categories[i];
    if (!category && !key.has_fallback) {
      line(elements.lines[i])
          .fail(fmt::format("this {} has no {}, which others of its graph have", elements.name, elements.category));
    }
    out.push_back(category ? *category
                           : parse_category(elements.name, elements.category, key.fallback, line(elements.lines[i])));
  }
  return out;
}

Table GraphmlGraph::table(const Elements& elements, std::vector<std::string>& columns) const {
  Table out;
  std::vector<std::size_t> used;
  for (const Value& value : elements.values) used.push_back(value.key);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  if (used.empty()) return out;
  // Defaults fill a table from few bytes: rows × columns must stay within a multiple of the file.
  const std::size_t rows = elements.lines.size();
  if (rows * used.size() > 16 * bytes_ + (std::uint64_t{1} << 20)) {
    place_.fail(fmt::format("{} {}s with {} attributes each are too many for a file of {} bytes", rows, elements.name,
                            used.size(), bytes_));
  }
  std::vector<std::string> names;
  for (const std::size_t key : used) names.push_back(keys_[key].name);
  const std::vector<std::size_t> place = places(names, columns, fmt::format("{} data", elements.name).c_str(), place_);
  out.columns = columns.size();
  if (used.size() != out.columns) {
    place_.fail(fmt::format("this graph has {} attributes per {}, the graphs before it have {}", used.size(),
                            elements.name, out.columns));
  }
  out.values.assign(rows * out.columns, kNone);
  for (const Value& value : elements.values) {
    const auto column = std::lower_bound(used.begin(), used.end(), value.key) - used.begin();
    float& into = out.values[value.element * out.columns + place[static_cast<std::size_t>(column)]];
    if (!std::isnan(into)) {
      line(elements.lines[value.element])
          .fail(fmt::format("this {} has data {} twice", elements.name, shown(keys_[value.key].name)));
    }
    into = value.number;
  }
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t c = 0; c < used.size(); ++c) {
      float& into = out.values[i * out.columns + place[c]];
      if (!std::isnan(into)) continue;
      const GraphmlKey& key = keys_[used[c]];
      const Where where = line(elements.lines[i]);
      if (!key.has_fallback && is_target(key.name)) continue;
      if (!key.has_fallback) {
        where.fail(fmt::format("this {} has no {}, which others of its graph have", elements.name, shown(key.name)));
      }
      into = keys_.number(used[c], key.fallback, where);
    }
  }
  return out;
}

std::optional<std::vector<float>> GraphmlGraph::target(std::vector<std::string>& columns) const {
  // A key that is declared makes a column whether or not this graph has data for it: what is missing is NaN.
  std::vector<std::size_t> declared;
  std::vector<std::string> names;
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    const bool graphs = keys_[k].only == GraphmlElement::graph;
    if (!graphs || keys_.meaning(k, GraphmlElement::graph, place_) != GraphmlMeaning::column) continue;
    declared.push_back(k);
    names.push_back(keys_[k].name);
  }
  const std::vector<std::size_t> place = places(names, columns, "a target", place_);
  if (columns.empty()) return std::nullopt;
  std::vector<float> out(columns.size(), kNone);
  for (const auto& [key, number] : targets_) {
    const auto at = std::find(declared.begin(), declared.end(), key);
    if (at == declared.end()) place_.fail(fmt::format("the key of {} must be for graphs", shown(keys_[key].name)));
    float& into = out[place[static_cast<std::size_t>(at - declared.begin())]];
    if (!std::isnan(into)) place_.fail(fmt::format("this graph has data {} twice", shown(keys_[key].name)));
    into = number;
  }
  return out;
}

GraphItem GraphmlGraph::finish(GraphmlColumns& columns, Cleaning* cleaning) const {
  ListedEdges listed;
  listed.ends.reserve(ends_.size());
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    for (const std::uint32_t end : {ends_[i].first, ends_[i].second}) {
      if (node_of_id_[end]) continue;
      const auto id = std::find_if(ids_.begin(), ids_.end(), [end](const auto& known) { return known.second == end; });
      line(edges_.lines[i]).fail(fmt::format("this edge joins {}, and no node has that id", shown(id->first)));
    }
    listed.ends.emplace_back(*node_of_id_[ends_[i].first], *node_of_id_[ends_[i].second]);
  }
  listed.labels = categories(edges_);
  listed.attributes = table(edges_, columns.edge);
  std::vector<std::string> left = columns.edge;
  const auto take = [&left](Table& from, auto fits) {
    Table out = taken_out(from, left, fits);
    if (out.columns > 0) std::erase_if(left, fits);
    return out;
  };
  // Beside labels a weight is an attribute.
  const Table weights =
      take(listed.attributes, [&](const std::string& name) { return name == "weight" && listed.labels.empty(); });
  listed.targets = take(listed.attributes, [](const std::string& name) { return name.starts_with("edge_target"); });
  listed.weighted = weights.columns > 0;
  for (const float weight : weights.values) listed.labels.push_back(label_of_weight(weight));
  EdgeListing listing;
  listing.whole = "graph";
  listing.place = [&](std::size_t entry) { return line(edges_.lines[entry]); };
  listing.name = [&](Node v) { return shown(names_[v]); };
  listing.conflict = [&](std::size_t first, std::size_t second, std::string_view differs) {
    return EdgeListing::Conflict{
        line(edges_.lines[second]),
        fmt::format("this edge has {} than on line {}, where it stands too", differs, edges_.lines[first])};
  };
  ListedEdges settled = settle_edges(listed, directed_ ? Directions::both : Directions::once, listing, cleaning);

  GraphItem item;
  item.graph = Graph::from_edges(static_cast<Node>(names_.size()), settled.ends, categories(nodes_), settled.labels);
  item.weighted = settled.weighted;
  item.edge_attributes = std::move(settled.attributes);
  item.edge_targets = std::move(settled.targets);
  item.attributes = table(nodes_, columns.node);
  left = columns.node;
  item.node_targets = take(item.attributes, [](const std::string& name) { return name.starts_with("node_target"); });
  const Table node_labels = take(item.attributes, [](const std::string& name) { return name == "node_label"; });
  if (node_labels.columns > 0) item.node_labels.emplace();
  for (std::size_t v = 0; v < node_labels.values.size(); ++v) {
    const float label = node_labels.values[v];
    if (!std::isnan(label) && (std::floor(label) != label || std::abs(label) > 0x1p24f)) {
      line(nodes_.lines[v]).fail(fmt::format("expected a whole number up to 2^24 under 'node_label', found {}", label));
    }
    item.node_labels->push_back(std::isnan(label) ? kNoLabel : static_cast<int>(label));
  }
  constexpr std::string_view kMasks[] = {"train_mask", "validation_mask", "test_mask"};
  for (std::size_t part = 0; part < 3; ++part) {
    const Table mask = take(item.attributes, [&](const std::string& name) { return name == kMasks[part]; });
    for (std::size_t v = 0; v < mask.values.size(); ++v) {
      item.node_parts.resize(names_.size(), NodePart::none);
      if (mask.values[v] == 0) continue;
      if (item.node_parts[v] != NodePart::none) line(nodes_.lines[v]).fail("this node is in two masks");
      item.node_parts[v] = static_cast<NodePart>(part + 1);
    }
  }
  item.label = label_;
  item.target = target(columns.target);
  return item;
}

}  // namespace tyche
