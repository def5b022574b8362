#include "experiments/toml_reader.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <iterator>

#include "support/error.hpp"
#include "support/words.hpp"

namespace tyche::experiments {

namespace {

nlohmann::json plain(const toml::node& node, std::string_view file) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* whole = node.as_integer()) return whole->get();
  if (const auto* real = node.as_floating_point()) return real->get();
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* list = node.as_array()) {
    nlohmann::json array = nlohmann::json::array();
    for (const toml::node& item : *list) array.push_back(plain(item, file));
    return array;
  }
  throw InputError::at(file, fmt::format("line {}", node.source().begin.line),
                       "expected text, a number, true, false or a list of these");
}

void flatten(const toml::table& table, const std::string& prefix, Document& out) {
  std::vector<std::pair<std::string, const toml::node*>> entries;
  for (const auto& [key, node] : table) entries.emplace_back(key.str(), &node);
  // toml++ sorts keys; people read files from the top.
  std::ranges::stable_sort(entries, [](const auto& a, const auto& b) {
    return a.second->source().begin.line < b.second->source().begin.line;
  });
  for (const auto& [key, node] : entries) {
    const std::string name = prefix + key;
    if (const toml::table* inner = node->as_table()) {
      flatten(*inner, name + ".", out);
    } else if (const toml::array* list = node->as_array(); list != nullptr && !list->empty() && (*list)[0].is_table()) {
      for (const toml::node& item : *list) {
        Document& entry = out.items.emplace_back();
        entry.file = out.file;
        entry.in_list = name;
        entry.line = item.source().begin.line;
        if (!item.is_table()) {
          throw InputError::at(out.file, fmt::format("line {}", entry.line), name + ": expected tables only");
        }
        flatten(*item.as_table(), "", entry);
      }
    } else {
      out.settings.push_back({name, plain(*node, out.file), node->source().begin.line});
    }
  }
}

}  // namespace

Document parse_document(std::string_view text, std::string_view name) {
  Document document;
  document.file = name;
  try {
    flatten(toml::parse(text), "", document);
  } catch (const toml::parse_error& error) {
    throw InputError::at(name, fmt::format("line {}", error.source().begin.line), error.description());
  }
  return document;
}

void Document::fail(const Setting& setting, std::string_view what) const {
  throw InputError::at(file, fmt::format("line {}", setting.line), "{}: {}", setting.key, what);
}

void Document::unknown(const Setting& setting, std::span<const std::string> known, std::string_view shown) const {
  const std::string_view key = shown.empty() ? setting.key : shown;
  throw InputError::at(file, fmt::format("line {}", setting.line), "unknown key '{}'{}", key,
                       did_you_mean(setting.key, known));
}

std::string Document::text(const Setting& s) const {
  if (!s.value.is_string()) fail(s, fmt::format("expected text in quotes, found {}", s.value.dump()));
  return s.value.get<std::string>();
}

bool Document::flag(const Setting& s) const {
  if (!s.value.is_boolean()) fail(s, fmt::format("expected true or false, found {}", s.value.dump()));
  return s.value.get<bool>();
}

std::optional<Setting> Document::take(std::string_view key) {
  const auto found = std::ranges::find(settings, key, &Setting::key);
  if (found == settings.end()) return std::nullopt;
  Setting taken = std::move(*found);
  settings.erase(found);
  return taken;
}

std::string Document::take_text(std::string_view key, std::string fallback) {
  const auto found = take(key);
  return found ? text(*found) : fallback;
}

std::vector<std::string> Document::take_texts(std::string_view key) {
  const auto found = take(key);
  if (!found) return {};
  const nlohmann::json& list = found->value;
  if (!list.is_array() || !std::ranges::all_of(list, [](const auto& item) { return item.is_string(); })) {
    fail(*found, fmt::format("expected a list of texts, found {}", list.dump()));
  }
  return list.get<std::vector<std::string>>();
}

double Document::take_number(std::string_view key, double fallback) {
  const auto found = take(key);
  if (!found) return fallback;
  if (!found->value.is_number()) fail(*found, fmt::format("expected a number, found {}", found->value.dump()));
  return found->value.get<double>();
}

std::uint32_t Document::take_whole(std::string_view key, std::uint32_t fallback, std::uint32_t least,
                                   std::uint32_t most) {
  const double found = take_number(key, fallback);
  if (!(found >= least && found <= most) || found != static_cast<std::uint32_t>(found)) {
    throw InputError::at(file, key, "expected a whole number from {} to {}, found {}", least, most, found);
  }
  return static_cast<std::uint32_t>(found);
}

std::vector<Setting> Document::take_table(std::string_view table) {
  const std::string prefix = std::string(table) + ".";
  const auto rest = std::stable_partition(settings.begin(), settings.end(),
                                          [&](const Setting& s) { return !s.key.starts_with(prefix); });
  std::vector<Setting> taken(std::make_move_iterator(rest), std::make_move_iterator(settings.end()));
  settings.erase(rest, settings.end());
  for (Setting& setting : taken) setting.key.erase(0, prefix.size());
  return taken;
}

std::vector<Document> Document::take_list(std::string_view list) {
  const auto rest =
      std::stable_partition(items.begin(), items.end(), [&](const Document& item) { return item.in_list != list; });
  std::vector<Document> taken(std::make_move_iterator(rest), std::make_move_iterator(items.end()));
  items.erase(rest, items.end());
  return taken;
}

void Document::expect_empty(std::span<const std::string> known) const {
  if (!settings.empty()) unknown(settings.front(), known);
  if (!items.empty()) {
    throw InputError::at(file, fmt::format("line {}", items.front().line), "unknown list '{}'{}", items.front().in_list,
                         did_you_mean(items.front().in_list, known));
  }
}

}  // namespace tyche::experiments
