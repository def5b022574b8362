#pragma once
/// What reproduce writes beside the trials, for reports: OUT/experiments/NAME.json says which trials make which row and
/// what the paper printed there; OUT/log.jsonl has a line for every call. Neither holds a measurement; those are in the
/// run folders under OUT/trials.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "experiments/paper.hpp"
#include "experiments/plan.hpp"

namespace tyche::experiments {

/// The record of one experiment of a plan. The same bytes whenever the same is planned.
[[nodiscard]] nlohmann::ordered_json experiment_record(const Plan& plan, std::size_t experiment,
                                                       const std::string& profile, const Paper& paper);

/// Writes the records of all experiments of a plan that have rows; a file that would not change is left alone.
void write_records(const Plan& plan, const std::string& profile, const Paper& paper);

/// The call that trains a row on its own: "tyche train --data … --rni 0.5 …", options that differ from the defaults
/// alone. `generated`: whether the data is a set that tyche generated, for which the recipe paper goes without saying.
[[nodiscard]] std::string train_command(const train::RunConfig& config, bool generated = true);

/// Adds a line to OUT/log.jsonl.
void write_log(const std::filesystem::path& out, const nlohmann::ordered_json& entry);

}  // namespace tyche::experiments
