#pragma once
/// What a call says, whoever makes it: values of options as JSON, by their names. '-' in a name is as good as '_'.
///
///   const auto dim = said.whole("dim", 1, 3).value_or(1);
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tyche {

class Said {
 public:
  /// Each throws InputError where the value is of another kind, or out of range.
  [[nodiscard]] std::optional<std::uint64_t> whole(std::string_view name, std::uint64_t least = 0,
                                                   std::uint64_t most = ~0ull) const;
  [[nodiscard]] std::optional<std::uint32_t> small(std::string_view name, std::uint32_t least = 0,
                                                   std::uint32_t most = ~0u) const;
  [[nodiscard]] std::optional<double> number(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const;
  /// The same; empty where it is not said.
  [[nodiscard]] std::string word(std::string_view name) const { return text(name).value_or(""); }
  [[nodiscard]] bool flag(std::string_view name, bool otherwise = false) const;
  /// A text, or a list of them.
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;
  /// A value as it stands, or null. Requires a name that is known: else whoever asks has misspelled it.
  [[nodiscard]] const nlohmann::json& value(std::string_view name) const;
  [[nodiscard]] unsigned threads() const { return small("threads", 0, 4096).value_or(0); }

  [[nodiscard]] bool knows(std::string_view name) const { return values_.contains(spelled(name)); }
  [[nodiscard]] bool says(std::string_view name) const { return !value(name).is_null(); }
  void know(std::string_view name) { values_[spelled(name)]; }
  /// Another value for it.
  void set(std::string_view name, nlohmann::json value) { values_[spelled(name)] = std::move(value); }

  /// "eval_every" of "eval-every".
  [[nodiscard]] static std::string spelled(std::string_view name);

 private:
  nlohmann::json values_ = nlohmann::json::object();  ///< null: known, and not said
};

}  // namespace tyche
