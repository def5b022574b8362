#include "graph/json_numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace tyche {

/// Takes the parser's events; every one that does not belong is an InputError.
class JsonNumbersHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonNumbersHandler(JsonNumbers& object, const Where& where) : object_(object), where_(where) {}

  bool null() override {
    if (skips_) fail("null");
    const auto& nullable = object_.nullable_;
    if (into_ == nullptr || std::find(nullable.begin(), nullable.end(), key_) == nullable.end()) fail("null");
    if (depth_ == 1) {
      into_->shape = JsonValues::Shape::null;
      return true;
    }
    return take(std::numeric_limits<double>::quiet_NaN());
  }
  bool boolean(bool value) override { fail(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return take(static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override { return take(static_cast<double>(value)); }
  bool number_float(number_float_t, const string_t& token) override {
    if (skips_) return true;
    return take(Row(token, where_).real("a number"));
  }
  bool string(string_t& value) override {
    if (!skips_) fail(fmt::format("the text {}", shown(value)));
    return true;
  }
  bool binary(binary_t&) override { fail("bytes"); }

  bool start_object(std::size_t) override {
    if (depth_ > 0) fail("an object");
    depth_ = 1;
    return true;
  }
  bool key(string_t& name) override {
    const auto find = [&name](const auto& keys) { return std::find(keys.begin(), keys.end(), name) - keys.begin(); };
    const auto at = static_cast<std::size_t>(find(object_.keys_));
    skips_ = false;
    if (at == object_.keys_.size()) {
      const auto skipped = static_cast<std::size_t>(find(object_.skipped_));
      if (skipped == object_.skipped_.size()) {
        where_.fail("unknown key {}; known are {}", shown(name), fmt::join(object_.keys_, ", "));
      }
      skips_ = true;
      key_ = object_.skipped_[skipped];
      return true;
    }
    key_ = object_.keys_[at];
    into_ = &object_.values_[at];
    if (into_->shape != JsonValues::Shape::absent) where_.fail("key '{}' stands twice", key_);
    return true;
  }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override {
    using Shape = JsonValues::Shape;
    if (depth_ == 0 || skips_) fail("a list");
    if (depth_ == 3) fail("a list in a list in a list");
    if (depth_ == 2 && !into_->is_rows()) fail("a list among numbers");
    into_->shape = depth_ == 1 ? Shape::list : Shape::rows;
    ++depth_;
    return true;
  }
  bool end_array() override {
    if (--depth_ == 2) into_->ends.push_back(into_->numbers.size());
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception& error) override {
    constexpr int kOverflow = 406;
    if (error.id == kOverflow) where_.fail("the number {} is too large", shown(token));
    const char* hint = token.find('N') != std::string::npos || token.ends_with('I')
                           ? "; JSON has no NaN or infinity (a missing target is null)"
                           : "";
    where_.fail("not JSON: cannot go on at character {}, after {}{}", position, shown(token), hint);
  }

 private:
  bool take(double number) {
    if (skips_) return true;
    if (depth_ == 0) fail("a number");
    if (depth_ == 1) into_->shape = JsonValues::Shape::number;
    if (depth_ == 2 && into_->shape == JsonValues::Shape::rows) fail("a number among lists");
    into_->numbers.push_back(number);
    return true;
  }
  [[noreturn]] void fail(std::string_view found) const {
    if (depth_ == 0) where_.fail("expected a JSON object, found {}", found);
    where_.fail("expected {} under '{}', found {}", skips_ ? "a number or text" : "a number or a list of numbers", key_,
                found);
  }

  JsonNumbers& object_;
  const Where& where_;
  std::string_view key_;
  JsonValues* into_ = nullptr;
  bool skips_ = false;
  int depth_ = 0;  ///< 1: in the object, 2: in a list, 3: in a row
};

JsonNumbers::JsonNumbers(std::vector<std::string_view> keys, std::vector<std::string_view> skipped,
                         std::vector<std::string_view> nullable)
    : keys_(std::move(keys)), skipped_(std::move(skipped)), nullable_(std::move(nullable)), values_(keys_.size()) {}

void JsonNumbers::parse(std::string_view text, const Where& where) {
  for (JsonValues& values : values_) {
    values.shape = JsonValues::Shape::absent;
    values.numbers.clear();
    values.ends.clear();
  }
  JsonNumbersHandler handler(*this, where);
  nlohmann::json::sax_parse(text.begin(), text.end(), &handler);
}

const JsonValues& JsonNumbers::operator[](std::string_view key) const {
  return values_[static_cast<std::size_t>(std::find(keys_.begin(), keys_.end(), key) - keys_.begin())];
}

}  // namespace tyche
