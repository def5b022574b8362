#include "graph/graphml_keys.hpp"

#include <fmt/format.h>

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

}  // namespace tyche
