#include "cli/field_options.hpp"

#include <fmt/format.h>

#include "support/error.hpp"

namespace tyche::cli {

void FieldOptions::take(const train::Field& field, nlohmann::json value, const std::string& why) {
  if (!why.empty() && refused_.empty()) refused_ = fmt::format("{}: {}", field.option, why);
  said_.add(field, std::move(value), field.option);
}

template <class T>
void FieldOptions::add_option(CLI::App& app, const train::Field& field, const std::string& why) {
  CLI::Option* option = app.add_option_function<T>(
      field.option, [this, &field, why](const T& value) { take(field, value, why); }, field.help);
  option->default_str(field.shown);
  if (!why.empty()) option->group("");
}

void FieldOptions::add(CLI::App& app, const train::WhyNot& why_not) {
  for (const train::Field& field : train::fields()) {
    if (field.option.empty() || app.get_option_no_throw(field.option) != nullptr) continue;
    const std::string why = why_not(field);
    if (field.form == train::Field::Form::flag) {
      CLI::Option* option = app.add_flag_callback(
          field.option, [this, &field, why] { take(field, !field.value(train::RunConfig{}).get<bool>(), why); },
          field.help);
      if (!why.empty()) option->group("");
      // What is not said is the same as its opposite, which may be said too.
      const std::string plain = field.option.starts_with("--no-") ? "--" + field.option.substr(5) : "";
      if (!plain.empty() && app.get_option_no_throw(plain) == nullptr) {
        app.add_flag_callback(plain, [this, &field, why] { take(field, true, why); })->group("");
      }
    } else if (why.empty() && field.form == train::Field::Form::whole) {
      add_option<std::uint64_t>(app, field, why);
    } else if (why.empty() && field.form == train::Field::Form::number) {
      add_option<double>(app, field, why);
    } else {
      add_option<std::string>(app, field, why);
    }
  }
}

const train::Edits& FieldOptions::said() const {
  if (!refused_.empty()) throw InputError(refused_);
  return said_;
}

}  // namespace tyche::cli
