#pragma once
/// The words of a call, and what the program says of itself.
#include <CLI/CLI.hpp>

namespace tyche::cli {

/// The words of a call as the parser knows them. Long options may have '_' for '-', and a field of a configuration may
/// be called as others call it (train/fields.hpp): "--learning_rate 1e-3" is "--lr 1e-3" wherever there is a --lr. An
/// option that there is none of is refused with the nearest there is.
///
///   app.parse(settled_words(app, {argv + 1, argv + argc}));
///
/// Last word first, as CLI::App::parse takes them. Throws InputError on an unknown option.
[[nodiscard]] std::vector<std::string> settled_words(const CLI::App& app, std::vector<std::string> words);

/// What `tyche --version` says: what was built, and what of it this machine uses. The first line is "tyche 0.3.0"; no
/// newline ends the last. The same for programs: --version --json.
[[nodiscard]] std::string version_text();
[[nodiscard]] std::string version_json();

}  // namespace tyche::cli
