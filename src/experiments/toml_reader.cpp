#include "experiments/toml_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/error.hpp"
#include "support/toml_json.hpp"
#include "support/words.hpp"

namespace tyche::experiments {

namespace {

bool is_list_of_tables(const toml::node& node) {
  const toml::array* array = node.as_array();
  return array != nullptr && !array->empty() && (*array)[0].is_table();
}

nlohmann::json plain(const toml::node& node, std::string_view file) {
  nlohmann::json value = json_of(node);
  const auto strange = [](const nlohmann::json& own) { return own.is_null() || own.is_object(); };
  if (strange(value) || (value.is_array() && std::ranges::any_of(value, strange))) {
    throw InputError::at(file, fmt::format("line {}", node.source().begin.line),
                         "expected text, a number, true, false or a list of these");
  }
  return value;
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
    } else if (is_list_of_tables(*node)) {
      for (const toml::node& item : *node->as_array()) {
        Document::Item& entry = out.items.emplace_back();
        entry.list = name;
        entry.line = item.source().begin.line;
        entry.table.file = out.file;
        if (!item.is_table()) {
          throw InputError::at(out.file, fmt::format("line {}", entry.line), name + ": expected tables only");
        }
        flatten(*item.as_table(), "", entry.table);
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
  flatten(parse_toml(text, name), "", document);
  return document;
}

void Document::fail(const Setting& setting, std::string_view what) const {
  throw InputError::at(file, fmt::format("line {}", setting.line), "{}: {}", setting.key, what);
}

std::optional<Setting> Document::take(std::string_view key) {
  const auto found = std::ranges::find(settings, key, &Setting::key);
  if (found == settings.end()) return std::nullopt;
  Setting taken = std::move(*found);
  settings.erase(found);
  return taken;
}

std::string Document::take_text(std::string_view key, std::string fallback) {
  const std::optional<Setting> own = take(key);
  if (!own) return fallback;
  if (!own->value.is_string()) fail(*own, fmt::format("expected text in quotes, found {}", own->value.dump()));
  return own->value.get<std::string>();
}

std::vector<std::string> Document::take_texts(std::string_view key) {
  const std::optional<Setting> own = take(key);
  if (!own) return {};
  const auto text = [](const nlohmann::json& item) { return item.is_string(); };
  if (!own->value.is_array() || !std::ranges::all_of(own->value, text)) {
    fail(*own, fmt::format("expected a list of texts, found {}", own->value.dump()));
  }
  return own->value.get<std::vector<std::string>>();
}

double Document::take_number(std::string_view key, double fallback) {
  const std::optional<Setting> own = take(key);
  if (!own) return fallback;
  if (!own->value.is_number()) fail(*own, fmt::format("expected a number, found {}", own->value.dump()));
  return own->value.get<double>();
}

std::vector<Setting> Document::take_table(std::string_view table) {
  const std::string prefix = std::string(table) + ".";
  std::vector<Setting> taken, left;
  for (Setting& setting : settings) {
    if (setting.key.starts_with(prefix)) {
      setting.key.erase(0, prefix.size());
      taken.push_back(std::move(setting));
    } else {
      left.push_back(std::move(setting));
    }
  }
  settings = std::move(left);
  return taken;
}

std::vector<Document> Document::take_list(std::string_view list) {
  std::vector<Document> taken;
  std::vector<Item> left;
  for (Item& item : items) {
    if (item.list == list) {
      taken.push_back(std::move(item.table));
    } else {
      left.push_back(std::move(item));
    }
  }
  items = std::move(left);
  return taken;
}

void Document::expect_empty(std::span<const std::string> known) const {
  if (!settings.empty()) {
    const Setting& first = settings.front();
    throw InputError::at(file, fmt::format("line {}", first.line), "unknown key '{}'{}", first.key,
                         did_you_mean(first.key, known));
  }
  if (!items.empty()) {
    throw InputError::at(file, fmt::format("line {}", items.front().line), "unknown list '{}'{}", items.front().list,
                         did_you_mean(items.front().list, known));
  }
}

}  // namespace tyche::experiments
