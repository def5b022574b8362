#pragma once
/// What the values of options can be, for completion and the manual, where the parser takes any text and the library
/// judges it (so that its errors can name the nearest word). Where the parser checks names itself, those count.
///
///   offer_of("tyche train", "--activation").names                // elu, tanh, relu
#include <string>
#include <string_view>
#include <vector>

#include "cli/tree.hpp"

namespace tyche::cli {

struct Offer {
  std::vector<std::string> names;
  /// name: one of the names; file, folder: likewise, or a file or folder; nothing: this table knows nothing of it.
  Argument::Takes takes = Argument::Takes::nothing;
  std::string placeholder{};  ///< instead of the parser's TEXT
};

[[nodiscard]] Offer offer_of(std::string_view command, std::string_view argument);

}  // namespace tyche::cli
