#include "support/error.hpp"

#include <system_error>

namespace tyche {

InputError InputError::at(std::string_view file, std::string_view place, std::string_view message) {
  if (place.empty()) return InputError("{}: {}", file, message);
  return InputError("{}: {}: {}", file, place, message);
}

IoError IoError::from_errno(std::string_view file, std::string_view action, int error_number) {
  return IoError("{}: cannot {}: {}", file, action, std::generic_category().message(error_number));
}

}  // namespace tyche
