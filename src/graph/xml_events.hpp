#pragma once
/// XML read by expat, as calls of a handler. Safe on files of strangers: no document type declarations (so no entities
/// to expand), at most 64 elements deep, nothing fetched.
#include <optional>
#include <string_view>

#include "graph/lines.hpp"

namespace tyche {

/// The attributes of an element.
class XmlAttributes {
 public:
  explicit XmlAttributes(const char** pairs) : pairs_(pairs) {}
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;

 private:
  const char** pairs_;
};

/// Names are without their namespace's prefix. What a member throws ends the parsing, and comes out of parse_xml.
class XmlHandler {
 public:
  virtual ~XmlHandler() = default;
  virtual void start(std::string_view name, const XmlAttributes& attributes, const Where& where) = 0;
  virtual void end(std::string_view name, const Where& where) = 0;
  /// A piece of text between tags; one text may come in several.
  virtual void text(std::string_view piece, const Where& where) = 0;
};

/// Throws InputError with the line where the bytes are not XML; `name` stands for the file.
void parse_xml(std::string_view bytes, std::string_view name, XmlHandler& handler);

}  // namespace tyche
