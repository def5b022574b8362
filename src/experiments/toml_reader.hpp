#pragma once
/// TOML read strictly: every key is asked for, every value has a place, and what nobody asked for is an error that
/// names the nearest key.
///
///   const Document document = parse_document(text, "mine.toml");
///   for (const Setting& s : document.settings) ...        // "models.0.model.rni" = 0.5, line 12
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tyche::experiments {

/// A value and where it stands.
struct Setting {
  std::string key;  ///< dotted, as in config.toml: "training.epochs"
  nlohmann::json value;
  std::uint64_t line = 0;
};

/// A table: its plain values flattened to dotted keys, in file order; tables in lists kept as documents of their own.
struct Document {
  std::string file;
  std::vector<Setting> settings;
  std::vector<Document> items;  ///< of lists of tables
  std::string in_list;          ///< of an item: the list, and where it stands
  std::uint64_t line = 0;

  /// The setting of a key, where there is one, and its value as what it has to be (or the default); removes the
  /// setting, so that what is left at the end is what nobody knows. Throws InputError on another type or number.
  [[nodiscard]] std::optional<Setting> take(std::string_view key);
  [[nodiscard]] std::string take_text(std::string_view key, std::string fallback);
  [[nodiscard]] std::vector<std::string> take_texts(std::string_view key);
  [[nodiscard]] double take_number(std::string_view key, double fallback);
  [[nodiscard]] std::uint32_t take_whole(std::string_view key, std::uint32_t fallback, std::uint32_t least,
                                         std::uint32_t most);
  /// Settings below a table ("defaults."), with the prefix cut off; removed from the document.
  [[nodiscard]] std::vector<Setting> take_table(std::string_view table);
  /// The tables of a list ("models"); removed from the document.
  [[nodiscard]] std::vector<Document> take_list(std::string_view list);
  /// Throws InputError where a setting or list is left: unknown key, with the nearest of `known`.
  void expect_empty(std::span<const std::string> known) const;

  [[nodiscard]] std::string text(const Setting& setting) const;
  [[nodiscard]] bool flag(const Setting& setting) const;
  [[noreturn]] void fail(const Setting& setting, std::string_view what) const;
  /// `shown`: the key as users know it, where that is another.
  [[noreturn]] void unknown(const Setting& setting, std::span<const std::string> known,
                            std::string_view shown = "") const;
};

/// Throws InputError with the line where it is not TOML.
[[nodiscard]] Document parse_document(std::string_view text, std::string_view name);

}  // namespace tyche::experiments
