#pragma once
/// The options of a configuration's fields (train/fields.hpp), the same in every command that trains.
///
///   FieldOptions fields;
///   fields.add(app, [](const train::Field& field) { return field.key == "seed" ? "there is no chance here" : ""; });
///   RunConfig config = train::default_config(fields.said().model(), fields.said().random());
///   fields.said().apply(config);
#include <CLI/CLI.hpp>
#include <string>

#include "train/edits.hpp"

namespace tyche::cli {

class FieldOptions {
 public:
  /// Adds the option of every field that has one, but for those that the command has declared itself. One that the
  /// command does not take stands in no help, and is refused with the reason.
  void add(CLI::App& app, const train::WhyNot& why_not);
  /// What the call says. Throws InputError where it says what the command does not take.
  [[nodiscard]] const train::Edits& said() const;

 private:
  template <class T>
  void add_option(CLI::App& app, const train::Field& field, const std::string& why);
  void take(const train::Field& field, nlohmann::json value, const std::string& why);

  train::Edits said_;
  std::string refused_;
};

}  // namespace tyche::cli
