#include "support/said.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "support/error.hpp"

namespace tyche {

namespace {

[[noreturn]] void expected(std::string_view name, const std::string& what, const nlohmann::json& came) {
  throw InputError("{}: expected {}, found {}", name, what,
                   came.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

/// Nothing where it is null.
template <class T>
std::optional<T> typed(const nlohmann::json& own, bool (nlohmann::json::*fits)() const noexcept, std::string_view name,
                       const char* what) {
  if (own.is_null()) return std::nullopt;
  if (!(own.*fits)()) expected(name, what, own);
  return own.get<T>();
}

}  // namespace

std::string Said::spelled(std::string_view name) {
  std::string out(name);
  std::ranges::replace(out, '-', '_');
  return out;
}

const nlohmann::json& Said::value(std::string_view name) const {
  const auto found = values_.find(spelled(name));
  if (found == values_.end()) throw std::logic_error(fmt::format("this call has no option '{}'", name));
  return *found;
}

std::optional<std::uint64_t> Said::whole(std::string_view name, std::uint64_t least, std::uint64_t most) const {
  const nlohmann::json& own = value(name);
  if (own.is_null()) return std::nullopt;
  if (!own.is_number_unsigned() || own.get<std::uint64_t>() < least || own.get<std::uint64_t>() > most) {
    expected(name, fmt::format("a whole number from {} to {}", least, most), own);
  }
  return own.get<std::uint64_t>();
}

std::optional<std::uint32_t> Said::small(std::string_view name, std::uint32_t least, std::uint32_t most) const {
  const auto number = whole(name, least, most);
  return number ? std::optional(static_cast<std::uint32_t>(*number)) : std::nullopt;
}

std::optional<double> Said::number(std::string_view name) const {
  return typed<double>(value(name), &nlohmann::json::is_number, name, "a number");
}

std::optional<std::string> Said::text(std::string_view name) const {
  return typed<std::string>(value(name), &nlohmann::json::is_string, name, "text");
}

bool Said::flag(std::string_view name, bool otherwise) const {
  return typed<bool>(value(name), &nlohmann::json::is_boolean, name, "true or false").value_or(otherwise);
}

std::vector<std::string> Said::texts(std::string_view name) const {
  const nlohmann::json& own = value(name);
  if (own.is_null()) return {};
  if (own.is_string()) return {own.get<std::string>()};
  std::vector<std::string> out;
  if (!own.is_array()) expected(name, "text, or a list of texts", own);
  for (const nlohmann::json& item : own) {
    if (!item.is_string()) expected(name, "a list of texts", own);
    out.push_back(item.get<std::string>());
  }
  return out;
}

}  // namespace tyche
