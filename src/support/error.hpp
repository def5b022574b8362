#pragma once
/// Typed errors. The library throws these and never prints or exits; cli/ turns each into one line and an exit code.
///
///   throw InputError::at("graphs.txt", "line 7", "node id {} is out of range: this graph has {} nodes", node, nodes);
#ifndef __CUDACC__  // nvcc does not read fmt: its sources put their texts together themselves
#include <fmt/core.h>
#endif

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace tyche {

/// Base of all errors thrown on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
#ifndef __CUDACC__
  /// A text with values in the place of its {}.
  template <class First, class... Rest>
  explicit Error(fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest)
      : Error(fmt::format(text, std::forward<First>(first), std::forward<Rest>(rest)...)) {}
#endif
};

/// The input or the call is wrong: a file that does not parse, a value out of range, an option that makes no sense.
/// Exit code 2.
class InputError : public Error {
 public:
  using Error::Error;

  /// "FILE: PLACE: MESSAGE"; the place (say "line 7" or "byte 31") may be empty.
  static InputError at(std::string_view file, std::string_view place, std::string_view message);
#ifndef __CUDACC__
  template <class First, class... Rest>
  static InputError at(std::string_view file, std::string_view place, fmt::format_string<First, Rest...> message,
                       First&& first, Rest&&... rest) {
    return at(file, place, fmt::format(message, std::forward<First>(first), std::forward<Rest>(rest)...));
  }
#endif
};

/// The machine said no: a file that cannot be opened, a disk that is full, memory that is short. Exit code 2.
class IoError : public Error {
 public:
  using Error::Error;

  /// "FILE: cannot ACTION: reason of errno".
  static IoError from_errno(std::string_view file, std::string_view action, int error_number);
};

/// The user asked to stop (Ctrl-C). What was complete is on disk. Exit code 130.
class Interrupted : public Error {
 public:
  using Error::Error;
};

}  // namespace tyche
