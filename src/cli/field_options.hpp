#pragma once
/// The options of a configuration's fields (train/fields.hpp), the same in every command that trains.
///
///   FieldOptions fields;
///   fields.add(app, [](const train::Field& field) { return field.key != "seed"; });
///   RunConfig config = train::default_config(fields.text("model.kind", "gcn"), …);
///   fields.apply(config);
#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "train/fields.hpp"

namespace tyche::cli {

/// What a call asks for: edits to a configuration, laid over the defaults or, where a run is taken up again, over the
/// stored one. So an option that is not given never contradicts a run.
class FieldOptions {
 public:
  /// Adds the option of every field that has one and that `wanted` says yes to.
  void add(CLI::App& app, const std::function<bool(const train::Field&)>& wanted);
  /// The value of a field that the call names, as text.
  [[nodiscard]] std::string text(std::string_view key, const std::string& otherwise) const;
  [[nodiscard]] nn::Random random() const { return nn::parse_random(text("model.random", "features")); }
  /// Throws InputError on a value that its field cannot have, or that the model would not look at.
  void apply(train::RunConfig& config) const;

 private:
  struct Edit {
    const train::Field* field;
    nlohmann::json value;
  };
  template <class T>
  void add_option(CLI::App& app, const train::Field& field);

  std::vector<Edit> edits_;
};

}  // namespace tyche::cli
