#pragma once
/// What stands behind the handles of the C interface (include/tyche.h), and the table of handles.
///
///   const tyche_handle h = add(std::make_shared<Answer>(json));
///   const std::shared_ptr<SetObject> set = get<SetObject>(h, "a set of graphs");       // throws BadHandle
///   drop(h);                                                   // from now on `h` is an error; `set` is still good
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "support/error.hpp"
#include "tyche.h"

namespace tyche::capi {

/// A handle that is freed, made up, or of another kind.
class BadHandle : public Error {
  using Error::Error;
};
/// A null pointer where there must be none.
class BadCall : public Error {
  using Error::Error;
};

/// Numbers with a shape, owned.
struct Array {
  std::variant<std::vector<std::int32_t>, std::vector<std::int64_t>, std::vector<std::uint32_t>,
               std::vector<std::uint64_t>, std::vector<float>, std::vector<double>>
      values;
  /// Neither: one dimension. Else the one that is known even where there are no elements.
  std::size_t columns = 0;
  std::size_t rows = 0;

  [[nodiscard]] tyche_array view() const;
};

/// Whatever has a handle: a text and arrays by name.
class Object {
 public:
  virtual ~Object() = default;
  /// "a set of graphs", for errors.
  [[nodiscard]] virtual const char* kind() const = 0;
  /// JSON. Valid as long as the object; may be called from several threads.
  [[nodiscard]] virtual const std::string& info() = 0;
  /// Throws InputError that lists the names on another; likewise.
  [[nodiscard]] virtual tyche_array array(std::string_view name) = 0;
};

using Arrays = std::map<std::string, Array, std::less<>>;

/// The answer of a call: all of it known when it is made.
class Answer : public Object {
 public:
  explicit Answer(const nlohmann::ordered_json& json, Arrays arrays = {});
  /// Before it has a handle.
  void add(std::string name, Array array) { arrays_.emplace(std::move(name), std::move(array)); }
  [[nodiscard]] const char* kind() const override { return "an answer"; }
  [[nodiscard]] const std::string& info() override { return text_; }
  [[nodiscard]] tyche_array array(std::string_view name) override;

 private:
  std::string text_;
  Arrays arrays_;
};

/// Throws InputError "there is no array 'x' here; …".
[[noreturn]] void no_such_array(std::string_view name, const std::vector<std::string>& known);

[[nodiscard]] tyche_handle add(std::shared_ptr<Object> object);
/// Throws BadHandle.
[[nodiscard]] std::shared_ptr<Object> find(tyche_handle handle);
void drop(tyche_handle handle);
[[nodiscard]] std::uint64_t live();

/// The object of a handle, which must be a T; `wanted` names that in the error.
template <class T>
[[nodiscard]] std::shared_ptr<T> get(tyche_handle handle, const char* wanted) {
  const std::shared_ptr<Object> object = find(handle);
  std::shared_ptr<T> out = std::dynamic_pointer_cast<T>(object);
  if (!out) throw BadHandle(std::string("expected the handle of ").append(wanted).append(", came ") + object->kind());
  return out;
}

}  // namespace tyche::capi
