#include "capi/call.hpp"

#include <pthread.h>

#include <charconv>
#include <mutex>
#include <new>

#include "support/progress.hpp"
#include "support/remedy.hpp"

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

/// Calls under way. A stop is for those that are: the first call after them does not see it. In a forked process the
/// calls of other threads never end, since these are not there: none is under way.
class Running {
 public:
  Running() {
    const std::scoped_lock lock(mutex());
    if (count()++ == 0) set_interrupted(false);
  }
  ~Running() {
    const std::scoped_lock lock(mutex());
    if (count() > 0 && --count() == 0) set_interrupted(false);  // 0: forked in a callback
  }

 private:
  static std::mutex& mutex() {
    static std::mutex* const one = [] {
      (void)::pthread_atfork([] { mutex().lock(); }, [] { mutex().unlock(); },
                             [] {
                               count() = 0;
                               set_interrupted(false);
                               mutex().unlock();
                             });
      return new std::mutex;
    }();
    return *one;
  }
  static std::uint64_t& count() {
    static std::uint64_t number = 0;
    return number;
  }
};

}  // namespace

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
    } catch (const GraphError& error) {
      message_graph = error.graph();
      return fail(TYCHE_BAD_INPUT, error.what());
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
    *out = add(body());
  });
}

void require(const void* pointer, const char* name) {
  if (pointer == nullptr) throw BadCall(std::string("'").append(name).append("' is null"));
}

std::string text(const char* value, const char* name) {
  require(value, name);
  return value;
}

const char* last_message() noexcept { return message.c_str(); }
std::int64_t last_graph() noexcept { return message_graph; }

}  // namespace tyche::capi
