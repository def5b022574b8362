// Calls that train networks and ask them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "capi/call.hpp"
#include "capi/options.hpp"
#include "capi/sets.hpp"
#include "datasets/split.hpp"
#include "engine/engine.hpp"
#include "engine/sets/set_data.hpp"
#include "support/file.hpp"
#include "support/parallel.hpp"
#include "train/checkpoint.hpp"
#include "train/data.hpp"
#include "train/objective.hpp"
#include "train/parts.hpp"
#include "train/predict.hpp"
#include "train/run.hpp"
#include "wl/quotient_cache.hpp"

namespace {

using namespace tyche;
using namespace tyche::capi;
using Json = nlohmann::ordered_json;

class ModelObject : public Object {
 public:
  explicit ModelObject(train::Checkpoint checkpoint, std::shared_ptr<const train::OwnGraphs> own = nullptr)
      : checkpoint_(std::move(checkpoint)), own_(std::move(own)) {
    const nn::Layout layout = nn::layout(checkpoint_.config.model);
    Json tensors = Json::array();
    for (const nn::Tensor& tensor : layout.tensors) {
      tensors.push_back({{"name", tensor.name}, {"shape", tensor.shape}, {"offset", tensor.offset}});
    }
    info_ = Json{{"config", train::to_json(checkpoint_.config)},
                 {"fold", checkpoint_.fold},
                 {"epoch", checkpoint_.state.epoch},
                 {"labels", checkpoint_.config.data.labels},
                 {"options", options_of(checkpoint_.config)},
                 {"memo", checkpoint_.memo},
                 {"parameters", layout.size},
                 {"layout", tensors},
                 {"notes", checkpoint_.notes}}
                .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  [[nodiscard]] const char* kind() const override { return "a model"; }
  [[nodiscard]] const std::string& info() override { return info_; }
  [[nodiscard]] tyche_array array(std::string_view name) override {
    if (name != "parameters") no_such_array(name, {"parameters"});
    const std::vector<float>& own = checkpoint_.state.parameters;
    return {.data = own.data(), .type = TYCHE_FLOAT32, .dimensions = 1, .shape = {own.size(), 1}};
  }
  [[nodiscard]] const train::Checkpoint& checkpoint() const { return checkpoint_; }

  /// Which part of its training each graph was in. A model that was read knows its own data set whole; parts of it, and
  /// copies, are known by one that was trained here.
  [[nodiscard]] std::vector<train::Part> parts_of(const datasets::Dataset& asked) const {
    const train::RunConfig& config = checkpoint_.config;
    std::shared_ptr<const train::OwnGraphs> own = own_;
    std::string why;
    if (own == nullptr) {
      if (auto found = train::known_graphs(asked, config, why)) {
        own = std::make_shared<train::OwnGraphs>(*std::move(found));
      }
    }
    if (own != nullptr) return train::parts_of(*own, asked, config, checkpoint_.fold);
    return std::vector<train::Part>(Units(asked.set.graphs, config.model.unit).size(), train::Part::fresh);
  }

 private:
  train::Checkpoint checkpoint_;
  std::shared_ptr<const train::OwnGraphs> own_;
  std::string info_;
};

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

/// What the listener was told, fold by fold.
struct Told {
  std::map<std::uint32_t, Json> folds;
  bool stopped = false;
};

std::shared_ptr<Object> train_on(const SetObject& set, const char* json, const char* folder, tyche_epoch epoch,
                                 void* user) {
  Options options(json, with_fields({"threads", "cache", "sample_weight"}));
  std::optional<TemporaryFolder> temporary;
  if (folder == nullptr) temporary.emplace();
  const std::string split = split_of(options, set.set(), temporary);
  const std::vector<float> weights = weights_of(options);
  const train::Edits edits = edits_of(options);
  train::RunConfig config = train::call_config(edits.model(), edits.random());
  edits.apply(config);
  config.engine.name = engine_of(options).name(config.engine.name);
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
  Told told;
  run.listen([&](std::uint32_t fold, const train::EpochRecord& record) {
    Json line = Json::parse(train::to_line(record));
    line.erase("check");  // the file's own
    auto& own = told.folds[fold];
    if (own.is_null()) own = Json::array();
    own.push_back(line);
    if (epoch == nullptr) return true;
    line["fold"] = fold;
    line["epochs"] = config.training.epochs;
    told.stopped = epoch(user, line.dump().c_str()) != 0;
    return !told.stopped;
  });
  const train::Summary summary = run.train(*engine, nullptr);
  if (!summary.complete && !told.stopped) {
    throw Interrupted(fmt::format("stopped with {} epochs to go", run.epochs_left()));
  }
  Json answer = {{"summary", train::to_json(summary, config)},
                 {"config", train::to_json(config)},
                 {"chosen", config.chosen},
                 {"description", train::describe(data, config)},
                 {"engine", engine->description(data.job(config))},
                 {"warnings", train::fold_warnings(data, config)},
                 {"notes", run.notes()},
                 {"stopped", told.stopped},
                 {"folds", Json::array()}};
  std::vector<std::shared_ptr<ModelObject>> models;
  const auto own = std::make_shared<const train::OwnGraphs>(train::own_graphs(dataset, config));
  for (auto& [fold, epochs] : told.folds) {
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

/// Of a model of real targets.
std::shared_ptr<Object> numbers_of(const std::vector<train::Answered>& answered, std::size_t columns,
                                   const Json& scores, const std::vector<std::string>& warnings) {
  std::vector<double> values, deviations;
  for (const train::Answered& own : answered) {
    values.insert(values.end(), own.said.values.begin(), own.said.values.end());
    deviations.insert(deviations.end(), own.said.spreads.begin(), own.said.spreads.end());
  }
  Json json = {{"graphs", answered.size()}, {"targets", columns}, {"warnings", warnings}};
  json.update(scores);
  const auto out = std::make_shared<Answer>(json);
  out->add("values", {std::move(values), columns});
  out->add("deviations", {std::move(deviations), columns});
  return out;
}

std::shared_ptr<Object> predict_of(const ModelObject& model, const SetObject& set, const char* json) {
  const Options options(json, with_device({"draws", "seed", "engine", "threads"}));
  train::PredictOptions how;
  how.draws = options.small("draws", 1).value_or(1);
  how.seed = options.whole("seed");
  const auto engine =
      engine::make_engine(engine_of(options).name(options.text("engine").value_or("auto")), options.threads());
  std::optional<GraphSet> copy;
  const train::RunConfig& config = model.checkpoint().config;
  const bool numbers = train::learns_numbers(config), of_graphs = config.model.unit == Unit::graph;
  std::optional<datasets::Dataset> taken;
  if (!of_graphs) {
    taken = set.dataset();
    train::take_targets(*taken, config);
    copy = taken->set;
  } else if (!numbers && !some_known(set.set().labels, config.data.labels)) {
    copy = set.set();
    copy->labels.clear();
  } else if (numbers && config.data.target_columns.empty() && set.set().target_dim != 0 &&
             set.set().target_dim != config.model.classes) {
    copy = set.set();
    copy->targets.clear();
    copy->target_dim = 0;
  }
  const GraphSet& known = copy ? *copy : set.set();
  std::vector<train::Prediction> predictions = train::predict(*engine, model.checkpoint(), known, how);
  const std::vector<train::Part> parts = model.parts_of(taken ? *taken : set.dataset());
  std::vector<train::Answered> answered;
  for (std::size_t g = 0; g < predictions.size(); ++g) {
    answered.push_back({static_cast<std::uint32_t>(g), model.checkpoint().fold, parts[g], std::move(predictions[g])});
  }
  const Json scores = train::to_json(train::part_scores(answered, {known, config}, config.data.labels));
  const std::size_t classes = model.checkpoint().config.model.classes;
  // Not of labels: whoever asks for answers need not have labels of this question.
  const std::vector<std::string> warnings = train::unseen(known, config.data.features, {}, config.model);
  if (numbers) return numbers_of(answered, classes, scores, warnings);
  std::vector<std::int32_t> labels;
  std::vector<double> probabilities, deviations;
  std::vector<float> logits;
  for (const train::Answered& own : answered) {
    const train::Prediction& p = own.said;
    labels.push_back(p.label);
    probabilities.insert(probabilities.end(), p.probabilities.begin(), p.probabilities.end());
    deviations.insert(deviations.end(), p.deviations.begin(), p.deviations.end());
    logits.insert(logits.end(), p.logits.begin(), p.logits.end());
  }
  Json answer = {{"graphs", answered.size()}, {"classes", config.data.labels}, {"warnings", warnings}};
  answer.update(scores);
  const auto out = std::make_shared<Answer>(answer);
  out->add("labels", {std::move(labels)});
  out->add("probabilities", {std::move(probabilities), classes});
  out->add("deviations", {std::move(deviations), classes});
  out->add("logits", {std::move(logits), classes});
  return out;
}

train::LookOptions look_of(const Options& options, std::uint32_t draws) {
  return {
      .draws = options.small("draws", 1).value_or(draws), .seed = options.whole("seed"), .threads = options.threads()};
}

std::shared_ptr<Object> embed_of(const ModelObject& model, const SetObject& set, const char* json) {
  const Options options(json, {"of", "draws", "seed", "threads"});
  const std::string of = options.text("of").value_or("graphs");
  if (of != "graphs" && of != "nodes") throw InputError(fmt::format("of: expected graphs or nodes, found '{}'", of));
  NpyMatrix rows = train::embeddings(model.checkpoint(), set.set(), of == "nodes", look_of(options, 1));
  const auto out = std::make_shared<Answer>(Json{{"of", of}, {"rows", rows.rows}, {"columns", rows.columns}});
  out->add("values", {std::move(rows.values), rows.columns});
  return out;
}

std::shared_ptr<Object> explain_of(const ModelObject& model, const SetObject& set, std::uint64_t graph,
                                   const char* json) {
  const Options options(json, with_device({"output", "draws", "seed", "threads"}));
  const nlohmann::json& output = options.value("output");
  if (!output.is_null() && !output.is_number_integer()) throw InputError("output: expected a label or a column");
  const auto engine = engine::make_engine(engine_of(options).name("auto"), options.threads());
  const auto at = static_cast<std::uint32_t>(std::min<std::uint64_t>(graph, 0xffffffffu));
  const train::Explanation why = train::explain(*engine, model.checkpoint(), set.set(), at, look_of(options, 16),
                                                output.is_null() ? std::nullopt : std::optional(output.get<int>()));
  return std::make_shared<Answer>(train::to_json(why, set.set(), at));
}

}  // namespace

tyche_status tyche_embed(tyche_handle model, tyche_handle set, const char* options, tyche_handle* out) {
  return answer(out, [&] { return embed_of(*get<ModelObject>(model, "a model"), *set_of(set), options); });
}

tyche_status tyche_explain(tyche_handle model, tyche_handle set, uint64_t graph, const char* options,
                           tyche_handle* out) {
  return answer(out, [&] { return explain_of(*get<ModelObject>(model, "a model"), *set_of(set), graph, options); });
}

tyche_status tyche_train(tyche_handle set, const char* options, const char* folder, tyche_epoch epoch, void* user,
                         tyche_handle* out) {
  return answer(out, [&] { return train_on(*set_of(set), options, folder, epoch, user); });
}

tyche_status tyche_trained_model(tyche_handle trained, uint64_t i, tyche_handle* out) {
  return answer(out, [&]() -> std::shared_ptr<Object> {
    const auto object = get<TrainedObject>(trained, "what was trained");
    if (i < object->models.size()) return object->models[i];
    throw InputError(fmt::format("model {} was asked for; {} were trained", i, object->models.size()));
  });
}

tyche_status tyche_model_read(const char* path, tyche_handle* out) {
  return answer(out, [&]() -> std::shared_ptr<Object> {
    return std::make_shared<ModelObject>(train::read_checkpoint(text(path, "path")));
  });
}

tyche_status tyche_model_write(tyche_handle model, const char* path) {
  return tyche_model_write_with(model, path, nullptr);
}

tyche_status tyche_model_write_with(tyche_handle model, const char* path, const char* memo) {
  return call([&] {
    const auto object = get<ModelObject>(model, "a model");
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
  return answer(out, [&] { return predict_of(*get<ModelObject>(model, "a model"), *set_of(set), options); });
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
