// Calls that train networks and ask them.
#include "capi/capi.hpp"
#include "datasets/split.hpp"
#include "engine/engine.hpp"
#include "engine/sets/set_data.hpp"
#include "support/file.hpp"
#include "support/temporary_folder.hpp"
#include "train/data.hpp"
#include "train/objective.hpp"
#include "train/parts.hpp"
#include "train/run.hpp"
#include "wl/quotient_cache.hpp"

using namespace tyche;
using namespace tyche::capi;

namespace {

/// The options that would ask for a configuration: those of its fields that somebody chooses and that it uses.
Json options_of(const train::RunConfig& config) {
  Json options = Json::object();
  for (const train::Field& field : train::fields()) {
    const bool used = !field.unused || field.unused(config).empty();
    if (field.option.empty() || field.origin != train::Field::Origin::chosen || !used) continue;
    const nlohmann::json value = field.value(config);
    if (field.form != train::Field::Form::flag) {
      options[name_of(field)] = value;
    } else if (value != field.value(train::RunConfig{})) {
      options[name_of(field)] = true;
    }
  }
  return options;
}

Json info_of(const train::Checkpoint& checkpoint) {
  const nn::Layout layout = nn::layout(checkpoint.config.model);
  Json tensors = Json::array();
  for (const nn::Tensor& tensor : layout.tensors) {
    tensors.push_back({{"name", tensor.name}, {"shape", tensor.shape}, {"offset", tensor.offset}});
  }
  return {{"config", train::to_json(checkpoint.config)},
          {"fold", checkpoint.fold},
          {"epoch", checkpoint.state.epoch},
          {"labels", checkpoint.config.data.labels},
          {"options", options_of(checkpoint.config)},
          {"memo", checkpoint.memo},
          {"parameters", layout.size},
          {"layout", tensors},
          {"notes", checkpoint.notes}};
}

class ModelObject : public Answer {
 public:
  explicit ModelObject(train::Checkpoint checkpoint, std::shared_ptr<const train::OwnGraphs> own = nullptr)
      : Answer(info_of(checkpoint)), checkpoint_(std::move(checkpoint)), own_(std::move(own)) {
    add("parameters", {checkpoint_.state.parameters});
  }
  [[nodiscard]] const char* kind() const override { return "a model"; }
  [[nodiscard]] const train::Checkpoint& checkpoint() const { return checkpoint_; }

  /// Which part of its training each graph was in. A model that was read knows its own data set whole; parts of it, and
  /// copies, are known by one that was trained here.
  [[nodiscard]] std::vector<train::Part> parts_of(const datasets::Dataset& asked) const {
    const train::RunConfig& config = checkpoint_.config;
    std::string why;
    const auto found = own_ != nullptr ? std::nullopt : train::known_graphs(asked, config, why);
    const train::OwnGraphs* own = found ? &*found : own_.get();
    if (own != nullptr) return train::parts_of(*own, asked, config, checkpoint_.fold);
    return std::vector<train::Part>(Units(asked.set.graphs, config.model.unit).size(), train::Part::fresh);
  }

 private:
  train::Checkpoint checkpoint_;
  std::shared_ptr<const train::OwnGraphs> own_;
};

std::shared_ptr<ModelObject> model_of(tyche_handle handle) { return get<ModelObject>(handle, "a model"); }

class TrainedObject : public Answer {
 public:
  TrainedObject(const Json& json, std::vector<std::shared_ptr<ModelObject>> own)
      : Answer(json), models(std::move(own)) {}
  [[nodiscard]] const char* kind() const override { return "what was trained"; }

  std::vector<std::shared_ptr<ModelObject>> models;
};

/// One weight per graph, where the call has them.
std::vector<float> weights_of(const Options& options) {
  const nlohmann::json& given = options.value("sample_weight");
  if (given.is_null()) return {};
  const bool numbers = given.is_array() && std::all_of(given.begin(), given.end(),
                                                       [](const nlohmann::json& item) { return item.is_number(); });
  if (!numbers || given.empty()) throw InputError("sample_weight: expected a list of numbers, one per graph");
  return given.get<std::vector<float>>();
}

constexpr const char* kSplitFile = "split.json";

/// Folds that the call itself says, rather than a file: they go to a file of their own. Empty: it does not.
std::string split_of(Options& options, const GraphSet& set, std::optional<TemporaryFolder>& temporary) {
  const nlohmann::json given = options.value("split");
  if (given.is_null() || given.is_string()) return "";
  const std::string text = given.dump() + "\n";
  train::RunConfig config;
  const nlohmann::json target = options.value("target");
  if (target.is_string()) config.data.target = train::parse_target(target.get<std::string>());
  const Units units(set.graphs, train::unit_of(config));
  (void)datasets::parse_split(text, "split", units);  // complains under the option's name, not the file's
  if (!temporary) temporary.emplace();
  const std::filesystem::path path = temporary->path() / kSplitFile;
  write_file(path, text);
  options.set("split", path.string());
  return text;
}

std::shared_ptr<Object> train_on(const SetObject& set, const char* json, const char* folder, tyche_epoch epoch,
                                 void* user) {
  Options options(json, with_fields({"threads", "cache", "sample_weight"}));
  std::optional<TemporaryFolder> temporary;
  if (folder == nullptr) temporary.emplace();
  const std::string split = split_of(options, set.set(), temporary);
  const std::vector<float> weights = weights_of(options);
  const train::Edits edits = options.edits();
  train::RunConfig config = train::call_config(edits.model(), edits.random());
  edits.apply(config);
  config.engine.name = options.engine().name(config.engine.name);
  const auto engine = engine::make_engine(config.engine.name, options.threads());
  std::optional<datasets::Dataset> copy;
  if (config.data.target == train::TargetKind::node_labels && set.set().node_labels.empty()) {
    copy = set.dataset();
    train::take_targets(*copy, config);
  }
  const datasets::Dataset& dataset = copy ? *copy : set.dataset();
  train::resolve(config, dataset, set.source());
  if (!set.from_file()) config.data.path = set.source();  // a name, not a place
  config.data.clean = set.cleaned.has_value();
  config.engine.description = train::without_threads(engine->description());
  if (!weights.empty()) config.data.weights = train::weights_hash(weights, set.set().graphs.size());
  train::TrainingData data = train::prepare(dataset, config, weights);

  // A folder of its own below, since a run begins in an empty one.
  const std::filesystem::path out = folder == nullptr ? temporary->path() / "run" : std::filesystem::path(folder);
  if (!split.empty()) config.folds.split = std::filesystem::absolute(out / kSplitFile).string();
  train::Run run = train::Run::begin(out, config, data);
  if (!split.empty()) write_file(out / kSplitFile, split);
  if (config.model.on_sets()) {
    engine::SetOptions sets;
    sets.compress = config.engine.compress;
    sets.threads = options.threads();
    sets.cache.folder = options.text("cache").value_or(wl::default_cache_folder().string());
    data.sets = engine::prepare_sets(config.model, data.view(), sets);
  }
  std::map<std::uint32_t, Json> told;  // epochs, by fold
  bool stopped = false;
  run.listen([&](std::uint32_t fold, const train::EpochRecord& record) {
    Json line = Json::parse(train::to_line(record));
    line.erase("check");  // the file's own
    auto& own = told[fold];
    if (own.is_null()) own = Json::array();
    own.push_back(line);
    if (epoch == nullptr) return true;
    line["fold"] = fold;
    line["epochs"] = config.training.epochs;
    stopped = epoch(user, line.dump().c_str()) != 0;
    return !stopped;
  });
  const train::Summary summary = run.train(*engine, nullptr);
  if (!summary.complete && !stopped) {
    throw Interrupted("stopped with {} epochs to go", run.epochs_left());
  }
  Json answer = {{"summary", train::to_json(summary, config)},
                 {"config", train::to_json(config)},
                 {"chosen", config.chosen},
                 {"description", train::describe(data, config)},
                 {"engine", engine->description(data.job(config))},
                 {"warnings", train::fold_warnings(data, config)},
                 {"notes", run.notes()},
                 {"stopped", stopped},
                 {"folds", Json::array()}};
  std::vector<std::shared_ptr<ModelObject>> models;
  const auto own = std::make_shared<const train::OwnGraphs>(train::own_graphs(dataset, config));
  for (auto& [fold, epochs] : told) {
    answer["folds"].push_back({{"fold", fold}, {"epochs", std::move(epochs)}});
    // The epoch that the validation part chose, or the mean of the last ones, where it was asked for; else the last.
    models.push_back(std::make_shared<ModelObject>(train::read_checkpoint(train::checkpoint_in(out, fold, "")), own));
  }
  return std::make_shared<TrainedObject>(answer, std::move(models));
}

/// Labels none of which the model can give are of another question: the graphs are asked about without them.
bool some_known(const std::vector<int>& labels, const std::vector<int>& known) {
  return std::ranges::any_of(labels, [&](int label) { return std::ranges::find(known, label) != known.end(); });
}

train::LookOptions look_of(const Options& options, std::uint32_t draws) {
  return {
      .draws = options.small("draws", 1).value_or(draws), .seed = options.whole("seed"), .threads = options.threads()};
}

}  // namespace

tyche_status tyche_embed(tyche_handle model, tyche_handle set, const char* options, tyche_handle* out) {
  return answer_of(set, out, [&](const SetObject& object) {
    const auto own = model_of(model);
    const Options said(options, {"of", "draws", "seed", "threads"});
    const std::string of = said.text("of").value_or("graphs");
    if (of != "graphs" && of != "nodes") throw InputError("of: expected graphs or nodes, found '{}'", of);
    NpyMatrix rows = train::embeddings(own->checkpoint(), object.set(), of == "nodes", look_of(said, 1));
    const auto made = std::make_shared<Answer>(Json{{"of", of}, {"rows", rows.rows}, {"columns", rows.columns}});
    made->add("values", {std::move(rows.values), rows.columns});
    return made;
  });
}

tyche_status tyche_explain(tyche_handle model, tyche_handle set, uint64_t graph, const char* options,
                           tyche_handle* out) {
  return answer_of(set, out, [&](const SetObject& object) {
    const auto own = model_of(model);
    const Options said(options, with_device({"output", "draws", "seed", "threads"}));
    const nlohmann::json& output = said.value("output");
    if (!output.is_null() && !output.is_number_integer()) throw InputError("output: expected a label or a column");
    const auto engine = engine::make_engine(said.engine().name("auto"), said.threads());
    const auto at = static_cast<std::uint32_t>(std::min<std::uint64_t>(graph, 0xffffffffu));
    const train::Explanation why = train::explain(*engine, own->checkpoint(), object.set(), at, look_of(said, 16),
                                                  output.is_null() ? std::nullopt : std::optional(output.get<int>()));
    return std::make_shared<Answer>(train::to_json(why, object.set(), at));
  });
}

tyche_status tyche_train(tyche_handle set, const char* options, const char* folder, tyche_epoch epoch, void* user,
                         tyche_handle* out) {
  return answer(out, [&] { return train_on(*set_of(set), options, folder, epoch, user); });
}

tyche_status tyche_trained_model(tyche_handle trained, uint64_t i, tyche_handle* out) {
  return answer(out, [&] {
    const auto object = get<TrainedObject>(trained, "what was trained");
    if (i < object->models.size()) return object->models[i];
    throw InputError("model {} was asked for; {} were trained", i, object->models.size());
  });
}

tyche_status tyche_model_read(const char* path, tyche_handle* out) {
  return answer(out, [&] { return std::make_shared<ModelObject>(train::read_checkpoint(text(path, "path"))); });
}

tyche_status tyche_model_write(tyche_handle model, const char* path) {
  return tyche_model_write_with(model, path, nullptr);
}

tyche_status tyche_model_write_with(tyche_handle model, const char* path, const char* memo) {
  return call([&] {
    const auto object = model_of(model);
    const train::Checkpoint& own = object->checkpoint();
    std::map<std::string, std::string> beside = own.memo;
    if (memo != nullptr && *memo != '\0') {
      const nlohmann::json given = nlohmann::json::parse(memo, nullptr, false);
      const bool texts = given.is_object() && std::all_of(given.begin(), given.end(),
                                                          [](const nlohmann::json& item) { return item.is_string(); });
      if (!texts) throw InputError("memo: expected a JSON object of texts");
      beside = given.get<std::map<std::string, std::string>>();
    }
    train::CheckpointWriter(own.config, own.fold, own.standard, own.scale, beside).write(text(path, "path"), own.state);
  });
}

tyche_status tyche_predict(tyche_handle model, tyche_handle set, const char* options, tyche_handle* out) {
  return answer_of(set, out, [&](const SetObject& object) {
    const auto own = model_of(model);
    const Options said(options, with_device({"draws", "seed", "engine", "threads"}));
    train::PredictOptions how;
    how.draws = said.small("draws", 1).value_or(1);
    how.seed = said.whole("seed");
    const auto engine = engine::make_engine(said.engine().name(said.text("engine").value_or("auto")), said.threads());
    std::optional<GraphSet> copy;
    const train::RunConfig& config = own->checkpoint().config;
    const bool numbers = train::learns_numbers(config), of_graphs = config.model.unit == Unit::graph;
    std::optional<datasets::Dataset> taken;
    if (!of_graphs) {
      taken = object.dataset();
      train::take_targets(*taken, config);
      copy = taken->set;
    } else if (!numbers && !some_known(object.set().labels, config.data.labels)) {
      copy = object.set();
      copy->labels.clear();
    } else if (numbers && config.data.target_columns.empty() && object.set().target_dim != 0 &&
               object.set().target_dim != config.model.classes) {
      copy = object.set();
      copy->targets.clear();
      copy->target_dim = 0;
    }
    const GraphSet& known = copy ? *copy : object.set();
    std::vector<train::Prediction> predictions = train::predict(*engine, own->checkpoint(), known, how);
    const std::vector<train::Part> parts = own->parts_of(taken ? *taken : object.dataset());
    std::vector<train::Answered> answered;
    for (std::size_t g = 0; g < predictions.size(); ++g) {
      answered.push_back({static_cast<std::uint32_t>(g), own->checkpoint().fold, parts[g], std::move(predictions[g])});
    }
    const Json scores = train::to_json(train::part_scores(answered, {known, config}, config.data.labels));
    const std::size_t classes = own->checkpoint().config.model.classes;
    // Not of labels: whoever asks for answers need not have labels of this question.
    const std::vector<std::string> warnings = train::unseen(known, config.data.features, {}, config.model);
    std::vector<std::int32_t> labels;
    std::vector<double> middles, deviations;  // values of targets, or probabilities of labels
    std::vector<float> logits;
    const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    for (const train::Answered& one : answered) {
      const train::Prediction& p = one.said;
      labels.push_back(p.label);
      append(middles, numbers ? p.values : p.probabilities);
      append(deviations, numbers ? p.spreads : p.deviations);
      append(logits, p.logits);
    }
    Json answer = {{"graphs", answered.size()}};
    numbers ? answer["targets"] = classes : answer["classes"] = config.data.labels;
    answer["warnings"] = warnings;
    answer.update(scores);
    const auto made = std::make_shared<Answer>(answer);
    made->add(numbers ? "values" : "probabilities", {std::move(middles), classes});
    made->add("deviations", {std::move(deviations), classes});
    if (numbers) return made;
    made->add("labels", {std::move(labels)});
    made->add("logits", {std::move(logits), classes});
    return made;
  });
}

tyche_status tyche_export(const char* run, const char* options, const char* folder) {
  return call([&] {
    const Options how(options, {"fold", "checkpoint"});
    std::filesystem::path path = text(run, "run");
    if (std::filesystem::is_directory(path)) {
      path = train::checkpoint_in(path, how.small("fold"), how.word("checkpoint"));
    }
    train::export_model(train::read_checkpoint(path), text(folder, "folder"));
  });
}
