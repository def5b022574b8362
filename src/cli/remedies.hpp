#pragma once
/// The options of this program that help against an error of the library.
#include <string>

#include "support/remedy.hpp"

namespace tyche::cli {

/// The error's text, with what a user can do about it here.
[[nodiscard]] std::string with_remedy(const Error& error);

}  // namespace tyche::cli
