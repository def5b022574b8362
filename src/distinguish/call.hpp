#pragma once
/// The front door of distinguish: what a call may ask for, and what comes of it. The program and the C interface
/// translate to it and from it, nothing more.
///
///   Request request;
///   request.fields.add(*train::field_called("random"), "colours", "--random");
///   const Settings settings = settings_of(request);
///   const PairSet pairs = load_pairs("brec");
///   const StoredRun run = distinguish(request, settings, pairs, "brec", {});
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "distinguish/summary.hpp"
#include "engine/choice.hpp"
#include "support/progress.hpp"
#include "train/fields.hpp"

namespace tyche::distinguish {

struct Request {
  train::Edits fields;  ///< those that why_not() takes
  engine::AskedEngine engine;
  std::string scoring = "exact";
  bool together = false;
  std::uint32_t seeds = 1;
  std::optional<std::uint32_t> draws, train_draws;
  unsigned threads = 0;
  std::filesystem::path out;  ///< folder to keep results in; empty: none
  bool resume = false;
  std::vector<std::string> only;  ///< files of BREC that `pairs` were read from; empty: all
};

/// Whom to tell; each may be empty.
struct Listener {
  std::function<void(const std::string&)> say;   ///< what is about to be run, a line each
  std::function<void(const std::string&)> note;  ///< what the engine has to say
  std::function<std::unique_ptr<Progress>(std::uint64_t epochs)> progress;
};

/// Why distinguish does not take a field of the configuration; empty: it does.
[[nodiscard]] std::string why_not(const train::Field& field);

/// Defaults with what the request says laid over them; data.format and data.clean say how pairs are to be read. Throws
/// InputError where parts of the request contradict each other.
[[nodiscard]] Settings settings_of(const Request& request);

/// Trains and judges; `path` is where the pairs came from. Throws Interrupted when asked
/// to stop (what is done is in `out`), and InputError as resolve() and Records do.
[[nodiscard]] StoredRun distinguish(const Request& request, Settings settings, const PairSet& pairs,
                                    const std::filesystem::path& path, const Listener& listener);

}  // namespace tyche::distinguish
