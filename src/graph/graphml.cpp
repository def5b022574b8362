#include <expat.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/assembly.hpp"
#include "graph/formats.hpp"
#include "graph/units.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace tyche {

namespace {

using XmlAttributes = const char**;

std::optional<std::string_view> find(XmlAttributes pair, std::string_view name) {
  for (; *pair != nullptr; pair += 2) {
    if (name == pair[0]) return pair[1];
  }
  return std::nullopt;
}

// The keys of a GraphML file: what its <data> means.
//
//   nodes, edges   type or label (a number): the type, the label; other numbers and truth values: an attribute
//   graphs         label: the label; target…: a target
//
// Other data, and text, is not looked at; text where a type, a label, a target or a weight belongs is refused.
struct GraphmlKey {
  enum class Kind { number, truth, text };
  std::string name;
  Kind kind = Kind::text;
  std::optional<Unit> only;  ///< the elements it is for; nothing: all (and ports, of which graphs here have none)
  std::optional<std::string> fallback;  ///< its <default>, for elements that lack it
};

using Kind = GraphmlKey::Kind;

/// What nodes and edges are to give: the one data that some may lack.
bool is_learned(std::string_view name) {
  return name == "node_label" || name.starts_with("node_target") || name.starts_with("edge_target");
}

/// What data is for an element.
enum class GraphmlMeaning { nothing, category, column };

class GraphmlKeys {
 public:
  /// A <key> element. Fails at `where` on one without id, or with an id that stands already.
  void add(XmlAttributes attributes, const Where& where) {
    constexpr std::pair<std::string_view, Kind> kKinds[] = {{"int", Kind::number},    {"long", Kind::number},
                                                            {"float", Kind::number},  {"double", Kind::number},
                                                            {"boolean", Kind::truth}, {"string", Kind::text}};
    const auto id = find(attributes, "id");
    if (!id) where.fail("expected an attribute id of <key>");
    if (!place_of_.emplace(*id, keys_.size()).second) where.fail("key {} stands twice", shown(*id));
    GraphmlKey& key = keys_.emplace_back();
    key.name = find(attributes, "attr.name").value_or(*id);
    if (const auto type = find(attributes, "attr.type")) {
      const auto kind = std::ranges::find(kKinds, *type, &std::pair<std::string_view, Kind>::first);
      if (kind == std::end(kKinds)) {
        where.fail("expected int, long, float, double, boolean or string for attr.type, found {}", shown(*type));
      }
      key.kind = kind->second;
    }
    for (const Unit unit : {Unit::graph, Unit::node, Unit::edge}) {
      if (find(attributes, "for") == tyche::name(unit)) key.only = unit;
    }
  }
  /// The place of the key of a <data> element. Fails where it is not declared, or not for such elements.
  [[nodiscard]] std::size_t key_of(XmlAttributes attributes, Unit element, const Where& where) const {
    const auto id = find(attributes, "key");
    if (!id) where.fail("expected an attribute key of <data>");
    const auto found = place_of_.find(std::string(*id));
    if (found == place_of_.end()) where.fail("no <key> declares {}", shown(*id));
    const GraphmlKey& key = keys_[found->second];
    if (key.only.value_or(element) != element) {
      where.fail("key {} is for {}s, not for {}s", shown(*id), tyche::name(*key.only), tyche::name(element));
    }
    return found->second;
  }
  [[nodiscard]] const GraphmlKey& operator[](std::size_t i) const { return keys_[i]; }
  [[nodiscard]] GraphmlKey& last() { return keys_.back(); }
  [[nodiscard]] std::size_t size() const { return keys_.size(); }

  /// `category` is the type of a node, the label of an edge or graph; `column` an attribute, or target of a graph.
  /// Fails at `where` on text where there must be a number.
  [[nodiscard]] GraphmlMeaning meaning(std::size_t key, Unit element, const Where& where) const {
    const std::string& name = keys_[key].name;
    const bool text = keys_[key].kind == Kind::text, of_graph = element == Unit::graph;
    const bool category = name == "label" || (!of_graph && name == "type");
    const bool target = of_graph && name.starts_with("target");
    const bool given = is_learned(name) && name.starts_with(tyche::name(element));
    const bool weight = element == Unit::edge && name == "weight";
    if (text && (target || given || weight || (category && (of_graph || name == "type")))) {
      where.fail("expected numbers under {} of {}s, but its key declares text (attr.type=\"string\")", shown(name),
                 tyche::name(element));
    }
    if (text || (of_graph && !category && !target)) return GraphmlMeaning::nothing;
    return category ? GraphmlMeaning::category : GraphmlMeaning::column;
  }

  /// The number that `text` is under the key. Fails at `where`.
  [[nodiscard]] float number(std::size_t key, std::string_view text, const Where& where) const {
    if (keys_[key].kind == Kind::truth) {
      constexpr std::string_view kTruths[] = {"false", "False", "0", "true", "True", "1"};
      const auto found = std::ranges::find(kTruths, text);
      if (found != std::end(kTruths)) return found - kTruths < 3 ? 0 : 1;
      where.fail("expected true or false under {}, found {}", shown(keys_[key].name), shown(text));
    }
    Row row(text, where);
    const float value = row.real(fmt::format("a number under {}", shown(keys_[key].name)).c_str());
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

/// Columns with names.
struct NamedTable {
  std::vector<std::string> names{};
  Table table{};

  /// Those whose names fit, taken out.
  template <class Fits>
  Table take(const Fits& fits) {
    Table out, rest;
    for (const std::string& name : names) ++(fits(name) ? out : rest).columns;
    for (std::size_t i = 0; i < table.values.size(); ++i) {
      (fits(names[i % names.size()]) ? out : rest).values.push_back(table.values[i]);
    }
    std::erase_if(names, fits);
    table = std::move(rest);
    return out;
  }
  Table take_all(std::string_view begin) {
    return take([begin](const std::string& name) { return name.starts_with(begin); });
  }
};

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
  }
  /// The ends may be declared later.
  void add_edge(std::string_view source, std::string_view target, const Where& where) {
    const std::uint32_t from = number_of(source), to = number_of(target);
    ends_.emplace_back(from, to);
    edges_.lines.push_back(where.number);
  }
  /// <data> of the element added last, or of the graph.
  void add_data(Unit element, std::size_t key, std::string_view text, const Where& where) {
    const GraphmlMeaning meaning = keys_.meaning(key, element, where);
    if (element != Unit::graph) {
      Elements& elements = element == Unit::node ? nodes_ : edges_;
      const bool category = meaning == GraphmlMeaning::category;
      (category ? elements.categories : elements.values)
          .push_back({elements.lines.size() - 1, key, number(elements, category, key, text, where)});
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
        const auto id = std::ranges::find_if(ids_, [end](const auto& known) { return known.second == end; });
        line(edges_.lines[i]).fail("this edge joins {}, and no node has that id", shown(id->first));
      }
      listed.ends.emplace_back(*node_of_id_[ends_[i].first], *node_of_id_[ends_[i].second]);
    }
    listed.labels = categories(edges_);
    NamedTable numbers = table(edges_, columns.edge);
    // Beside labels a weight is an attribute.
    const Table weights =
        numbers.take([&](const std::string& name) { return name == "weight" && listed.labels.empty(); });
    listed.targets = numbers.take_all("edge_target");
    listed.attributes = std::move(numbers.table);
    listed.weighted = weights.columns > 0;
    for (const float weight : weights.values) listed.labels.push_back(label_of_weight(weight));
    const auto place = [&](std::size_t entry) { return line(edges_.lines[entry]); };
    const EdgeListing listing{.whole = "graph", .place = place, .name = [&](Node v) { return shown(names_[v]); }};

    GraphItem item;
    item.take(static_cast<Node>(names_.size()),
              settle_edges(listed, directed_ ? Directions::both : Directions::once, listing, cleaning),
              categories(nodes_));
    numbers = table(nodes_, columns.node);
    item.node_targets = numbers.take_all("node_target");
    const Table node_labels = numbers.take([](const std::string& name) { return name == "node_label"; });
    if (node_labels.columns > 0) item.node_labels.emplace();
    for (std::size_t v = 0; v < node_labels.values.size(); ++v) {
      const float label = node_labels.values[v];
      if (!std::isnan(label) && (std::floor(label) != label || std::abs(label) > 0x1p24f)) {
        line(nodes_.lines[v]).fail("expected a whole number up to 2^24 under 'node_label', found {}", label);
      }
      item.node_labels->push_back(std::isnan(label) ? kNoLabel : static_cast<int>(label));
    }
    for (std::size_t part = 0; part < std::size(kMaskNames); ++part) {
      const Table mask = numbers.take([&](const std::string& name) { return name == kMaskNames[part]; });
      for (std::size_t v = 0; v < mask.values.size(); ++v) {
        item.node_parts.resize(names_.size(), NodePart::none);
        if (mask.values[v] == 0) continue;
        if (item.node_parts[v] != NodePart::none) line(nodes_.lines[v]).fail("this node is in two masks");
        item.node_parts[v] = static_cast<NodePart>(part + 1);
      }
    }
    item.attributes = std::move(numbers.table);
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
    double number;
  };
  /// What is known of the nodes or the edges.
  struct Elements {
    const char* name;
    const char* category;
    std::vector<std::uint64_t> lines{};
    std::vector<Value> categories{};  ///< types, labels
    std::vector<Value> values{};
  };

  [[nodiscard]] double number(const Elements& elements, bool category, std::size_t key, std::string_view text,
                              const Where& where) const {
    if (!category) return keys_.number(key, text, where);
    Row row(text, where);
    const std::string what = fmt::format("the {} of a {}", elements.category, elements.name);
    const std::uint64_t value = row.natural(what.c_str());
    row.expect_end(what.c_str());
    if (value > std::numeric_limits<std::uint32_t>::max()) where.fail("{} {} is too large", elements.category, value);
    return static_cast<double>(value);
  }
  /// Where the columns of keys stand.
  using Places = std::map<std::size_t, std::size_t>;
  /// Fills in places among `columns`, which take the names of the keys where there are none yet.
  void find_columns(Places& places, std::vector<std::string>& columns, const std::string& what) const {
    if (columns.empty()) {
      for (const auto& [key, place] : places) columns.push_back(keys_[key].name);
    }
    for (auto& [key, place] : places) {
      const auto found = std::ranges::find(columns, keys_[key].name);
      if (found == columns.end()) {
        place_.fail("this graph has {} {}, which the graphs before it have not", what, shown(keys_[key].name));
      }
      place = static_cast<std::size_t>(found - columns.begin());
    }
  }
  /// The categories, or the numbers under these keys, of all elements; what an element lacks is its key's default.
  [[nodiscard]] std::vector<double> filled(const Elements& elements, bool category, const Places& places,
                                           std::size_t columns) const {
    std::vector<double> out(elements.lines.size() * columns, kNone);
    for (const Value& value : category ? elements.categories : elements.values) {
      double& into = out[value.element * columns + (category ? 0 : places.at(value.key))];
      if (!std::isnan(into)) {
        line(elements.lines[value.element])
            .fail("this {} has {} twice{}", elements.name,
                  category ? fmt::format("its {}", elements.category) : "data " + shown(keys_[value.key].name),
                  category ? " ('type' and 'label' are the same here)" : "");
      }
      into = value.number;
    }
    for (std::size_t i = 0; i < elements.lines.size(); ++i) {
      for (const auto& [number_of_key, place] : places) {
        double& into = out[i * columns + place];
        const GraphmlKey& key = keys_[number_of_key];
        if (!std::isnan(into) || (!key.fallback && is_learned(key.name))) continue;
        const Where where = line(elements.lines[i]);
        if (!key.fallback) {
          where.fail("this {} has no {}, which others of its graph have", elements.name,
                     category ? elements.category : shown(key.name));
        }
        into = number(elements, category, number_of_key, *key.fallback, where);
      }
    }
    return out;
  }
  [[nodiscard]] std::vector<std::uint32_t> categories(const Elements& elements) const {
    if (elements.categories.empty()) return {};
    const std::vector<double> own = filled(elements, true, {{elements.categories.back().key, 0}}, 1);
    return {own.begin(), own.end()};
  }
  [[nodiscard]] NamedTable table(const Elements& elements, std::vector<std::string>& columns) const {
    Places used;
    for (const Value& value : elements.values) used.emplace(value.key, 0);
    if (used.empty()) return {};
    // Defaults fill a table from few bytes: rows × columns must stay within a multiple of the file.
    const std::size_t rows = elements.lines.size();
    if (rows * used.size() > 16 * bytes_ + (std::uint64_t{1} << 20)) {
      place_.fail("{} {}s with {} attributes each are too many for a file of {} bytes", rows, elements.name,
                  used.size(), bytes_);
    }
    find_columns(used, columns, fmt::format("{} data", elements.name));
    if (used.size() != columns.size()) {
      place_.fail("this graph has {} attributes per {}, the graphs before it have {}", used.size(), elements.name,
                  columns.size());
    }
    const std::vector<double> own = filled(elements, false, used, columns.size());
    return {columns, {{own.begin(), own.end()}, columns.size()}};
  }
  [[nodiscard]] std::optional<std::vector<float>> target(std::vector<std::string>& columns) const {
    // A key that is declared makes a column whether or not this graph has data for it: what is missing is NaN.
    Places declared;
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      const bool graphs = keys_[k].only == Unit::graph;
      if (graphs && keys_.meaning(k, Unit::graph, place_) == GraphmlMeaning::column) declared.emplace(k, 0);
    }
    find_columns(declared, columns, "a target");
    if (columns.empty()) return std::nullopt;
    std::vector<float> out(columns.size(), kNone);
    for (const auto& [key, number] : targets_) {
      const auto at = declared.find(key);
      if (at == declared.end()) place_.fail("the key of {} must be for graphs", shown(keys_[key].name));
      float& into = out[at->second];
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

/// Reads one file into a set that may have graphs of other files already. Safe on files of strangers: no document type
/// declarations (so no entities to expand), at most so many elements deep, nothing fetched. No exception may pass
/// through expat's frames: the first is kept, and the parser stopped.
class GraphmlReader {
 public:
  GraphmlReader(std::string_view bytes, std::string_view name, GraphSetBuilder& builder, GraphmlColumns& columns,
                Cleaning* cleaning)
      : bytes_(bytes),
        name_(name),
        builder_(builder),
        columns_(columns),
        cleaning_(cleaning),
        parser_(XML_ParserCreate(nullptr)) {
    if (!parser_) throw std::bad_alloc();
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(
        parser_.get(),
        [](void* self, const XML_Char* element, const XML_Char** pairs) {
          guarded(self, [&](GraphmlReader& reader) { reader.start(element, pairs); });
        },
        [](void* self, const XML_Char*) { guarded(self, [](GraphmlReader& reader) { reader.end(); }); });
    XML_SetCharacterDataHandler(parser_.get(), [](void* self, const XML_Char* piece, int length) {
      guarded(self, [&](GraphmlReader& reader) { reader.text({piece, static_cast<std::size_t>(length)}); });
    });
    XML_SetStartDoctypeDeclHandler(
        parser_.get(), [](void* self, const XML_Char*, const XML_Char*, const XML_Char*, int) {
          guarded(self, [](GraphmlReader& reader) {
            reader.here().fail("document type declarations (<!DOCTYPE …>) are not read; graphs need none");
          });
        });
  }

  void read() {
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    std::string_view rest = bytes_;
    do {
      const std::string_view piece = rest.substr(0, kPiece);
      rest.remove_prefix(piece.size());
      const auto status = XML_Parse(parser_.get(), piece.data(), static_cast<int>(piece.size()), rest.empty() ? 1 : 0);
      if (thrown_) std::rethrow_exception(thrown_);
      if (status != XML_STATUS_OK) here().fail("not XML: {}", XML_ErrorString(XML_GetErrorCode(parser_.get())));
    } while (!rest.empty());
  }

 private:
  enum class Inside { document, graphml, key, fallback, graph, node, edge, data };
  static constexpr std::size_t kDeepest = 64;
  static constexpr std::size_t kLongestData = 1000;  ///< longer text of a number is none
  static constexpr const char* kBlank = " \t\r\n";
  struct Free {
    void operator()(XML_ParserStruct* parser) const { XML_ParserFree(parser); }
  };

  template <class Call>
  static void guarded(void* self, const Call& call) {
    auto& reader = *static_cast<GraphmlReader*>(self);
    if (reader.thrown_) return;
    try {
      call(reader);
    } catch (...) {
      reader.thrown_ = std::current_exception();
      XML_StopParser(reader.parser_.get(), XML_FALSE);
    }
  }
  [[nodiscard]] Where here() const { return {name_, "line", XML_GetCurrentLineNumber(parser_.get())}; }

  void start(std::string_view name, XmlAttributes attributes) {
    if (inside_.size() + skipped_ == kDeepest) here().fail("elements nest deeper than {}", kDeepest);
    name.remove_prefix(name.rfind(':') + 1);  // of its namespace; npos + 1 is 0
    const Inside inside = inside_.empty() ? Inside::document : inside_.back();
    const auto next = skipped_ > 0 ? std::nullopt : enter(inside, name, attributes);
    if (!next) {
      ++skipped_;
      return;
    }
    inside_.push_back(*next);
    text_.clear();
  }

  /// What an element is, or nothing where it is not looked at.
  std::optional<Inside> enter(Inside inside, std::string_view name, XmlAttributes attributes) {
    if (name == "desc") return std::nullopt;
    if (inside == Inside::document && name == "graphml") return Inside::graphml;
    if (inside == Inside::graphml && name == "key") {
      keys_.add(attributes, here());
      return Inside::key;
    }
    if (inside == Inside::key && name == "default") {
      return keys_.last().kind == Kind::text ? std::nullopt : std::optional(Inside::fallback);
    }
    if (inside == Inside::graphml && name == "graph") {
      const auto direction = find(attributes, "edgedefault");
      if (direction != "undirected" && direction != "directed") {
        here().fail("expected edgedefault=\"undirected\" or \"directed\" in <graph>");
      }
      graph_.emplace(keys_, direction == "directed", here(), bytes_.size());
      return Inside::graph;
    }
    if (inside == Inside::graph && name == "node") {
      const auto id = find(attributes, "id");
      if (!id) here().fail("expected an attribute id of <node>");
      graph_->add_node(*id, here());
      return Inside::node;
    }
    if (inside == Inside::graph && name == "edge") {
      const auto source = find(attributes, "source"), target = find(attributes, "target");
      if (!source || !target) here().fail("expected attributes source and target of <edge>");
      const std::string_view usual = graph_->directed() ? "true" : "false";
      if (find(attributes, "directed").value_or(usual) != usual) {
        here().fail("edges with and without a direction in one graph are not read");
      }
      graph_->add_edge(*source, *target, here());
      return Inside::edge;
    }
    if (name == "data" && inside != Inside::document && inside != Inside::key) {
      if (inside != Inside::graph && inside != Inside::node && inside != Inside::edge) {
        return std::nullopt;  // of the file, or within other data
      }
      element_ = inside == Inside::graph ? Unit::graph : inside == Inside::node ? Unit::node : Unit::edge;
      data_key_ = keys_.key_of(attributes, element_, here());
      const bool nothing = keys_.meaning(data_key_, element_, here()) == GraphmlMeaning::nothing;
      return nothing ? std::nullopt : std::optional(Inside::data);
    }
    if (name == "port" && inside != Inside::document) return std::nullopt;  // parts of nodes that edges may be drawn to
    const std::string quoted = shown(name), bare = quoted.substr(1, quoted.size() - 2);
    if (inside == Inside::document) here().fail("expected <graphml>, found <{}>", bare);
    if (name == "graph") here().fail("a graph within a graph is not read");
    if (name == "hyperedge") here().fail("hyperedges are not read: edges here join two nodes");
    here().fail("<{}> does not belong here", bare);
  }

  void end() {
    if (skipped_ > 0) {
      --skipped_;
      return;
    }
    const Inside inside = inside_.back();
    inside_.pop_back();
    std::string_view trimmed = text_;
    trimmed.remove_prefix(std::min(trimmed.find_first_not_of(kBlank), trimmed.size()));
    trimmed = trimmed.substr(0, trimmed.find_last_not_of(kBlank) + 1);
    if (inside == Inside::graph) {
      builder_.add(graph_->finish(columns_, cleaning_), graph_->place());
      graph_.reset();
    } else if (inside == Inside::fallback) {
      keys_.last().fallback = trimmed;
    } else if (inside == Inside::data) {
      graph_->add_data(element_, data_key_, trimmed, here());
    }
  }

  void text(std::string_view piece) {
    if (skipped_ > 0 || inside_.empty()) return;
    if (inside_.back() != Inside::data && inside_.back() != Inside::fallback) {
      if (piece.find_first_not_of(kBlank) == std::string_view::npos) return;
      here().fail("text {} does not belong here", shown(piece));
    }
    text_ += piece;
    if (text_.size() > kLongestData) here().fail("more than {} characters of data", kLongestData);
  }

  std::string_view bytes_, name_;
  GraphSetBuilder& builder_;
  GraphmlColumns& columns_;
  Cleaning* cleaning_;
  std::unique_ptr<XML_ParserStruct, Free> parser_;
  std::exception_ptr thrown_;
  GraphmlKeys keys_;
  std::vector<Inside> inside_;
  std::size_t skipped_ = 0;  ///< elements open that are not looked at
  std::optional<GraphmlGraph> graph_;
  Unit element_ = Unit::graph;
  std::size_t data_key_ = 0;
  std::string text_;
};

}  // namespace

GraphSet parse_graphml(std::string_view bytes, std::string_view name, Cleaning* cleaning) {
  GraphSetBuilder builder;
  GraphmlColumns columns;
  GraphmlReader(bytes, name, builder, columns, cleaning).read();
  return builder.finish();
}

GraphSet read_graphml_folder(const std::filesystem::path& folder, Cleaning* cleaning) {
  GraphSetBuilder builder;
  GraphmlColumns columns;
  std::size_t files = 0;
  for (const std::string& name : list_folder(folder)) {
    if (format_of_extension(name) != Format::graphml) continue;
    const std::string bytes = read_file(folder / name), path = (folder / name).string();
    GraphmlReader(bytes, path, builder, columns, cleaning).read();
    ++files;
  }
  if (files == 0) throw InputError::at(folder.string(), "", "holds no .graphml files");
  return builder.finish();
}

}  // namespace tyche
