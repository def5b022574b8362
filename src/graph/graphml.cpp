#include <expat.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/formats.hpp"
#include "graph/lines.hpp"
#include "graph/listed_edges.hpp"
#include "graph/set_builder.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace tyche {

namespace {

/// The attributes of an element.
class XmlAttributes {
 public:
  explicit XmlAttributes(const char** pairs) : pairs_(pairs) {}
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const {
    for (const char** pair = pairs_; *pair != nullptr; pair += 2) {
      if (name == pair[0]) return pair[1];
    }
    return std::nullopt;
  }

 private:
  const char** pairs_;
};

/// Safe on files of strangers: no document type declarations (so no entities to expand), at most so many elements deep,
/// nothing fetched.
constexpr int kDeepest = 64;

std::string_view local_name(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

/// One parse. No exception may pass through expat's frames: the first is kept, and the parser stopped.
template <class Handler>
class XmlParse {
 public:
  XmlParse(std::string_view name, Handler& handler)
      : parser_(XML_ParserCreate(nullptr)), name_(name), handler_(handler) {
    if (!parser_) throw std::bad_alloc();
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(
        parser_.get(),
        [](void* self, const XML_Char* element, const XML_Char** pairs) {
          static_cast<XmlParse*>(self)->guarded([&](XmlParse& parse) {
            if (++parse.depth_ > kDeepest) parse.here().fail("elements nest deeper than {}", kDeepest);
            parse.handler_.start(local_name(element), XmlAttributes(pairs), parse.here());
          });
        },
        [](void* self, const XML_Char* element) {
          static_cast<XmlParse*>(self)->guarded([&](XmlParse& parse) {
            --parse.depth_;
            parse.handler_.end(local_name(element), parse.here());
          });
        });
    XML_SetCharacterDataHandler(parser_.get(), [](void* self, const XML_Char* text, int length) {
      static_cast<XmlParse*>(self)->guarded([&](XmlParse& parse) {
        parse.handler_.text({text, static_cast<std::size_t>(length)}, parse.here());
      });
    });
    XML_SetStartDoctypeDeclHandler(
        parser_.get(), [](void* self, const XML_Char*, const XML_Char*, const XML_Char*, int) {
          static_cast<XmlParse*>(self)->guarded([](XmlParse& parse) {
            parse.here().fail("document type declarations (<!DOCTYPE …>) are not read; graphs need none");
          });
        });
  }

  void feed(std::string_view bytes, bool last) {
    const auto status = XML_Parse(parser_.get(), bytes.data(), static_cast<int>(bytes.size()), last ? 1 : 0);
    if (thrown_) std::rethrow_exception(thrown_);
    if (status != XML_STATUS_OK) {
      here().fail("not XML: {}", XML_ErrorString(XML_GetErrorCode(parser_.get())));
    }
  }

 private:
  struct Free {
    void operator()(XML_ParserStruct* parser) const { XML_ParserFree(parser); }
  };

  template <class Call>
  void guarded(Call call) {
    if (thrown_) return;
    try {
      call(*this);
    } catch (...) {
      thrown_ = std::current_exception();
      XML_StopParser(parser_.get(), XML_FALSE);
    }
  }
  [[nodiscard]] Where here() const { return {name_, "line", XML_GetCurrentLineNumber(parser_.get())}; }

  std::unique_ptr<XML_ParserStruct, Free> parser_;
  std::string_view name_;
  Handler& handler_;
  std::exception_ptr thrown_;
  int depth_ = 0;
};

/// Reads XML by expat, as calls of a handler: start(name, attributes, where), end(name, where), text(piece, where);
/// names are without their namespace's prefix, a text may come in several pieces. Throws InputError with the line where
/// the bytes are not XML, and what the handler throws.
template <class Handler>
void parse_xml(std::string_view bytes, std::string_view name, Handler& handler) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  XmlParse<Handler> parse(name, handler);
  do {
    const std::string_view piece = bytes.substr(0, kPiece);
    bytes.remove_prefix(piece.size());
    parse.feed(piece, bytes.empty());
  } while (!bytes.empty());
}

// The keys of a GraphML file: what its <data> means.
//
//   nodes, edges   type or label (a number): the type, the label; other numbers and truth values: an attribute
//   graphs         label: the label; target…: a target
//
// Other data, and text, is not looked at; text where a type, a graph's label or a target belongs is refused.
enum class GraphmlElement { graph, node, edge };

struct GraphmlKey {
  enum class Kind { whole, real, truth, text };
  std::string name;
  Kind kind = Kind::text;
  std::optional<GraphmlElement> only;  ///< the elements it is for; nothing: all
  std::string fallback;                ///< its <default>, for elements that lack it
  bool has_fallback = false;
};

using Kind = GraphmlKey::Kind;

Kind parse_kind(std::string_view name, const Where& where) {
  if (name == "int" || name == "long") return Kind::whole;
  if (name == "float" || name == "double") return Kind::real;
  if (name == "boolean") return Kind::truth;
  if (name == "string") return Kind::text;
  where.fail("expected int, long, float, double, boolean or string for attr.type, found {}", shown(name));
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

/// What data is for an element.
enum class GraphmlMeaning { nothing, category, column };

class GraphmlKeys {
 public:
  /// A <key> element. Fails at `where` on one without id, or with an id that stands already.
  GraphmlKey& add(const XmlAttributes& attributes, const Where& where) {
    const auto id = attributes.find("id");
    if (!id) where.fail("expected an attribute id of <key>");
    if (!place_of_.emplace(*id, keys_.size()).second) where.fail("key {} stands twice", shown(*id));
    GraphmlKey key;
    key.name = attributes.find("attr.name").value_or(*id);
    if (const auto type = attributes.find("attr.type")) key.kind = parse_kind(*type, where);
    if (const auto element = attributes.find("for")) key.only = parse_element(*element);
    keys_.push_back(std::move(key));
    return keys_.back();
  }
  /// The place of the key of a <data> element. Fails where it is not declared, or not for such elements.
  [[nodiscard]] std::size_t find(const XmlAttributes& attributes, GraphmlElement element, const Where& where) const {
    const auto id = attributes.find("key");
    if (!id) where.fail("expected an attribute key of <data>");
    const auto found = place_of_.find(std::string(*id));
    if (found == place_of_.end()) where.fail("no <key> declares {}", shown(*id));
    const GraphmlKey& key = keys_[found->second];
    if (key.only && *key.only != element) {
      where.fail("key {} is for {}s, not for {}s", shown(*id), name_of(*key.only), name_of(element));
    }
    return found->second;
  }
  [[nodiscard]] const GraphmlKey& operator[](std::size_t i) const { return keys_[i]; }
  [[nodiscard]] std::size_t size() const { return keys_.size(); }

  /// `category` is the type of a node, the label of an edge or graph; `column` an attribute, or target of a graph.
  /// Fails at `where` on text where there must be a number.
  [[nodiscard]] GraphmlMeaning meaning(std::size_t key, GraphmlElement element, const Where& where) const {
    const std::string& name = keys_[key].name;
    const Kind kind = keys_[key].kind;
    const bool of_graph = element == GraphmlElement::graph;
    const bool category = name == "label" || (!of_graph && name == "type");
    const bool target = of_graph && name.starts_with("target");
    if (kind == Kind::text && (target || (category && (of_graph || name == "type")))) {
      where.fail("expected numbers under {} of {}s, but its key declares text (attr.type=\"string\")", shown(name),
                 name_of(element));
    }
    if (kind == Kind::text) return GraphmlMeaning::nothing;
    if (category) return GraphmlMeaning::category;
    return of_graph && !target ? GraphmlMeaning::nothing : GraphmlMeaning::column;
  }

  /// The number that `text` is under the key. Fails at `where`.
  [[nodiscard]] float number(std::size_t key, std::string_view text, const Where& where) const {
    if (keys_[key].kind == Kind::truth) {
      for (const std::string_view yes : {"true", "True", "1"}) {
        if (text == yes) return 1;
      }
      for (const std::string_view no : {"false", "False", "0"}) {
        if (text == no) return 0;
      }
      where.fail("expected true or false under {}, found {}", shown(keys_[key].name), shown(text));
    }
    Row row(text, where);
    const std::string what = fmt::format("a number under {}", shown(keys_[key].name));
    const float value = row.real(what.c_str());
    row.expect_end("the number");
    return value;
  }

 private:
  std::vector<GraphmlKey> keys_;
  std::unordered_map<std::string, std::size_t> place_of_;
};

/// The names of the columns of a set, as its first graphs have them; the columns of later ones go by these.
struct GraphmlColumns {
  std::vector<std::string> node, edge, target;
};

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

std::uint32_t parse_category(const char* element, const char* category, std::string_view text, const Where& where) {
  Row row(text, where);
  const std::string what = fmt::format("the {} of a {}", category, element);
  const std::uint64_t value = row.natural(what.c_str());
  row.expect_end(what.c_str());
  if (value > std::numeric_limits<std::uint32_t>::max()) where.fail("{} {} is too large", category, value);
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
      where.fail("this graph has {} {}, which the graphs before it have not", what, shown(name));
    }
    out.push_back(static_cast<std::size_t>(found - columns.begin()));
  }
  return out;
}

/// One <graph> while it is read: nodes by their ids, edges between ids, and the numbers of both.
class GraphmlGraph {
 public:
  /// `place` is that of <graph>; `bytes` the size of the file, against which tables are checked before they are made.
  GraphmlGraph(const GraphmlKeys& keys, bool directed, Where place, std::uint64_t bytes)
      : keys_(keys), directed_(directed), place_(place), bytes_(bytes) {}

  /// Fails on an id that stands already.
  void add_node(std::string_view id, const Where& where) {
    std::optional<Node>& node = node_of_id_[number_of(id)];
    if (node) where.fail("node {} stands twice", shown(id));
    node = static_cast<Node>(names_.size());
    names_.emplace_back(id);
    nodes_.lines.push_back(where.number);
    nodes_.categories.emplace_back();
  }
  /// The ends may be declared later.
  void add_edge(std::string_view source, std::string_view target, const Where& where) {
    const std::uint32_t from = number_of(source), to = number_of(target);
    ends_.emplace_back(from, to);
    edges_.lines.push_back(where.number);
    edges_.categories.emplace_back();
  }
  /// <data> of the element added last, or of the graph.
  void add_data(GraphmlElement element, std::size_t key, std::string_view text, const Where& where) {
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
      if (label != static_cast<int>(label)) where.fail("label {} does not fit in 32 bits", label);
      label_ = static_cast<int>(label);
    }
  }

  /// Fails where an edge joins a node that is not declared, as settle_edges does, and where elements lack data that
  /// others have.
  [[nodiscard]] GraphItem finish(GraphmlColumns& columns, Cleaning* cleaning) const {
    ListedEdges listed;
    listed.ends.reserve(ends_.size());
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      for (const std::uint32_t end : {ends_[i].first, ends_[i].second}) {
        if (node_of_id_[end]) continue;
        const auto id =
            std::find_if(ids_.begin(), ids_.end(), [end](const auto& known) { return known.second == end; });
        line(edges_.lines[i]).fail("this edge joins {}, and no node has that id", shown(id->first));
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
    listing.place = [&](std::size_t entry, std::string_view) { return line(edges_.lines[entry]); };
    listing.name = [&](Node v) { return shown(names_[v]); };
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
        line(nodes_.lines[v]).fail("expected a whole number up to 2^24 under 'node_label', found {}", label);
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
  [[nodiscard]] bool directed() const { return directed_; }
  [[nodiscard]] const Where& place() const { return place_; }

 private:
  struct Value {
    std::size_t element;
    std::size_t key;
    float number;
  };
  /// What is known of the nodes or the edges.
  struct Elements {
    const char* name;
    const char* category;
    std::vector<std::uint64_t> lines{};
    std::vector<std::optional<std::uint32_t>> categories{};  ///< types, labels
    std::optional<std::size_t> category_key{};
    std::vector<Value> values{};
  };

  void set_category(Elements& elements, std::size_t key, std::string_view text, const Where& where) {
    if (elements.categories.back()) {
      where.fail("this {} has its {} twice ('type' and 'label' are the same here)", elements.name, elements.category);
    }
    elements.categories.back() = parse_category(elements.name, elements.category, text, where);
    elements.category_key = key;
  }
  [[nodiscard]] std::vector<std::uint32_t> categories(const Elements& elements) const {
    std::vector<std::uint32_t> out;
    if (!elements.category_key) return out;
    const GraphmlKey& key = keys_[*elements.category_key];
    for (std::size_t i = 0; i < elements.categories.size(); ++i) {
      const auto& category = elements.categories[i];
      if (!category && !key.has_fallback) {
        line(elements.lines[i])
            .fail("this {} has no {}, which others of its graph have", elements.name, elements.category);
      }
      out.push_back(category ? *category
                             : parse_category(elements.name, elements.category, key.fallback, line(elements.lines[i])));
    }
    return out;
  }
  [[nodiscard]] Table table(const Elements& elements, std::vector<std::string>& columns) const {
    Table out;
    std::vector<std::size_t> used;
    for (const Value& value : elements.values) used.push_back(value.key);
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    if (used.empty()) return out;
    // Defaults fill a table from few bytes: rows × columns must stay within a multiple of the file.
    const std::size_t rows = elements.lines.size();
    if (rows * used.size() > 16 * bytes_ + (std::uint64_t{1} << 20)) {
      place_.fail("{} {}s with {} attributes each are too many for a file of {} bytes", rows, elements.name,
                  used.size(), bytes_);
    }
    std::vector<std::string> names;
    for (const std::size_t key : used) names.push_back(keys_[key].name);
    const std::vector<std::size_t> place =
        places(names, columns, fmt::format("{} data", elements.name).c_str(), place_);
    out.columns = columns.size();
    if (used.size() != out.columns) {
      place_.fail("this graph has {} attributes per {}, the graphs before it have {}", used.size(), elements.name,
                  out.columns);
    }
    out.values.assign(rows * out.columns, kNone);
    for (const Value& value : elements.values) {
      const auto column = std::lower_bound(used.begin(), used.end(), value.key) - used.begin();
      float& into = out.values[value.element * out.columns + place[static_cast<std::size_t>(column)]];
      if (!std::isnan(into)) {
        line(elements.lines[value.element])
            .fail("this {} has data {} twice", elements.name, shown(keys_[value.key].name));
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
          where.fail("this {} has no {}, which others of its graph have", elements.name, shown(key.name));
        }
        into = keys_.number(used[c], key.fallback, where);
      }
    }
    return out;
  }
  [[nodiscard]] std::optional<std::vector<float>> target(std::vector<std::string>& columns) const {
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
      if (at == declared.end()) place_.fail("the key of {} must be for graphs", shown(keys_[key].name));
      float& into = out[place[static_cast<std::size_t>(at - declared.begin())]];
      if (!std::isnan(into)) place_.fail("this graph has data {} twice", shown(keys_[key].name));
      into = number;
    }
    return out;
  }
  [[nodiscard]] std::uint32_t number_of(std::string_view id) {
    const auto [at, fresh] = ids_.emplace(id, static_cast<std::uint32_t>(ids_.size()));
    if (fresh) node_of_id_.emplace_back();
    return at->second;
  }
  [[nodiscard]] Where line(std::uint64_t number) const { return {place_.file, "line", number}; }

  const GraphmlKeys& keys_;
  bool directed_;
  Where place_;
  std::uint64_t bytes_;
  /// Every id that stood, as a number; and its node, once that is declared.
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<std::optional<Node>> node_of_id_;
  std::vector<std::string> names_;                             ///< of the nodes
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends_;  ///< of the edges, by the numbers of ids
  Elements nodes_{"node", "type"};
  Elements edges_{"edge", "label"};
  std::optional<int> label_;
  std::vector<std::pair<std::size_t, float>> targets_;  ///< key and number
};

/// Longer text of a number is none.
constexpr std::size_t kLongestData = 1000;

/// Reads one file into a set that may have graphs of other files already.
class GraphmlReader {
 public:
  GraphmlReader(GraphSetBuilder& builder, GraphmlColumns& columns, std::uint64_t bytes, Cleaning* cleaning)
      : builder_(builder), columns_(columns), bytes_(bytes), cleaning_(cleaning) {}

  void start(std::string_view name, const XmlAttributes& attributes, const Where& where) {
    if (skipped_ > 0 || name == "desc") {
      ++skipped_;
      return;
    }
    const Inside inside = inside_.empty() ? Inside::document : inside_.back();
    if (inside == Inside::document && name == "graphml") return inside_.push_back(Inside::graphml);
    if (inside == Inside::graphml && name == "key") return start_key(attributes, where);
    if (inside == Inside::key && name == "default") return start_default();
    if (inside == Inside::graphml && name == "graph") return start_graph(attributes, where);
    if (inside == Inside::graph && name == "node") return start_node(attributes, where);
    if (inside == Inside::graph && name == "edge") return start_edge(attributes, where);
    if (name == "data" && inside != Inside::document && inside != Inside::key) {
      return start_data(inside, attributes, where);
    }
    if (inside == Inside::document) where.fail("expected <graphml>, found <{}>", shown_name(name));
    if (name == "graph") where.fail("a graph within a graph is not read");
    if (name == "hyperedge") where.fail("hyperedges are not read: edges here join two nodes");
    if (name == "port") {
      ++skipped_;  // parts of nodes that edges may be drawn to
      return;
    }
    where.fail("<{}> does not belong here", shown_name(name));
  }

  void end(std::string_view, const Where& where) {
    if (skipped_ > 0) {
      --skipped_;
      return;
    }
    const Inside inside = inside_.back();
    inside_.pop_back();
    if (inside == Inside::graph) {
      builder_.add(graph_->finish(columns_, cleaning_), graph_->place());
      graph_.reset();
    } else if (inside == Inside::fallback) {
      key_->fallback = trimmed();
      key_->has_fallback = true;
    } else if (inside == Inside::data) {
      graph_->add_data(element_, data_key_, trimmed(), where);
    }
  }

  void text(std::string_view piece, const Where& where) {
    if (skipped_ > 0 || inside_.empty()) return;
    if (inside_.back() != Inside::data && inside_.back() != Inside::fallback) {
      if (piece.find_first_not_of(" \t\r\n") != std::string_view::npos) {
        where.fail("text {} does not belong here", shown(piece));
      }
      return;
    }
    text_ += piece;
    if (text_.size() > kLongestData) where.fail("more than {} characters of data", kLongestData);
  }

 private:
  enum class Inside { document, graphml, key, fallback, graph, node, edge, data };

  static std::string shown_name(std::string_view name) {
    const std::string quoted = shown(name);
    return quoted.substr(1, quoted.size() - 2);
  }

  std::string_view trimmed() const {
    const std::string_view all = text_;
    const std::size_t begin = all.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return {};
    return all.substr(begin, all.find_last_not_of(" \t\r\n") + 1 - begin);
  }

  void start_key(const XmlAttributes& attributes, const Where& where) {
    key_ = &keys_.add(attributes, where);
    inside_.push_back(Inside::key);
  }

  void start_default() {
    if (key_->kind == GraphmlKey::Kind::text) {
      ++skipped_;
      return;
    }
    text_.clear();
    inside_.push_back(Inside::fallback);
  }

  void start_graph(const XmlAttributes& attributes, const Where& where) {
    const auto direction = attributes.find("edgedefault");
    if (!direction || (*direction != "undirected" && *direction != "directed")) {
      where.fail("expected edgedefault=\"undirected\" or \"directed\" in <graph>");
    }
    graph_.emplace(keys_, *direction == "directed", where, bytes_);
    inside_.push_back(Inside::graph);
  }

  void start_node(const XmlAttributes& attributes, const Where& where) {
    const auto id = attributes.find("id");
    if (!id) where.fail("expected an attribute id of <node>");
    graph_->add_node(*id, where);
    inside_.push_back(Inside::node);
  }

  void start_edge(const XmlAttributes& attributes, const Where& where) {
    const auto source = attributes.find("source"), target = attributes.find("target");
    if (!source || !target) where.fail("expected attributes source and target of <edge>");
    if (const auto directed = attributes.find("directed")) {
      if (*directed != (graph_->directed() ? "true" : "false")) {
        where.fail("edges with and without a direction in one graph are not read");
      }
    }
    graph_->add_edge(*source, *target, where);
    inside_.push_back(Inside::edge);
  }

  void start_data(Inside inside, const XmlAttributes& attributes, const Where& where) {
    const bool looked_at = inside == Inside::graph || inside == Inside::node || inside == Inside::edge;
    if (!looked_at) {
      ++skipped_;  // of the file, or within other data
      return;
    }
    element_ = inside == Inside::graph  ? GraphmlElement::graph
               : inside == Inside::node ? GraphmlElement::node
                                        : GraphmlElement::edge;
    data_key_ = keys_.find(attributes, element_, where);
    if (keys_.meaning(data_key_, element_, where) == GraphmlMeaning::nothing) {
      ++skipped_;
      return;
    }
    text_.clear();
    inside_.push_back(Inside::data);
  }

  GraphSetBuilder& builder_;
  GraphmlColumns& columns_;
  std::uint64_t bytes_;
  Cleaning* cleaning_;
  GraphmlKeys keys_;
  std::vector<Inside> inside_;
  std::size_t skipped_ = 0;  ///< elements open that are not looked at
  GraphmlKey* key_ = nullptr;
  std::optional<GraphmlGraph> graph_;
  GraphmlElement element_ = GraphmlElement::graph;
  std::size_t data_key_ = 0;
  std::string text_;
};

}  // namespace

GraphSet parse_graphml(std::string_view bytes, std::string_view name, Cleaning* cleaning) {
  GraphSetBuilder builder;
  GraphmlColumns columns;
  GraphmlReader reader(builder, columns, bytes.size(), cleaning);
  parse_xml(bytes, name, reader);
  return builder.finish();
}

bool has_graphml_extension(const std::filesystem::path& file) { return file.extension() == ".graphml"; }

GraphSet read_graphml_folder(const std::filesystem::path& folder, Cleaning* cleaning) {
  GraphSetBuilder builder;
  GraphmlColumns columns;
  std::size_t files = 0;
  for (const std::string& name : list_folder(folder)) {
    if (!has_graphml_extension(name)) continue;
    const std::string bytes = read_file(folder / name);
    GraphmlReader reader(builder, columns, bytes.size(), cleaning);
    parse_xml(bytes, (folder / name).string(), reader);
    ++files;
  }
  if (files == 0) throw InputError::at(folder.string(), "", "holds no .graphml files");
  return builder.finish();
}

}  // namespace tyche
