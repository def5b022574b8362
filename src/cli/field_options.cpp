#include "cli/field_options.hpp"

#include <fmt/format.h>

#include "support/error.hpp"

namespace tyche::cli {

using train::RunConfig;

template <class T>
void FieldOptions::add_option(CLI::App& app, const train::Field& field) {
  app.add_option_function<T>(
         field.option,
         [this, &field](const T& value) {
           edits_.push_back({&field, value});
         },
         field.help)
      ->default_str(field.shown);
}

void FieldOptions::add(CLI::App& app, const std::function<bool(const train::Field&)>& wanted) {
  for (const train::Field& field : train::fields()) {
    if (field.option.empty() || !wanted(field)) continue;
    switch (field.form) {
      case train::Field::Form::flag:
        app.add_flag_callback(
            field.option,
            [this, &field] {
              edits_.push_back({&field, !field.value(RunConfig{}).get<bool>()});
            },
            field.help);
        break;
      case train::Field::Form::whole:
        add_option<std::uint64_t>(app, field);
        break;
      case train::Field::Form::number:
        add_option<double>(app, field);
        break;
      case train::Field::Form::text:
      case train::Field::Form::list:
        add_option<std::string>(app, field);
        break;
    }
  }
}

std::string FieldOptions::text(std::string_view key, const std::string& otherwise) const {
  for (const Edit& edit : edits_) {
    if (edit.field->key == key) return edit.value.get<std::string>();
  }
  return otherwise;
}

void FieldOptions::apply(RunConfig& config) const {
  for (const Edit& edit : edits_) edit.field->assign(config, edit.value, edit.field->option);
  for (const Edit& edit : edits_) {
    const std::string why = train::refusal(*edit.field, config);
    if (!why.empty()) throw InputError(fmt::format("{} {}", edit.field->option, why));
  }
}

}  // namespace tyche::cli
