#pragma once
/// The fields of a run's configuration, in one table: what each is called in files and on a command line, what it may
/// be, which models use it. Whatever walks a configuration walks this table: config.toml and checkpoints, the options
/// and the help of `train`, validate(), experiments, the names of trials, the command that a report prints. So a new
/// field is a member of RunConfig, one entry in fields.cpp, and its words in share/fields.txt:
///
///   Entry("training.weight_decay", optimiser(&Optimiser::weight_decay)).since("0.2.0").is(kFrom0),
///
/// A file that lacks a field means its default; a field younger than 0.1.0 at its default is no part of a trial's name.
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "train/config.hpp"

namespace tyche::train {

struct Field {
  /// How a value is written.
  enum class Form { text, whole, number, flag, list };
  /// Who says it.
  enum class Origin {
    chosen,   ///< whoever begins a run, by call or in an experiment
    call,     ///< a call alone: experiments have words of their own for it
    derived,  ///< nobody: it follows from data, machine and program
  };

  std::string key;                ///< "model.width": table and name in config.toml
  std::string comment;            ///< beside it there; may be empty
  std::string option;             ///< "--width"; empty: none. A flag's stands for the value that is not its default
  std::vector<std::string> also;  ///< what else people call it ("hidden"): taken everywhere, shown nowhere
  std::string help;
  std::string shown;  ///< the default as help shows it; may be empty
  std::string since = "0.1.0";
  Form form = Form::text;
  Origin origin = Origin::chosen;
  bool leads = false;   ///< other defaults follow from it (default_config): its own is that of any run
  bool decides = true;  ///< false: where and by what a run was made, not what it is

  std::function<nlohmann::json(const RunConfig&)> value;
  /// Throws InputError that begins with `place` where the value is of another form. The field is one that was given
  /// from here on (RunConfig::given).
  std::function<void(RunConfig&, const nlohmann::json&, std::string_view place)> assign;
  /// What is wrong with the value ("must be at least 1"); empty: nothing. The ranges of a model's own fields are
  /// nn::validate's.
  std::function<std::string(const RunConfig&)> wrong;
  /// Why this configuration does not use the field ("ppgn has no dropout"); empty: it does.
  std::function<std::string(const RunConfig&)> unused;
};

/// In the order of files. Files of 0.1.0 and names of trials rest on it: put new fields where they read well, and leave
/// the others in order.
[[nodiscard]] const std::vector<Field>& fields();

/// Null where there is none.
[[nodiscard]] const Field* find_field(std::string_view key);

/// The field that an option's name ("lr"), or what else it is called ("learning-rate"), stands for; '_' is as good as
/// '-'. Null where there is none.
[[nodiscard]] const Field* field_called(std::string_view word);
/// The key that is meant by one whose last word, or only one, is such a name: "training.learning_rate" for
/// "training.lr" and "lr". Any other key as it is.
[[nodiscard]] std::string settled_key(std::string_view key);

/// Whether a field has the value that its kind of model, with its kind of random inputs, begins with (default_config).
[[nodiscard]] bool at_default(const Field& field, const RunConfig& config);

/// Options as they are typed, a space before each, for the fields whose values are not those of `start`; a field that
/// leads is compared with what it is in any run, and so is the model, which goes first. What no option can say is left
/// out.
[[nodiscard]] std::string typed_options(const RunConfig& config, const RunConfig& start,
                                        const std::function<bool(const Field&)>& wanted = {});

/// What speaks against a field's value, to be read behind its name: "must be at least 1; came 0", or "is 3, but gcn
/// has no such MLPs". Empty: nothing. A field that is not used may stand at its default alone.
[[nodiscard]] std::string refusal(const Field& field, const RunConfig& config);

/// Throws InputError that names the field where something speaks against one of this section ("model."; empty: any).
void check_fields(const RunConfig& config, std::string_view section = "");

/// Holds a network's description against the data (nn::fit), and what else the configuration says of the model against
/// the description. Throws InputError that names the field.
void fit_network(RunConfig& config);

/// What a run is, as text that is equal where results must be: a line for every field that decides, but for the keys
/// `without`. A field younger than 0.1.0 has one only where it is not at its default, so that what 0.1.0 could express
/// has 0.1.0's text, and trials keep the folders that are named after it.
[[nodiscard]] std::string identity(const RunConfig& config, const std::vector<std::string_view>& without,
                                   const std::vector<Field>& table = fields());

/// What a call says of a configuration, field by field: laid over defaults or, where a run is taken up again, over the
/// stored configuration. So what is not said never contradicts a run.
///
///   Edits edits;
///   edits.add(*field_called("lr"), 1e-3, "--lr");
///   RunConfig config = default_config(edits.model(), edits.random());
///   edits.apply(config);

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
