#include "capi/capi.hpp"

#include <fmt/ranges.h>
#include <pthread.h>

#include <charconv>
#include <new>
#include <unordered_map>

#include "support/progress.hpp"
#include "support/remedy.hpp"
#include "support/version.hpp"
#include "support/words.hpp"

namespace tyche::capi {

namespace {

thread_local std::string message;
thread_local std::int64_t message_graph = -1;

/// What to do about an error, in the words of options of calls; in the order of Remedy.
constexpr std::string_view kRemedies[] = {
    "; the option format names it",
    "; the option clean mends that",
    "; name another folder, or let the option force replace it",
    "; name another folder",
    "; name another folder",
    "; 'tyche reproduce', 'train' and 'distinguish' make some with --out FOLDER",
    "; the option fold names it",
    "; the device cpu works everywhere",
    "; the option no_edge_features leaves them out",
    "; the option fold_scheme=stratified spreads labels evenly",
    "; reduce width or layers",
    "; 'tyche reproduce --data-folder' names it",
    "; reduce batch, width or layers, or train on the CPU (device cpu)",
};

/// "graph 12" in a message of the library.
std::int64_t graph_in(std::string_view what) {
  constexpr std::string_view kWord = "graph ";
  const std::size_t at = what.find(kWord);
  std::int64_t number = -1;
  if (at == std::string_view::npos || (at > 0 && what[at - 1] != ' ')) return -1;
  const char* first = what.data() + at + kWord.size();
  const auto end = std::from_chars(first, what.data() + what.size(), number);
  return end.ec == std::errc() ? number : -1;
}

tyche_status fail(tyche_status status, std::string what) noexcept {
  message = std::move(what);
  return status;
}

/// What calls share. Never destroyed: a thread that still runs when the process ends finds it. Nobody is in it while
/// the process forks, or it would stay locked in the child for ever.
struct State {
  std::mutex mutex;
  std::uint64_t running = 0;  ///< calls under way
  /// By handles, which count up from 1: none is ever used again.
  std::unordered_map<tyche_handle, std::shared_ptr<Object>> objects;
  tyche_handle last = 0;

  auto at(tyche_handle handle) {
    const auto found = objects.find(handle);
    if (found != objects.end()) return found;
    if (handle == 0) throw BadHandle("the handle is 0, which is none");
    if (handle > last) throw BadHandle("{:#x} is no handle", handle);
    throw BadHandle("the handle {:#x} was freed", handle);
  }
};

State& state() {
  static State* const one = [] {
    (void)::pthread_atfork([] { state().mutex.lock(); }, [] { state().mutex.unlock(); },
                           [] {
                             // The calls of other threads never end here, since these are not there.
                             state().running = 0;
                             set_interrupted(false);
                             state().mutex.unlock();
                           });
    return new State;
  }();
  return *one;
}

/// A call under way. A stop is for those that are: the first call after them does not see it.
class Running {
 public:
  Running() {
    const std::scoped_lock lock(state().mutex);
    if (state().running++ == 0) set_interrupted(false);
  }
  ~Running() {
    const std::scoped_lock lock(state().mutex);
    if (state().running > 0 && --state().running == 0) set_interrupted(false);  // 0: forked in a callback
  }
};

/// Of the kinds of Array::values, in their order.
constexpr tyche_type kTypes[] = {TYCHE_INT32, TYCHE_INT64, TYCHE_UINT32, TYCHE_UINT64, TYCHE_FLOAT32, TYCHE_FLOAT64};

}  // namespace

std::string to_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

tyche_array Array::view() const {
  return std::visit(
      [&](const auto& own) {
        tyche_array out{};
        out.data = own.empty() ? nullptr : own.data();
        out.type = kTypes[values.index()];
        out.dimensions = columns + rows == 0 ? 1 : 2;
        out.shape[0] = rows > 0 ? rows : columns == 0 ? own.size() : own.size() / columns;
        out.shape[1] = rows > 0 ? own.size() / rows : std::max<std::size_t>(columns, 1);
        return out;
      },
      values);
}

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

std::shared_ptr<Object> find(tyche_handle handle) {
  const std::scoped_lock lock(state().mutex);
  return state().at(handle)->second;
}

tyche_status call(const std::function<void()>& body) noexcept {
  try {
    try {
      message_graph = -1;
      const Running running;
      body();
      return TYCHE_OK;
    } catch (const BadHandle& error) {
      return fail(TYCHE_BAD_HANDLE, error.what());
    } catch (const BadCall& error) {
      return fail(TYCHE_BAD_CALL, error.what());
    } catch (const Interrupted& error) {
      return fail(TYCHE_STOPPED, error.what());
    } catch (const InputError& error) {
      message_graph = graph_in(error.what());
      return fail(TYCHE_BAD_INPUT, with_remedy(error, kRemedies));
    } catch (const Error& error) {
      return fail(TYCHE_IO_ERROR, with_remedy(error, kRemedies));
    } catch (const std::bad_alloc&) {
      return fail(TYCHE_NO_MEMORY, "out of memory");
    } catch (const std::exception& error) {
      return fail(TYCHE_INTERNAL, std::string("internal error, please report it: ").append(error.what()));
    } catch (...) {
      return fail(TYCHE_INTERNAL, "internal error of an unknown kind, please report it");
    }
  } catch (...) {  // the message itself did not fit
    message.clear();
    return TYCHE_NO_MEMORY;
  }
}

tyche_status answer(tyche_handle* out, const std::function<std::shared_ptr<Object>()>& body) noexcept {
  if (out != nullptr) *out = 0;
  return call([&] {
    require(out, "out");
    std::shared_ptr<Object> object = body();
    const std::scoped_lock lock(state().mutex);
    *out = state().objects.emplace(++state().last, std::move(object)).first->first;
  });
}

void require(const void* pointer, const char* name) {
  if (pointer == nullptr) throw BadCall(std::string("'").append(name).append("' is null"));
}

std::string text(const char* value, const char* name) {
  require(value, name);
  return value;
}

std::string name_of(const train::Field& field) { return Said::spelled(std::string_view(field.option).substr(2)); }

std::vector<std::string> with_device(std::vector<std::string> more) {
  more.insert(more.begin(), {"device", "engine_path", "precision"});
  return more;
}

std::vector<std::string> with_fields(const std::vector<std::string>& more) {
  std::vector<std::string> names;
  for (const train::Field& field : train::fields()) {
    if (!field.option.empty()) names.push_back(name_of(field));
  }
  for (std::string& name : with_device(more)) names.push_back(std::move(name));
  return names;
}

Options::Options(const char* json, const std::vector<std::string>& names) {
  for (const std::string& name : names) know(name);
  if (json == nullptr || *json == '\0') return;
  nlohmann::json given;
  try {
    given = nlohmann::json::parse(json);
  } catch (const nlohmann::json::exception& error) {
    throw InputError("options: not JSON: {}", error.what());
  }
  if (!given.is_object()) {
    throw InputError("options: expected a JSON object, found {}", to_text(given));
  }
  for (const auto& [key, value] : given.items()) {
    std::string name = spelled(key);
    if (const train::Field* field = knows(name) ? nullptr : train::field_called(name)) name = name_of(*field);
    if (!knows(name)) {
      throw InputError("there is no option '{}' here{}", key, did_you_mean(spelled(key), names));
    }
    if (value.is_null()) continue;
    if (says(name)) throw InputError("{} is said twice, once as {}", name, key);
    set(name, value);
  }
}

train::Edits Options::edits(const train::WhyNot& why_not) const {
  train::Edits edits;
  for (const train::Field& field : train::fields()) {
    if (field.option.empty()) continue;
    const std::string name = name_of(field);
    const nlohmann::json& own = value(name);
    const bool is_flag = field.form == train::Field::Form::flag;
    // A flag is named for what is not the default, as on a command line.
    if (own.is_null() || (is_flag && !flag(name))) continue;
    const bool of_reading = field.key == "data.format" || field.key == "data.clean";
    const std::string why = of_reading ? "the graphs are read already" : why_not ? why_not(field) : "";
    if (!why.empty()) throw InputError("{}: {}", name, why);
    edits.add(field, is_flag ? nlohmann::json(!field.value(train::RunConfig{}).get<bool>()) : own, name);
  }
  return edits;
}

}  // namespace tyche::capi

using namespace tyche;
using namespace tyche::capi;

int tyche_abi(void) { return TYCHE_ABI; }
const char* tyche_version(void) { return kVersion; }
const char* tyche_error_message(void) { return message.c_str(); }
int64_t tyche_error_graph(void) { return message_graph; }
void tyche_interrupt(void) { set_interrupted(true); }

tyche_status tyche_free(tyche_handle handle) {
  return call([&] {
    std::shared_ptr<Object> last;  // destroyed outside the lock: a large set takes its time
    const std::scoped_lock lock(state().mutex);
    const auto at = state().at(handle);
    last = std::move(at->second);
    state().objects.erase(at);
  });
}
uint64_t tyche_live_handles(void) {
  const std::scoped_lock lock(state().mutex);
  return state().objects.size();
}

tyche_status tyche_info(tyche_handle handle, const char** text_out, uint64_t* bytes) {
  return call([&] {
    require(text_out, "text");
    const std::string& info = find(handle)->info();
    *text_out = info.c_str();
    if (bytes != nullptr) *bytes = info.size();
  });
}

tyche_status tyche_array_of(tyche_handle handle, const char* name, tyche_array* out) {
  return call([&] {
    require(out, "out");
    *out = {};
    *out = find(handle)->array(text(name, "name"));
  });
}
