#include "train/edits.hpp"

#include <fmt/format.h>

#include "nn/description.hpp"
#include "support/error.hpp"

namespace tyche::train {

std::string Edits::text(std::string_view key, const std::string& otherwise) const {
  for (const Edit& edit : edits_) {
    if (edit.field->key != key) continue;
    if (edit.value.is_string()) return edit.value.get<std::string>();
    throw InputError(fmt::format("{}: expected text, found {}", edit.said,
                                 edit.value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
  }
  return otherwise;
}

std::string Edits::model(const std::string& otherwise) const {
  const std::string network = text("model.network", "");
  return network.empty() ? text("model.kind", otherwise) : nn::described_by(network).kind;
}

nn::Random Edits::random() const {
  const std::string network = text("model.network", "");
  return network.empty() ? nn::parse_random(text("model.random", "features")) : nn::described_by(network).random;
}

void Edits::apply(RunConfig& config) const {
  for (const Edit& edit : edits_) edit.field->assign(config, edit.value, edit.said);
  for (const Edit& edit : edits_) {
    const std::string why = refusal(*edit.field, config);
    if (!why.empty()) throw InputError(fmt::format("{} {}", edit.said, why));
  }
}

}  // namespace tyche::train
