#pragma once
/// The options of a call: a JSON object by the names of the program's options.
///
///   Options options(json, {"dim", "threads"});                // throws InputError on other names
///   const auto dim = options.whole("dim", 1, 3).value_or(1);
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/choice.hpp"
#include "train/edits.hpp"

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

/// device, engine-path and precision, as in every call that runs models, and what else the call takes.
[[nodiscard]] std::vector<std::string> with_device(std::vector<std::string> more);
[[nodiscard]] engine::AskedEngine engine_of(const Options& options);

/// The same, and the names of the configuration's fields that have an option.
[[nodiscard]] std::vector<std::string> with_fields(const std::vector<std::string>& more);
/// What the options say of them. Throws InputError on one that the call does not take.
[[nodiscard]] train::Edits edits_of(const Options& options, const train::WhyNot& why_not = {});
/// The options that would ask for a configuration: those of its fields that somebody chooses and that it uses.
[[nodiscard]] nlohmann::ordered_json options_of(const train::RunConfig& config);

}  // namespace tyche::capi
