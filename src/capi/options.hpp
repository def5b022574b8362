#pragma once
/// The options of a call: a JSON object by the names of the program's options.
///
///   Options options(json, {"dim", "threads"});                // throws InputError on other names
///   const auto dim = options.whole("dim", 1, 3).value_or(1);
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "train/fields.hpp"

namespace tyche::capi {

class Options {
 public:
  /// `json` null or empty: none. Names may have '-' or '_', and a field's
  /// may be what else it is called ("learning_rate", train/fields.hpp); a value of null is as if it were not there.
  /// Throws InputError on what is no JSON object, and on a name that is not `known`.
  Options(const char* json, std::vector<std::string> known);

  [[nodiscard]] std::optional<std::uint64_t> whole(std::string_view name, std::uint64_t least = 0,
                                                   std::uint64_t most = ~0ull) const;
  [[nodiscard]] std::optional<double> number(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name, bool otherwise = false) const;
  /// A text, or a list of them.
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;
  /// A value as it stands, or null.
  [[nodiscard]] const nlohmann::json& value(std::string_view name) const;
  /// Another value for it.
  void set(std::string_view name, nlohmann::json value);
  [[nodiscard]] unsigned threads() const { return static_cast<unsigned>(whole("threads", 0, 4096).value_or(0)); }

 private:
  nlohmann::json values_ = nlohmann::json::object();
};

/// device, engine-path and precision, as in every call that runs models.
[[nodiscard]] std::vector<std::string> device_names();
/// The engine they ask for; `otherwise` where they say nothing.
[[nodiscard]] std::string engine_name(const Options& options, const std::string& otherwise);

/// The names of the configuration's fields that have an option and that `wanted` says yes to.
[[nodiscard]] std::vector<std::string> field_names(const std::function<bool(const train::Field&)>& wanted);
/// Lays the fields that the options name over `config`. Throws InputError on a value that its field cannot have, or
/// that the model would not look at.
void apply_fields(const Options& options, const std::function<bool(const train::Field&)>& wanted,
                  train::RunConfig& config);
/// The options that would ask for a configuration: those of its fields that somebody chooses and that it uses.
[[nodiscard]] nlohmann::ordered_json options_of(const train::RunConfig& config);
/// What a call's configuration starts from: model and random, which other defaults follow from.
[[nodiscard]] std::string model_of(const Options& options);
[[nodiscard]] nn::Random random_of(const Options& options);

}  // namespace tyche::capi
