#pragma once
/// The words of a call as the parser knows them. Long options may have '_' for '-', and a field of a configuration may
/// be called as others call it (train/fields.hpp): "--learning_rate 1e-3" is "--lr 1e-3" wherever there is a --lr. An
/// option that there is none of is refused with the nearest there is.
///
///   app.parse(settled_words(app, {argv + 1, argv + argc}));
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tyche::cli {

/// Last word first, as CLI::App::parse takes them. Throws InputError on an unknown option.
[[nodiscard]] std::vector<std::string> settled_words(const CLI::App& app, std::vector<std::string> words);

}  // namespace tyche::cli
