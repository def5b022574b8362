#include "capi/handles.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pthread.h>

#include <algorithm>
#include <mutex>

namespace tyche::capi {

namespace {

template <class T>
constexpr tyche_type type_of() {
  if constexpr (std::is_same_v<T, std::int32_t>) return TYCHE_INT32;
  if constexpr (std::is_same_v<T, std::int64_t>) return TYCHE_INT64;
  if constexpr (std::is_same_v<T, std::uint32_t>) return TYCHE_UINT32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return TYCHE_UINT64;
  if constexpr (std::is_same_v<T, float>) return TYCHE_FLOAT32;
  return TYCHE_FLOAT64;
}

/// A handle is a slot's number (from 1 on) below and its generation above: a slot that is used again has another
/// handle. A slot whose generations are used up is never used again.
class Table {
 public:
  tyche_handle add(std::shared_ptr<Object> object) {
    const std::scoped_lock lock(mutex_);
    if (free_.empty()) {
      if (slots_.size() == 0xffffffffu) throw std::bad_alloc();
      free_.reserve(slots_.size() + 1);  // so that drop() cannot fail
      slots_.push_back({});
      free_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
    }
    const std::uint32_t at = free_.back();
    free_.pop_back();
    slots_[at].object = std::move(object);
    ++live_;
    return (std::uint64_t{slots_[at].generation} << 32) | (at + std::uint64_t{1});
  }

  std::shared_ptr<Object> find(tyche_handle handle) {
    const std::scoped_lock lock(mutex_);
    return slot(handle).object;
  }

  void drop(tyche_handle handle) {
    std::shared_ptr<Object> last;  // destroyed outside the lock: a large set takes its time
    const std::scoped_lock lock(mutex_);
    Slot& own = slot(handle);
    last = std::move(own.object);
    own.object.reset();
    --live_;
    if (++own.generation != 0) free_.push_back(static_cast<std::uint32_t>((handle & 0xffffffffu) - 1));
  }

  std::uint64_t live() {
    const std::scoped_lock lock(mutex_);
    return live_;
  }

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  struct Slot {
    std::uint32_t generation = 1;
    std::shared_ptr<Object> object;
  };

  Slot& slot(tyche_handle handle) {
    if (handle == 0) throw BadHandle("the handle is 0, which is none");
    const std::uint64_t at = (handle & 0xffffffffu) - 1;
    const std::uint64_t generation = handle >> 32;
    if ((handle & 0xffffffffu) == 0 || at >= slots_.size() || generation == 0 || generation > slots_[at].generation) {
      throw BadHandle("{:#x} is no handle", handle);
    }
    if (generation < slots_[at].generation || !slots_[at].object) {
      throw BadHandle("the handle {:#x} was freed", handle);
    }
    return slots_[at];
  }

  std::mutex mutex_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::uint64_t live_ = 0;
};

/// Never destroyed: a thread that still runs when the process ends finds it. Nobody is in it while the process forks,
/// or it would stay locked in the child for ever.
Table& table() {
  static Table* const one = [] {
    (void)::pthread_atfork([] { table().lock(); }, [] { table().unlock(); }, [] { table().unlock(); });
    return new Table;
  }();
  return *one;
}

}  // namespace

tyche_array Array::view() const {
  return std::visit(
      [&](const auto& own) {
        tyche_array out{};
        out.data = own.empty() ? nullptr : own.data();
        out.type = type_of<typename std::decay_t<decltype(own)>::value_type>();
        out.dimensions = columns + rows == 0 ? 1 : 2;
        out.shape[0] = rows > 0 ? rows : columns == 0 ? own.size() : own.size() / columns;
        out.shape[1] = rows > 0 ? own.size() / rows : std::max<std::size_t>(columns, 1);
        return out;
      },
      values);
}

Answer::Answer(const nlohmann::ordered_json& json, Arrays arrays)
    : text_(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)), arrays_(std::move(arrays)) {}

tyche_array Answer::array(std::string_view name) {
  const auto found = arrays_.find(name);
  if (found != arrays_.end()) return found->second.view();
  std::vector<std::string> known;
  for (const auto& [own, values] : arrays_) known.push_back(own);
  no_such_array(name, known);
}

void no_such_array(std::string_view name, const std::vector<std::string>& known) {
  throw InputError(known.empty()
                       ? fmt::format("there is no array '{}' here, nor any other", name)
                       : fmt::format("there is no array '{}' here; there are {}", name, fmt::join(known, ", ")));
}

tyche_handle add(std::shared_ptr<Object> object) { return table().add(std::move(object)); }
std::shared_ptr<Object> find(tyche_handle handle) { return table().find(handle); }
void drop(tyche_handle handle) { table().drop(handle); }
std::uint64_t live() { return table().live(); }

}  // namespace tyche::capi
