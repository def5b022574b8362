#pragma once
/// Manual pages (man(7) macros) of the commands, from the same declarations as --help.
///
///   write_file("tyche-train.1", man_page(*find_command(tyche, "tyche train"), tyche));
#include <string>
#include <string_view>
#include <vector>

#include "cli/tree.hpp"

namespace tyche::cli {

/// "tyche-theory-check" for "tyche theory check".
[[nodiscard]] std::string man_name(std::string_view command);
/// The page of `command`, which is `root` or one below it.
[[nodiscard]] std::string man_page(const CommandPage& command, const CommandPage& root);
/// Null where there is none of that name.
[[nodiscard]] const CommandPage* find_command(const CommandPage& root, std::string_view name);
/// `root` and all below it.
[[nodiscard]] std::vector<const CommandPage*> all_commands(const CommandPage& root);

}  // namespace tyche::cli
