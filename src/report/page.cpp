#include "report/page.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "report/results.hpp"
#include "report/tables.hpp"
#include "report/viewer.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/machine.hpp"
#include "support/share.hpp"
#include "support/version.hpp"
#include "train/fields.hpp"
#include "train/metrics.hpp"

namespace tyche::report {

namespace {

constexpr std::string_view kMark = "\"tyche-data-goes-here\"";

/// A thousandth of a point is finer than any screen.
std::vector<double> rounded(const std::vector<double>& values) {
  std::vector<double> out;
  for (const double v : values) out.push_back(std::round(v * 1000) / 1000);
  return out;
}

Json curve_json(const Curve& curve) {
  Json json = {{"epoch", curve.epoch}, {"mean", rounded(curve.mean)}};
  if (!curve.deviation.empty()) json["deviation"] = rounded(curve.deviation);
  return json;
}

Json row_json(const ResultRow& row, const std::vector<std::string>& scores) {
  const auto& c = row.config;
  Json json = {{"name", row.name},
               {"kind", c.model.kind},
               {"rni", c.model.rni},
               {"random", nn::name(c.model.random)},
               {"depth", train::find_field("model.depth")->value(c)},
               {"distribution", nn::name(c.model.distribution)},
               {"activation", nn::name(c.model.activation)},
               {"learning_rate", c.training.learning_rate},
               {"batch", c.training.batch},
               {"epochs", c.training.epochs},
               {"epochs_done", row.epochs_done},
               {"folds", std::max(c.folds.count, row.folds_run)},  // runs of one split have other random numbers
               {"same_graphs", c.folds.all_graphs()},
               {"folds_run", row.folds_run},
               {"folds_done", row.folds_done},
               {"seed", c.seed},
               {"parameters", row.parameters},
               {"engine", row.engine},
               {"seconds", row.seconds},
               {"alone", alone(row)},
               {"fold_accuracy", rounded(row.fold_accuracy)}};
  if (row.reached) json["reached"] = *row.reached;
  if (row.spread) json["spread"] = *row.spread;
  if (row.agreement) json["agreement"] = *row.agreement;
  for (const auto& [subset, accuracy] : row.accuracy) {
    json["accuracy"][subset] = {{"mean", accuracy.mean}, {"deviation", accuracy.deviation}, {"folds", accuracy.count}};
    if (const Beside beside = beside_paper(row, subset); beside.comparison) {
      json["accuracy"][subset]["difference"] = beside.comparison->difference;
      json["accuracy"][subset]["range"] = beside.comparison->range;
      json["accuracy"][subset]["within"] = beside.comparison->within();
    }
  }
  for (const auto& [subset, printed] : row.paper) {
    json["paper"][subset] = {{"mean", printed.mean}, {"where", printed.where}};
    if (printed.deviation) json["paper"][subset]["deviation"] = *printed.deviation;
    if (printed.epochs > 0) json["paper"][subset]["epochs"] = printed.epochs;
    if (!printed.metric.empty()) {
      const MetricCurves* ours = row.find(reported_metric(c, printed.metric));
      json["paper"][subset]["text"] = released_text(printed);
      if (ours != nullptr) json["paper"][subset]["ratio"] = ours->over_folds.mean / printed.mean;
    }
    const Beside beside = beside_paper(row, subset);
    if (beside.epoch == 0) continue;
    Json& early = json["paper"][subset]["early"] = {{"epoch", beside.epoch}};
    if (beside.paper) early["mean"] = beside.paper->mean;
    if (beside.paper && beside.paper->deviation) early["deviation"] = *beside.paper->deviation;
  }
  for (const std::string& score : scores) {
    const MetricCurves* metric = row.find(reported_metric(c, score));
    if (score == "accuracy" || metric == nullptr) continue;
    json["scores"].push_back(
        {{"title", train::score_title(metric->name)}, {"text", train::score_text(metric->name, metric->over_folds)}});
    Curve curve;
    for (std::size_t i = 0; i < metric->epochs.size(); ++i) {
      if (!metric->mean[i]) continue;
      curve.epoch.push_back(metric->epochs[i]);
      curve.mean.push_back(*metric->mean[i]);
      curve.deviation.push_back(*metric->deviation[i]);
    }
    json["scores"].back()["curve"] = {{"epoch", curve.epoch}, {"mean", curve.mean}, {"deviation", curve.deviation}};
  }
  for (const auto& [subset, curve] : row.curves) json["curves"][subset] = curve_json(curve);
  for (const auto& [subset, curve] : row.paper_curves) json["paper_curves"][subset] = curve_json(curve);
  return json;
}

}  // namespace

Json page_data(const Results& results, const PageOptions& options) {
  Json json = page_head("", options.command);
  json["log"] = results.log;
  json["experiments"] = Json::array();
  json["data"] = Json::array();
  std::set<std::string> seen;
  const std::size_t pairs = options.pairs.value_or(12);
  for (const Experiment& e : results.experiments) {
    Json entry = {{"name", e.name},       {"title", e.title},     {"about", e.about}, {"paper", e.paper},
                  {"profile", e.profile}, {"version", e.version}, {"show", e.show}};
    entry["data"] = {{"name", e.data.name}, {"hash", e.data.hash}, {"graphs", e.data.graphs}};
    entry["rows"] = Json::array();
    for (const ResultRow& row : e.rows) entry["rows"].push_back(row_json(row, e.scores()));
    json["experiments"].push_back(std::move(entry));
    if (pairs == 0 || !seen.insert(e.data.hash).second) continue;
    try {
      json["data"].push_back(view_data(e.data, pairs, options.threads));
    } catch (const Error& error) {
      json["data"].push_back({{"name", e.data.name}, {"pairs", Json::array()}, {"missing", error.what()}});
    }
  }
  return json;
}

Json settings_list(const train::RunConfig& config, const std::vector<std::string_view>& without) {
  Json json = Json::array();
  for (const train::Field& field : train::fields()) {
    const bool left_out =
        std::ranges::any_of(without, [&](std::string_view prefix) { return field.key.starts_with(prefix); });
    if (left_out || (field.unused && !field.unused(config).empty())) continue;
    json.push_back({field.key, field.value(config), field.comment});
  }
  return json;
}

Json page_head(std::string_view shows, std::string_view command) {
  Json json = {{"version", kVersion}, {"made", utc_now()}, {"command", command}};
  if (!shows.empty()) json["shows"] = shows;
  return json;
}

std::string fill_page(std::string_view template_text, const Json& data) {
  const std::size_t at = template_text.find(kMark);
  if (at == std::string_view::npos) {
    throw InputError("the report's template lacks the place for the data; build or install the program again");
  }
  // Bytes that are no UTF-8 (a file name can hold any) become U+FFFD.
  const std::string json = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string out(template_text.substr(0, at));
  for (std::size_t i = 0; i < json.size(); ++i) {
    switch (json[i]) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        if (json.compare(i, 3, "\u2028") == 0 || json.compare(i, 3, "\u2029") == 0) {
          out += json.compare(i, 3, "\u2028") == 0 ? "\\u2028" : "\\u2029";
          i += 2;
        } else {
          out += json[i];
        }
    }
  }
  out += template_text.substr(at + kMark.size());
  return out;
}

std::string page_template() {
  constexpr const char* kPage = "report.html";
  if (!has_shared_file(kPage)) {
    throw IoError(
        "report.html, the page, is missing: it is built with Node (Debian: apt-get install nodejs npm, then build "
        "again); tables in Markdown, CSV and LaTeX need none of it");
  }
  return shared_file(kPage).text;
}

void write_page(const std::filesystem::path& path, const Json& data) {
  write_file(path, fill_page(page_template(), data));
}

}  // namespace tyche::report
