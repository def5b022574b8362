#pragma once
/// What a call says of a configuration, field by field: laid over defaults or, where a run is taken up again, over the
/// stored configuration. So what is not said never contradicts a run.
///
///   Edits edits;
///   edits.add(*field_called("lr"), 1e-3, "--lr");
///   RunConfig config = default_config(edits.model(), edits.random());
///   edits.apply(config);
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "train/fields.hpp"

namespace tyche::train {

/// Why a command does not take a field ("pairs have no folds"); empty: it does. What is not taken is refused by it.
using WhyNot = std::function<std::string(const Field&)>;

class Edits {
 public:
  /// `said`: the name that the caller has for the field ("--lr", "lr"), for messages.
  void add(const Field& field, nlohmann::json value, std::string said) {
    edits_.push_back({&field, std::move(value), std::move(said)});
  }
  /// The value of a field that is named, as text.
  [[nodiscard]] std::string text(std::string_view key, const std::string& otherwise) const;
  /// What a configuration's defaults follow from: as it is said, or as the network's description says.
  [[nodiscard]] std::string model(const std::string& otherwise = "gcn") const;
  [[nodiscard]] nn::Random random() const;
  /// Throws InputError on a value that its field cannot have, or that the model would not look at.
  void apply(RunConfig& config) const;

 private:
  struct Edit {
    const Field* field;
    nlohmann::json value;
    std::string said;
  };
  std::vector<Edit> edits_;
};

}  // namespace tyche::train
