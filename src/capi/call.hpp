#pragma once
/// One call of the C interface: exceptions become a status and a message, whatever happens.
///
///   tyche_status tyche_set_read(const char* path, const char* format, tyche_handle* out) {
///     return answer(out, [&] { return read(text(path, "path"), format); });       // a shared_ptr to an Object
///   }
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "capi/handles.hpp"

namespace tyche::capi {

/// An InputError about one graph of several.
class GraphError : public InputError {
 public:
  /// "graph 3: WHAT"
  GraphError(std::uint64_t graph, const std::string& what)
      : InputError("graph " + std::to_string(graph) + ": " + what), graph_(static_cast<std::int64_t>(graph)) {}
  [[nodiscard]] std::int64_t graph() const { return graph_; }

 private:
  std::int64_t graph_;
};

/// Runs `body`; never throws.
[[nodiscard]] tyche_status call(const std::function<void()>& body) noexcept;

/// The same for a body that makes an object, whose handle goes to `out`. On an error `out`, where it is not null, is 0.
[[nodiscard]] tyche_status answer(tyche_handle* out, const std::function<std::shared_ptr<Object>()>& body) noexcept;

/// Throws BadCall where `pointer` is null.
void require(const void* pointer, const char* name);
/// `value` as a string; throws BadCall where it is null.
[[nodiscard]] std::string text(const char* value, const char* name);

[[nodiscard]] const char* last_message() noexcept;
[[nodiscard]] std::int64_t last_graph() noexcept;

/// A folder of its own under $TMPDIR (or /tmp), gone with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tyche-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw IoError::from_errno(name, "make a folder", errno);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tyche::capi
