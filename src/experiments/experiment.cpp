#include "experiments/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "experiments/toml_reader.hpp"
#include "nn/description.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/remedy.hpp"
#include "support/share.hpp"
#include "support/words.hpp"
#include "train/fields.hpp"

namespace tyche::experiments {

namespace {

constexpr const char *kFoldsRun = "folds.run", *kRepeats = "training.repeats";

/// The keys of a run's config.toml that an experiment may set: all but what follows from the data or the machine.
const std::vector<std::string>& config_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> out;
    for (const train::Field& field : train::fields()) {
      if (field.origin == train::Field::Origin::chosen) out.push_back(field.key);
    }
    out.insert(out.end(), {kFoldsRun, kRepeats});
    return out;
  }();
  return keys;
}

/// Under the keys of config.toml, where they are called as options are ("lr", "training.lr").
std::vector<Setting> settled(std::vector<Setting> settings) {
  for (Setting& s : settings) s.key = train::settled_key(s.key);
  return settings;
}

/// Where a path of the file leads; as it stands where the system cannot say (a name that is too long): whoever opens it
/// will say so.
std::filesystem::path path_from(const std::filesystem::path& folder, const std::string& text) {
  std::error_code unknown;
  const std::filesystem::path path = std::filesystem::weakly_canonical(folder / text, unknown);
  return unknown ? folder / text : path;
}

constexpr std::string_view kNetwork = "model.network";

/// What a profile changes: settings of the data, settings of all models, or everything away.
struct ProfileChanges {
  bool left_out = false;
  std::vector<Setting> data, defaults;
};

/// A data set of an experiment: its own, or one of [[datasets]].
struct DataPart {
  std::string name;   ///< of [[datasets]]
  std::string title;  ///< likewise
  std::vector<Setting> data, defaults;
  std::string paper_data;  ///< likewise; the file's where it is empty
};

/// Reads the experiments of a file under a profile.
class Reader {
 public:
  Reader(const ExperimentFile& file, std::string_view profile)
      : document_(parse_document(file.text, file.name)), profile_(profile), folder_(file.folder) {}

  std::vector<Experiment> read() {
    Experiment shared;
    shared.name = std::filesystem::path(document_.file).stem().string();
    shared.title = document_.take_text("title", shared.name);
    shared.about = document_.take_text("about", "");
    shared.paper = document_.take_text("paper", "");
    shared.paper_data = document_.take_text("paper_data", "");
    shared.show = document_.take_texts("show");
    if (shared.show.empty()) shared.show = {"table", "curves"};
    static const std::vector<std::string> shows = {"table", "curves", "split", "deviation", "reach", "draws"};
    for (const std::string& show : shared.show) {
      if (std::ranges::find(shows, show) == shows.end()) {
        throw InputError::at(document_.file, "show", "unknown view '{}'{}", show, did_you_mean(show, shows));
      }
    }
    // How rows of a grid become results: each is one, or the best of them by validation is.
    const std::string selection = document_.take_text("selection", "none");
    if (selection != "none" && selection != "nested") {
      throw InputError::at(document_.file, "selection", "expected \"nested\" or \"none\", found '{}'", selection);
    }
    shared.nested = selection == "nested";
    shared.repeats = document_.take_whole("repeats", shared.repeats, 1, 1000);
    take_profile();
    take_data();
    defaults_ = settled(document_.take_table("defaults"));
    grid_ = settled(document_.take_table("grid"));
    models_ = document_.take_list("models");
    if (models_.empty()) models_.emplace_back().file = document_.file;
    document_.expect_empty(std::array<std::string, 13>{"title", "about", "paper", "paper_data", "show", "selection",
                                                       "repeats", "data", "datasets", "defaults", "models", "grid",
                                                       "profiles"});
    std::vector<Experiment> experiments;
    for (const DataPart& part : parts_) {
      Experiment& e = experiments.emplace_back(shared);
      if (!part.name.empty()) {
        e.name += "-" + part.name;
        e.title += ": " + part.title;
      }
      if (!part.paper_data.empty()) e.paper_data = part.paper_data;
      e.data = read_data(part.data);
      e.rows = read_rows(part, !e.data.split.empty());
      const bool repeated = std::ranges::any_of(e.rows, [](const auto& row) { return row.repeats > 1; });
      if (e.nested && repeated) {
        throw InputError::at(document_.file, kRepeats,
                             "nested selection trains what it chose `repeats` times; say that");
      }
    }
    return experiments;
  }

 private:
  /// What goes wrong in body() is the setting's fault.
  void blaming(const Setting& s, const auto& body) const {
    try {
      body();
    } catch (const InputError& error) {
      document_.fail(s, error.what());
    }
  }

  /// A description, or where the file of one is, seen from the experiment's.
  std::string network(const Setting& s) const {
    const std::string text = document_.text(s);
    if (text.empty() || text.find('\n') != text.npos || text.front() == '{') return text;
    return path_from(folder_, text).string();
  }

  void check_key(const Setting& s) const {
    const auto& keys = config_keys();
    if (std::ranges::find(keys, s.key) == keys.end()) document_.unknown(s, keys);
  }

  void apply(const Setting& s, ExperimentRow& row) const {
    check_key(s);
    if (s.key == kFoldsRun || s.key == kRepeats) {
      if (!s.value.is_number_integer() || s.value.get<std::int64_t>() < 1 || s.value.get<std::int64_t>() > 1000000) {
        document_.fail(s, fmt::format("expected a whole number from 1 on, found {}", s.value.dump()));
      }
      (s.key == kFoldsRun ? row.folds_run : row.repeats) = s.value.get<std::uint32_t>();
      return;
    }
    const train::Field& field = *train::find_field(s.key);
    field.assign(row.config, s.key == kNetwork ? nlohmann::json(network(s)) : s.value,
                 fmt::format("{}: line {}: {}", document_.file, s.line, s.key));
    const std::string wrong = field.wrong ? field.wrong(row.config) : "";
    if (!wrong.empty()) document_.fail(s, fmt::format("{}; came {}", wrong, s.value.dump()));
  }

  void apply(const std::vector<Setting>& settings, ExperimentRow& row) const {
    for (const Setting& s : settings) apply(s, row);
  }

  /// All settings of a row, a later list beating an earlier one, over the defaults of the row's kind of model.
  void apply_over_defaults(std::initializer_list<const std::vector<Setting>*> lists, ExperimentRow& row) const {
    const auto last = [&](std::string_view key) {
      const Setting* found = nullptr;
      for (const auto* list : lists) {
        for (const Setting& s : *list) {
          if (s.key == key && s.value.is_string()) found = &s;
        }
      }
      return found;
    };
    const Setting *kind = last("model.kind"), *random = last("model.random"), *described = last(kNetwork);
    nn::ModelConfig said;
    if (described != nullptr) {
      said = nn::described_by(network(*described));
      row.config = train::default_config(said.kind, said.random);
    } else {
      if (kind != nullptr) said.kind = kind->value.get<std::string>();
      if (random != nullptr) {
        blaming(*random, [&] { said.random = nn::parse<nn::Random>(random->value.get<std::string>()); });
      }
      const auto begin = [&] { row.config = train::default_config(said.kind, said.random); };
      kind == nullptr ? begin() : blaming(*kind, begin);
    }
    for (const auto* list : lists) apply(*list, row);
  }

  void apply_data(const Setting& s, DataSpec& data) const {
    const auto path = [&] {
      return data.in_folder ? std::filesystem::path(document_.text(s)) : path_from(folder_, document_.text(s));
    };
    const std::vector<std::string> parameters = datasets::parameter_keys();
    if (s.key == "generate") {
      data.generated = true;
      data.recipe = datasets::recipe_of(document_.text(s));
    } else if (s.key == "folder") {
      data.in_folder = document_.flag(s);
    } else if (s.key == "path") {
      data.path = path();
    } else if (s.key == "format") {
      data.format = document_.text(s);
    } else if (s.key == "split") {
      data.split = path().string();
    } else if (s.key == "clean") {
      data.clean = document_.flag(s);
    } else if (std::ranges::find(parameters, s.key) != parameters.end()) {
      const std::string value = s.value.is_string() ? s.value.get<std::string>() : s.value.dump();
      blaming(s, [&] { datasets::set_parameter(data.recipe, s.key, value); });
    } else {
      std::vector<std::string> keys = parameters;
      keys.insert(keys.end(), {"generate", "folder", "path", "format", "split", "clean"});
      document_.unknown(s, keys, "data." + s.key);
    }
  }

  DataSpec read_data(std::vector<Setting> settings) const {
    DataSpec data;
    settings.insert(settings.end(), changes_.data.begin(), changes_.data.end());
    // These say what the other keys mean, so they go first wherever they stand.
    std::stable_partition(settings.begin(), settings.end(),
                          [](const Setting& s) { return s.key == "generate" || s.key == "folder"; });
    for (const Setting& s : settings) apply_data(s, data);
    if (data.generated == !data.path.empty()) {
      throw InputError::at(document_.file, "[data]",
                           "expected either generate (\"exp\", \"tseitin\", …) or path (a file or folder of graphs)");
    }
    if (data.generated) {
      try {
        datasets::check(data.recipe);
      } catch (const InputError& error) {
        throw InputError::at(document_.file, "[data]", error.what());
      }
    }
    return data;
  }

  /// The product of the grid's lists with a row: each combination a row of its own, named by what changes.
  std::vector<ExperimentRow> spread(const ExperimentRow& row) const {
    std::vector<ExperimentRow> rows = {row};
    for (const Setting& axis : grid_) {
      if (axis.key == "model.kind" || axis.key == kNetwork) {
        document_.fail(axis, "kinds differ in their defaults; give each a [[models]] of its own");
      }
      if (!axis.value.is_array() || axis.value.empty()) {
        document_.fail(axis, fmt::format("expected a list of values, found {}", axis.value.dump()));
      }
      std::vector<ExperimentRow> next;
      for (const ExperimentRow& from : rows) {
        for (const nlohmann::json& value : axis.value) {
          ExperimentRow& made = next.emplace_back(from);
          apply(Setting{axis.key, value, axis.line}, made);
          const std::string shown = value.is_string() ? value.get<std::string>() : value.dump();
          made.name += fmt::format(", {} {}", axis.key.substr(axis.key.find('.') + 1), shown);
        }
      }
      rows = std::move(next);
    }
    return rows;
  }

  /// A table `quick`, or `quick = false`: the profile leaves this out.
  static bool take_left_out(Document& document, std::string_view key) {
    const auto found = document.take(key);
    if (found && found->value != false) {
      document.fail(*found, fmt::format("expected false (left out) or keys below it, found {}", found->value.dump()));
    }
    return found.has_value();
  }

  void take_profile() {
    for (const char* name : kProfiles) {
      const std::string table = fmt::format("profiles.{}", name);
      ProfileChanges changes;
      changes.left_out = take_left_out(document_, table);
      for (Setting& s : document_.take_table(table)) {
        const bool is_data = s.key.starts_with("data.");
        if (!is_data && !s.key.starts_with("defaults.")) {
          document_.unknown(s, std::array<std::string, 2>{"data", "defaults"}, fmt::format("{}.{}", table, s.key));
        }
        s.key.erase(0, s.key.find('.') + 1);
        (is_data ? changes.data : changes.defaults).push_back(std::move(s));
      }
      changes.defaults = settled(std::move(changes.defaults));
      if (name == profile_) {
        changes_ = std::move(changes);
      } else {
        // A mistake in a profile that is not asked for is a mistake all the same.
        ExperimentRow scratch;
        apply(changes.defaults, scratch);
        DataSpec unused;
        for (const Setting& s : changes.data) apply_data(s, unused);
      }
    }
  }

  void take_data() {
    for (Document& table : document_.take_list("datasets")) {
      DataPart& part = parts_.emplace_back();
      part.name = table.take_text("name", "");
      if (part.name.empty()) throw InputError::at(document_.file, "[[datasets]]", "expected a name for every data set");
      part.title = table.take_text("title", part.name);
      part.paper_data = table.take_text("paper_data", "");
      part.defaults = settled(table.take_table("defaults"));
      part.data = std::move(table.settings);
    }
    std::vector<Setting> own = document_.take_table("data");
    if (parts_.empty()) {
      parts_.emplace_back().data = std::move(own);
    } else if (!own.empty()) {
      document_.fail(own.front(), "there are [[datasets]], so there is no [data] beside them");
    }
  }

  /// The rows of one data set; models that name others in `on` are left out.
  std::vector<ExperimentRow> read_rows(const DataPart& part, bool split) const {
    std::vector<ExperimentRow> rows;
    for (Document model : models_) {
      ExperimentRow row;
      row.name = model.take_text("name", "");
      row.paper = model.take_text("paper", row.name);
      row.curve = model.take_text("curve", row.paper);
      const std::vector<std::string> on = model.take_texts("on");
      for (const std::string& name : on) {
        const bool known = std::ranges::any_of(parts_, [&](const DataPart& p) { return p.name == name; });
        if (!known) throw InputError::at(document_.file, "on", "none of [[datasets]] is called '{}'", name);
      }
      bool out = changes_.left_out || (!on.empty() && std::ranges::find(on, part.name) == on.end());
      std::vector<Setting> own;
      for (const char* name : kProfiles) {
        const bool without = take_left_out(model, name);
        std::vector<Setting> mine = settled(model.take_table(name));
        for (const Setting& s : mine) check_key(s);
        if (name == profile_) {
          out = out || without;
          own = std::move(mine);
        }
      }
      model.settings = settled(std::move(model.settings));
      apply_over_defaults({&defaults_, &part.defaults, &model.settings, &changes_.defaults, &own}, row);
      if (row.name.empty()) row.name = row.config.model.kind;
      if (!model.items.empty()) model.expect_empty(config_keys());
      if (out) continue;
      for (ExperimentRow& made : spread(row)) {
        made.model = row.name;
        const std::uint32_t folds = made.config.folds.count;
        if (split || made.folds_run == 0) made.folds_run = split ? 0 : folds;
        if (made.folds_run > folds) {
          throw InputError::at(document_.file, made.name, "folds.run is {}, but folds.count is {}", made.folds_run,
                               folds);
        }
        const bool taken = std::ranges::any_of(rows, [&](const ExperimentRow& r) { return r.name == made.name; });
        if (taken) throw InputError::at(document_.file, "models", "two rows are called '{}'", made.name);
        rows.push_back(std::move(made));
      }
    }
    return rows;
  }

  Document document_;
  std::string_view profile_;
  std::filesystem::path folder_;  ///< where relative paths start
  ProfileChanges changes_;
  std::vector<DataPart> parts_;
  std::vector<Setting> defaults_, grid_;
  std::vector<Document> models_;
};

}  // namespace

void check_profile(std::string_view profile) {
  const std::vector<std::string> known(std::begin(kProfiles), std::end(kProfiles));
  if (std::ranges::find(known, profile) == known.end()) {
    throw InputError("unknown profile '{}'{}", profile, did_you_mean(profile, known));
  }
}

std::string DataSpec::name() const {
  if (!generated) {
    return fmt::format("{}-{:08x}", path.stem().string(),
                       hash_bytes(path.string() + "\n" + format + (clean ? "\nclean" : "")) & 0xffffffffu);
  }
  return datasets::folder_name(recipe);
}

std::vector<Experiment> load_experiments(const ExperimentFile& file, std::string_view profile) {
  check_profile(profile);
  return Reader(file, profile).read();
}

void place_data(Experiment& experiment, const std::filesystem::path& folder) {
  DataSpec& data = experiment.data;
  if (!data.in_folder || data.path.is_absolute()) return;
  const std::string graphs = data.path.string();
  const std::string all = data.split.empty() ? graphs : fmt::format("{} and {}", graphs, data.split);
  if (folder.empty()) {
    throw Remedied(InputError("experiment {}: its data does not come with the program: it is in a folder "
                              "that holds {}",
                              experiment.name, all),
                   Remedy::name_data_folder);
  }
  if (!std::filesystem::is_directory(folder)) {
    throw InputError::at(folder.string(), "", "is no folder; experiment {} expects one that holds {}", experiment.name,
                         all);
  }
  data.path = path_from(folder, graphs);
  const auto expect = [&](const std::filesystem::path& path, const char* what) {
    if (std::filesystem::exists(path)) return;
    throw InputError::at(path.string(), "", "is not there; experiment {} expects {} of this name (docs/experiments.md)",
                         experiment.name, what);
  };
  expect(data.path, "a file of graphs with their targets");
  if (data.split.empty()) return;
  data.split = path_from(folder, data.split).string();
  expect(data.split, "a JSON file that says which graphs train, validate and test,");
}

std::vector<std::string> paper_experiments() {
  std::vector<std::string> names = catalogue();
  std::erase_if(names, [](const std::string& name) {
    return load_experiments(find_experiment(name), "paper").front().paper.empty();
  });
  return names;
}

std::vector<std::string> catalogue() {
  std::vector<std::string> names;
  for (const std::string& file : shared_files("experiments")) {
    const std::filesystem::path path(file);
    if (path.extension() == ".toml") names.push_back(path.stem().string());
  }
  // The paper's order; what is not in it follows by name.
  static const std::vector<std::string> order = {"table1",      "exp-curves", "exp-deviation", "tanh",
                                                 "cexp-curves", "cexp-split", "sparse-exp",    "sparse-cexp"};
  const auto place = [](const std::string& name) { return std::ranges::find(order, name) - order.begin(); };
  std::ranges::stable_sort(names, [&](const std::string& a, const std::string& b) { return place(a) < place(b); });
  return names;
}

ExperimentFile find_experiment(const std::string& name_or_path) {
  const std::vector<std::string> names = catalogue();
  if (std::ranges::find(names, name_or_path) != names.end()) {
    SharedFile file = shared_file(fmt::format("experiments/{}.toml", name_or_path));
    return {std::move(file.name), std::move(file.text), "."};
  }
  if (name_or_path.ends_with(".toml") || name_or_path.find('/') != std::string::npos) {
    const std::filesystem::path path(name_or_path);
    return {name_or_path, read_file(path), path.parent_path().empty() ? "." : path.parent_path()};
  }
  throw InputError("unknown experiment '{}'{} (a file of your own ends in .toml)", name_or_path,
                   did_you_mean(name_or_path, names));
}

}  // namespace tyche::experiments
