#pragma once
/// One <graph> of a GraphML file while it is read: nodes by their ids, edges between ids, and the numbers of both.
///
/// The keys of a GraphML file: what its <data> means.
///
///   nodes, edges   type or label (a number): the type, the label; other numbers and truth values: an attribute
///   graphs         label: the label; target…: a target
///
/// Other data, and text, is not looked at; text where a type, a graph's label or a target belongs is refused.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/cleaning.hpp"
#include "graph/lines.hpp"
#include "graph/listed_edges.hpp"
#include "graph/set_builder.hpp"
#include "graph/xml_events.hpp"

namespace tyche {

enum class GraphmlElement { graph, node, edge };

struct GraphmlKey {
  enum class Kind { whole, real, truth, text };
  std::string name;
  Kind kind = Kind::text;
  std::optional<GraphmlElement> only;  ///< the elements it is for; nothing: all
  std::string fallback;                ///< its <default>, for elements that lack it
  bool has_fallback = false;
};

/// What data is for an element.
enum class GraphmlMeaning { nothing, category, column };

class GraphmlKeys {
 public:
  /// A <key> element. Fails at `where` on one without id, or with an id that stands already.
  GraphmlKey& add(const XmlAttributes& attributes, const Where& where);
  /// The place of the key of a <data> element. Fails where it is not declared, or not for such elements.
  [[nodiscard]] std::size_t find(const XmlAttributes& attributes, GraphmlElement element, const Where& where) const;
  [[nodiscard]] const GraphmlKey& operator[](std::size_t i) const { return keys_[i]; }
  [[nodiscard]] std::size_t size() const { return keys_.size(); }

  /// `category` is the type of a node, the label of an edge or graph; `column` an attribute, or target of a graph.
  /// Fails at `where` on text where there must be a number.
  [[nodiscard]] GraphmlMeaning meaning(std::size_t key, GraphmlElement element, const Where& where) const;

  /// The number that `text` is under the key. Fails at `where`.
  [[nodiscard]] float number(std::size_t key, std::string_view text, const Where& where) const;

 private:
  std::vector<GraphmlKey> keys_;
  std::unordered_map<std::string, std::size_t> place_of_;
};

/// The names of the columns of a set, as its first graphs have them; the columns of later ones go by these.
struct GraphmlColumns {
  std::vector<std::string> node, edge, target;
};

class GraphmlGraph {
 public:
  /// `place` is that of <graph>; `bytes` the size of the file, against which tables are checked before they are made.
  GraphmlGraph(const GraphmlKeys& keys, bool directed, Where place, std::uint64_t bytes)
      : keys_(keys), directed_(directed), place_(place), bytes_(bytes) {}

  /// Fails on an id that stands already.
  void add_node(std::string_view id, const Where& where);
  /// The ends may be declared later.
  void add_edge(std::string_view source, std::string_view target, const Where& where);
  /// <data> of the element added last, or of the graph.
  void add_data(GraphmlElement element, std::size_t key, std::string_view text, const Where& where);

  /// Fails where an edge joins a node that is not declared, as settle_edges does, and where elements lack data that
  /// others have.
  [[nodiscard]] GraphItem finish(GraphmlColumns& columns, Cleaning* cleaning) const;
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

  void set_category(Elements& elements, std::size_t key, std::string_view text, const Where& where);
  [[nodiscard]] std::vector<std::uint32_t> categories(const Elements& elements) const;
  [[nodiscard]] Table table(const Elements& elements, std::vector<std::string>& columns) const;
  [[nodiscard]] std::optional<std::vector<float>> target(std::vector<std::string>& columns) const;
  [[nodiscard]] std::uint32_t number_of(std::string_view id);
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

}  // namespace tyche
