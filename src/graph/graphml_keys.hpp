#pragma once
/// The keys of a GraphML file: what its <data> means.
///
///   nodes, edges   type or label (a number): the type, the label; other numbers and truth values: an attribute
///   graphs         label: the label; target…: a target
///
/// Other data, and text, is not looked at; text where a type, a graph's label or a target belongs is refused.
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/lines.hpp"
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

}  // namespace tyche
