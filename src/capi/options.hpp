#pragma once
/// The options of a call: a JSON object by the names of the program's options.
///
///   Options options(json, {"dim", "threads"});                // throws InputError on other names
///   const auto dim = options.whole("dim", 1, 3).value_or(1);
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/choice.hpp"
#include "support/said.hpp"
#include "train/fields.hpp"

namespace tyche::capi {

class Options : public Said {
 public:
  /// `json` null or empty: none. A field's name may be what else it is called ("learning_rate", train/fields.hpp); a
  /// value of null is as if it were not there. Throws InputError on what is no JSON object, and on a name that is none
  /// of `names`.
  Options(const char* json, const std::vector<std::string>& names);
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
