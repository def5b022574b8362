#pragma once
/// What the calls of the C interface (include/tyche.h) share: errors that become a status, handles, options, sets.
///
///   tyche_status tyche_set_read(const char* path, const char* options, tyche_handle* out) {
///     return answer(out, [&] { return read(text(path, "path"), Options(options, {"format", "clean"})); });
///   }
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <variant>
#include <vector>

#include "datasets/dataset.hpp"
#include "distinguish/pairs.hpp"
#include "engine/choice.hpp"
#include "graph/lines.hpp"
#include "support/error.hpp"
#include "support/said.hpp"
#include "train/fields.hpp"
#include "tyche.h"

namespace tyche::capi {

using Json = nlohmann::ordered_json;

/// A handle that is freed, made up, or of another kind.
class BadHandle : public Error {
  using Error::Error;
};
/// A null pointer where there must be none.
class BadCall : public Error {
  using Error::Error;
};

/// Throws InputError "graph 3: WHAT", by which callers know the graph.
template <class... T>
[[noreturn]] void fail_graph(std::uint64_t graph, fmt::format_string<T...> what, T&&... values) {
  throw InputError("graph {}: {}", graph, fmt::format(what, std::forward<T>(values)...));
}

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

/// Bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string to_text(const Json& json);

/// The answer of a call: all of it known when it is made.
class Answer : public Object {
 public:
  explicit Answer(const Json& json) : text_(to_text(json)) {}
  /// Before it has a handle.
  void add(std::string name, Array array) { arrays_.emplace(std::move(name), std::move(array)); }
  [[nodiscard]] const char* kind() const override { return "an answer"; }
  [[nodiscard]] const std::string& info() override { return text_; }
  [[nodiscard]] tyche_array array(std::string_view name) override;

 private:
  std::string text_;
  std::map<std::string, Array, std::less<>> arrays_;
};

/// Throws InputError "there is no array 'x' here; …".
[[noreturn]] void no_such_array(std::string_view name, const std::vector<std::string>& known);

/// Throws BadHandle.
[[nodiscard]] std::shared_ptr<Object> find(tyche_handle handle);

/// The object of a handle, which must be a T; `wanted` names that in the error.
template <class T>
[[nodiscard]] std::shared_ptr<T> get(tyche_handle handle, const char* wanted) {
  const std::shared_ptr<Object> object = find(handle);
  std::shared_ptr<T> out = std::dynamic_pointer_cast<T>(object);
  if (!out) throw BadHandle("expected the handle of {}, came {}", wanted, object->kind());
  return out;
}

/// Runs `body`; never throws.
[[nodiscard]] tyche_status call(const std::function<void()>& body) noexcept;

/// The same for a body that makes an object, whose handle goes to `out`. On an error `out`, where it is not null, is 0.
[[nodiscard]] tyche_status answer(tyche_handle* out, const std::function<std::shared_ptr<Object>()>& body) noexcept;

/// Throws BadCall where `pointer` is null.
void require(const void* pointer, const char* name);
/// `value` as a string; throws BadCall where it is null.
[[nodiscard]] std::string text(const char* value, const char* name);

/// The options of a call: a JSON object by the names of the program's options.
///
///   Options options(json, {"dim", "threads"});                // throws InputError on other names
///   const auto dim = options.whole("dim", 1, 3).value_or(1);
class Options : public Said {
 public:
  /// `json` null or empty: none. A field's name may be what else it is called ("learning_rate", train/fields.hpp); a
  /// value of null is as if it were not there. Throws InputError on what is no JSON object, and on a name that is none
  /// of `names`.
  Options(const char* json, const std::vector<std::string>& names);

  /// device, engine_path and precision.
  [[nodiscard]] engine::AskedEngine engine() const { return {text("device"), text("engine_path"), text("precision")}; }
  /// What they say of the configuration's fields. Throws InputError on one that the call does not take.
  [[nodiscard]] train::Edits edits(const train::WhyNot& why_not = {}) const;
};

/// device, engine-path and precision, as in every call that runs models, and what else the call takes.
[[nodiscard]] std::vector<std::string> with_device(std::vector<std::string> more);
/// The same, and the names of the configuration's fields that have an option.
[[nodiscard]] std::vector<std::string> with_fields(const std::vector<std::string>& more);
/// "eval_every" of "--eval-every".
[[nodiscard]] std::string name_of(const train::Field& field);

/// A set of graphs behind a handle: a data set, and its arrays as numpy would have them.
class SetObject : public Object {
 public:
  /// `source`: the file it came from, or empty. Hashes the content unless `dataset.hash` is known.
  explicit SetObject(datasets::Dataset dataset, std::string source = {});

  [[nodiscard]] const char* kind() const override { return "a set of graphs"; }
  [[nodiscard]] const std::string& info() override;
  [[nodiscard]] tyche_array array(std::string_view name) override;

  [[nodiscard]] const datasets::Dataset& dataset() const { return dataset_; }
  [[nodiscard]] const GraphSet& set() const { return dataset_.set; }
  /// Throws InputError where there is none.
  [[nodiscard]] Graph graph(std::uint64_t number) const;
  [[nodiscard]] std::uint64_t nodes() const { return nodes_; }
  /// The file it came from; else its name.
  [[nodiscard]] const std::string& source() const { return source_.empty() ? dataset_.name : source_; }
  [[nodiscard]] bool from_file() const { return !source_.empty(); }

  /// Set before the object has a handle.
  std::optional<Json> certificate;
  std::optional<distinguish::PairSet> pairs;  ///< what a file says of pairs, less their graphs
  std::optional<Cleaning> cleaned;            ///< what was mended as it was read

 private:
  /// visit(name, whether the set has it, what makes it) for all arrays that there can be.
  void each_array(const auto& visit) const;
  [[nodiscard]] std::vector<std::string> array_names() const;
  /// Attributes or categories of nodes or of edges.
  [[nodiscard]] Array columns_of(bool nodes, bool categories) const;

  datasets::Dataset dataset_;
  std::string source_;
  std::uint64_t nodes_ = 0;
  std::uint64_t arcs_ = 0;
  std::mutex mutex_;  ///< of what is made when first asked for
  std::string info_;
  std::map<std::string, Array, std::less<>> arrays_;
};

[[nodiscard]] inline std::shared_ptr<SetObject> set_of(tyche_handle handle) {
  return get<SetObject>(handle, "a set of graphs");
}

/// The same as answer() for a body that asks a set.
template <class Body>
[[nodiscard]] tyche_status answer_of(tyche_handle set, tyche_handle* out, const Body& body) noexcept {
  return answer(out, [&] { return body(*set_of(set)); });
}

/// Throws InputError that names the graph, by its number, where an array does not describe graphs.
[[nodiscard]] GraphSet graphs_from(const tyche_graphs& arrays);

}  // namespace tyche::capi
