#pragma once
/// A few numbers under names, in the order in which they were first set: what an epoch measured, say.
///
///   NamedValues metrics;
///   metrics.set("test_accuracy", 0.5);
///   if (const auto accuracy = metrics.find("test_accuracy")) use(*accuracy);
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tyche {

class NamedValues {
 public:
  void set(std::string_view name, double value) {
    const auto at = std::ranges::find_if(values_, [&](const auto& entry) { return entry.first == name; });
    if (at == values_.end()) {
      values_.emplace_back(name, value);
    } else {
      at->second = value;
    }
  }
  /// Sets nothing where there is no value.
  void set(std::string_view name, const std::optional<double>& value) {
    if (value) set(name, *value);
  }
  [[nodiscard]] std::optional<double> find(std::string_view name) const {
    const auto at = std::ranges::find_if(values_, [&](const auto& entry) { return entry.first == name; });
    return at == values_.end() ? std::nullopt : std::optional(at->second);
  }
  [[nodiscard]] auto begin() const { return values_.begin(); }
  [[nodiscard]] auto end() const { return values_.end(); }

  friend bool operator==(const NamedValues&, const NamedValues&) = default;

 private:
  std::vector<std::pair<std::string, double>> values_;
};

}  // namespace tyche
