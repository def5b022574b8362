#include "train/upgrade.hpp"

#include <fmt/format.h>

#include "train/fields.hpp"

namespace tyche::train {

void upgrade(RunConfig& config, Notes* notes) {
  const auto note = [&](std::string text) {
    if (notes != nullptr) notes->push_back(std::move(text));
  };
  if (config.engine.name == "cpu-xsmm") {
    config.engine.name = "cpu";
    note("this run was begun with the engine cpu-xsmm, which is no more: it goes on with cpu");
  }
  if (config.version != "0.1.0") return;
  config.data.features.edges = false;  // it did not read them
  const RunConfig defaults = default_config(config.model.kind, config.model.random);
  for (const Field& field : fields()) {
    const bool ignored = config.model.kind == "ppgn" && field.key == "model.readout";  // 0.1.0's ppgn knew max alone
    if (!ignored && (!field.unused || field.unused(config).empty())) continue;
    const nlohmann::json stored = field.value(config), meant = field.value(defaults);
    if (stored == meant) continue;
    field.assign(config, meant, field.key);
    note(fmt::format(
        "version 0.1.0, which began this run, did not look at {} = {}: it trained with {}, and so it goes on",
        field.key, stored.dump(), meant.dump()));
  }
}

}  // namespace tyche::train
