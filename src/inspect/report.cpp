#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "inspect/inspection.hpp"
#include "report/viewer.hpp"
#include "support/words.hpp"

namespace tyche::inspect {

namespace {

using Json = nlohmann::ordered_json;

/// What bounds networks, as JSON, a table and a page call it.
struct Level {
  const char *key, *name, *page;
  std::optional<Score> (*of)(const Ceilings&);
};
constexpr Level kLevels[] = {
    {"1wl", "1-WL", "any network that 1-WL bounds", [](const Ceilings& c) { return std::optional(c.one_wl); }},
    {"rooted", "rooted pairs", "any on rooted pairs", [](const Ceilings& c) { return c.rooted; }},
    {"pairs", "local pairs", "any on pairs, locally", [](const Ceilings& c) { return c.pairs; }},
    {"2wl", "2-WL", "any network that 2-WL bounds", [](const Ceilings& c) { return c.two_wl; }},
    {"2sets", "2-sets", "any on 2-sets", [](const Ceilings& c) { return c.two_sets; }},
    {"3sets", "3-sets", "any on 3-sets", [](const Ceilings& c) { return c.three_sets; }},
    {"everyone", "everyone (isomorphism)", "any network at all",
     [](const Ceilings& c) { return std::optional(c.everyone); }},
};
constexpr std::size_t kForPeople[] = {0, 4, 5, 1, 2, 3, 6};  // as they read best

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

Json to_json(const Range& range) { return {{"least", range.least}, {"mean", range.mean}, {"most", range.most}}; }

/// Under `key`, and for targets under floor_mse_NAME.
void put(Json& json, Task task, const std::string& key, const std::string& name, const std::optional<Score>& score) {
  json[key] = score ? or_null(score->score) : Json();
  if (task == Task::targets) json["floor_mse_" + name] = score ? or_null(score->mse) : Json();
}

void put(Json& json, Task task, const std::string& name, const std::optional<Score>& score) {
  put(json, task, "ceiling_" + name, name, score);
}

Json put_all(Json json, Task task, const Ceilings& ceilings) {
  for (const Level& level : kLevels) put(json, task, level.key, level.of(ceilings));
  return json;
}

Json targets_to_json(const Inspection& in) {
  Json out = Json::array();
  for (std::size_t c = 0; c < in.contents.targets.size(); ++c) {
    const Target& target = in.contents.targets[c];
    Json& entry = out.emplace_back(to_json(target.range));
    entry["deviation"] = target.deviation;
    entry["missing"] = target.missing;
    const auto add = [&](const char* name, const std::optional<Score>& score) {
      if (!score || in.task != Task::targets) return;
      entry[fmt::format("ceiling_{}", name)] = or_null(score->columns[c].r2);
      entry[fmt::format("floor_mse_{}", name)] = or_null(score->columns[c].mse);
    };
    add("1wl", in.all.one_wl);
    add("2wl", in.all.two_wl);
    add("everyone", in.all.everyone);
  }
  return out;
}

// ---- for people

std::string line(const std::string& what, const std::string& value) { return fmt::format("  {:<22}{}\n", what, value); }

std::string in_words(const Range& range) {
  if (range.least == range.most) return fmt::format("{:g}", range.least);
  return fmt::format("{:g} to {:g}, {:.4g} on average", range.least, range.most, range.mean);
}

std::string shown(const std::optional<Score>& score, Task task) {
  if (!score) return "left out";
  if (!score->score) return "-";
  if (task == Task::classes) return fmt::format("{:.2f} %", 100 * *score->score);
  return fmt::format("{:.4f} ({:.4g})", *score->score, *score->mse);
}

std::string row(const char* name, const std::optional<Score>& score, Task task) {
  return fmt::format("  {:<30}{:>20}", name, shown(score, task));
}

std::string describe(const Contents& c) {
  std::string text = fmt::format("{}: {}\n", c.name, counted(c.graphs, "graph"));
  text += line("nodes", in_words(c.nodes));
  text += line("edges", in_words(c.edges));
  text += line("degree", in_words(c.degree));
  text += line("connected", fmt::format("{} of {}", c.connected, c.graphs));
  if (c.empty > 0) text += line("without nodes", fmt::format("{}", c.empty));
  text += line("node types", fmt::format("{}", c.node_types));
  text +=
      line(c.weighted ? "edge weights" : "edge labels", c.edge_labels > 1 ? fmt::format("{}", c.edge_labels) : "none");
  if (c.categories > 0) text += line("node categories", counted(c.categories, "more column"));
  if (c.edge_categories > 0) text += line("edge categories", counted(c.edge_categories, "more column"));
  if (c.node_attributes > 0) text += line("node attributes", fmt::format("{} per node", c.node_attributes));
  if (c.edge_attributes > 0) text += line("edge attributes", fmt::format("{} per edge", c.edge_attributes));
  constexpr std::size_t kShown = 12;
  if (!c.labels.empty()) {
    std::vector<std::string> parts;
    for (const auto& entry : c.labels) {
      if (parts.size() == kShown) break;
      parts.push_back(fmt::format("{} ({})", entry.first, counted(entry.second, "graph")));
    }
    if (c.labels.size() > kShown) parts.push_back(fmt::format("and {} more", c.labels.size() - kShown));
    text += line("labels", fmt::format("{}", fmt::join(parts, ", ")));
  }
  for (std::size_t i = 0; i < std::min(kShown, c.targets.size()); ++i) {
    const Target& target = c.targets[i];
    text += line(c.targets.size() == 1 ? "target" : fmt::format("target {}", i),
                 in_words(target.range) + fmt::format(", deviation {:.4g}", target.deviation) +
                     (target.missing > 0 ? fmt::format(", {} missing", target.missing) : ""));
  }
  return text;
}

std::string ceilings(const Inspection& in) {
  const auto& other = in.without_attributes;
  std::string text = in.task == Task::classes
                         ? "\nThe best accuracy that a network can reach on these graphs, whatever its weights\n"
                         : "\nThe best R² (least mean squared error) that a network can reach on these graphs\n";
  if (other) text += fmt::format("  {:<30}{:>20}{:>22}\n", "", "with attributes", "without attributes");
  text += row("without looking at them", in.baseline, in.task) + "\n";
  if (in.structure) text += row("1-WL, structure alone", in.structure, in.task) + "\n";
  text += row("1-WL, without node types", in.untyped, in.task) + "\n";
  for (const std::size_t l : kForPeople) {
    text += row(kLevels[l].name, kLevels[l].of(in.all), in.task);
    text += other ? fmt::format("{:>22}\n", shown(kLevels[l].of(*other), in.task)) : "\n";
  }
  return text;
}

std::string of_nodes(const NodeCeilings& nodes) {
  std::string text = nodes.task == Task::classes
                         ? "\nThe best accuracy that a network can reach on the labels of these nodes\n"
                         : "\nThe best R² (least mean squared error) that a network can reach on these nodes\n";
  text += row("without looking at them", nodes.baseline, nodes.task) + "\n";
  text += row("1-WL", nodes.one_wl, nodes.task) + "\n";
  text += row("2-WL (the diagonal)", nodes.two_wl, nodes.task) + "\n";
  text += row("everyone (orbits)", nodes.everyone, nodes.task) + "\n";
  if (nodes.leaks) {
    text += line("leaks", *nodes.leaks == 0 ? "none"
                                            : fmt::format("{} that an isomorphism takes to one of the training part",
                                                          counted(*nodes.leaks, "test node")));
  }
  return text;
}

Json nodes_to_json(const NodeCeilings& nodes) {
  Json json = {{"task", nodes.task == Task::classes ? "labels" : "targets"}, {"known", nodes.known}};
  put(json, nodes.task, "baseline", "baseline", nodes.baseline);
  put(json, nodes.task, "ceiling_1wl", "ceiling_1wl", nodes.one_wl);
  put(json, nodes.task, "ceiling_2wl", "ceiling_2wl", nodes.two_wl);
  put(json, nodes.task, "ceiling_everyone", "ceiling_everyone", nodes.everyone);
  json["leaks"] = or_null(nodes.leaks);
  return json;
}

std::string copies(const Inspection& in) {
  std::string text = "\nCopies\n";
  text += line("isomorphic copies", in.isomorphic_groups == 0 ? "none"
                                                              : fmt::format("{} graphs in {}", in.isomorphic_copies,
                                                                            counted(in.isomorphic_groups, "group")));
  if (in.task != Task::none) {
    std::string value = "none";
    if (in.contradictions > 0) {
      value = fmt::format("{} graphs in groups with several {}, such as {} and {}", in.contradictions,
                          in.task == Task::classes ? "labels" : "targets", in.contradicting[0].first,
                          in.contradicting[0].second);
    }
    text += line("contradictions", value);
  }
  std::string value = "none";
  if (in.confused_groups > 0) {
    value = fmt::format("{} of graphs that are no copies, such as {} and {}", counted(in.confused_groups, "group"),
                        in.confused[0].first, in.confused[0].second);
  }
  text += line("confused by 1-WL", value);
  if (in.leaks) {
    text += line("leaks", *in.leaks == 0
                              ? "none"
                              : fmt::format("{} with a copy in the training part", counted(*in.leaks, "test graph")));
  }
  return text;
}

}  // namespace

Json to_json(const Inspection& in) {
  const Contents& c = in.contents;
  Json json = {{"name", c.name}, {"graphs", c.graphs}};
  json["nodes"] = to_json(c.nodes);
  json["edges"] = to_json(c.edges);
  json["degree"] = to_json(c.degree);
  json["connected"] = c.connected;
  json["empty"] = c.empty;
  json["node_types"] = c.node_types;
  json["edge_labels"] = c.edge_labels;
  if (c.weighted) json["weighted"] = true;
  json["categories"] = c.categories;
  json["edge_categories"] = c.edge_categories;
  json["node_attributes"] = c.node_attributes;
  json["edge_attributes"] = c.edge_attributes;
  json["labels"] = Json::object();
  for (const auto& entry : c.labels) json["labels"][std::to_string(entry.first)] = entry.second;
  json["targets"] = targets_to_json(in);
  json["task"] = in.task == Task::none ? Json() : Json(in.task == Task::classes ? "labels" : "attributes");
  json["baseline"] = or_null(in.baseline.score);
  json = put_all(std::move(json), in.task, in.all);
  put(json, in.task, "1wl_untyped", in.untyped);
  put(json, in.task, "1wl_structure", in.structure ? in.structure : std::optional(in.untyped));
  const auto& without = in.without_attributes;
  json["without_attributes"] = without ? put_all(Json::object(), in.task, *without) : Json();
  json["groups_1wl"] = in.one_wl_groups;
  json["isomorphism_classes"] = in.isomorphism_classes;
  json["isomorphic_groups"] = in.isomorphic_groups;
  json["isomorphic_copies"] = in.isomorphic_copies;
  json["contradictions"] = in.contradictions;
  json["contradicting"] = in.contradicting;
  json["confused_groups"] = in.confused_groups;
  json["confused"] = Json::array();
  for (const Confused& pair : in.confused) json["confused"].push_back({pair.first, pair.second});
  json["leaks"] = or_null(in.leaks);
  json["of_nodes"] = in.nodes ? nodes_to_json(*in.nodes) : Json();
  json["findings"] = Json::array();
  for (const Finding& finding : in.findings)
    json["findings"].push_back({{"kind", finding.kind}, {"text", finding.text}});
  json["notes"] = in.notes;
  json["verdict"] = in.verdict;
  return json;
}

std::string to_text(const Inspection& in) {
  std::string text = describe(in.contents);
  if (in.task != Task::none) text += ceilings(in);
  if (in.nodes) text += of_nodes(*in.nodes);
  text += copies(in);
  if (!in.findings.empty()) text += "\nFor training\n";
  for (const Finding& finding : in.findings) text += fmt::format("  - {}\n", finding.text);
  for (const std::string& note : in.notes) text += fmt::format("{}{}\n", &note == &in.notes[0] ? "\n" : "", note);
  return text + "\n" + in.verdict + "\n";
}

namespace {

void add_ceilings(const Inspection& in, Json& rows) {
  const std::string what = in.task == Task::classes ? "best accuracy" : "best R²";
  const auto add = [&](const char* who, const std::optional<Score>& score) {
    if (!score) return;
    const std::string value = !score->score              ? "-"
                              : in.task == Task::classes ? fmt::format("{:.2f} %", 100 * *score->score)
                                                         : fmt::format("{:.4f}", *score->score);
    const std::string note = score->mse ? fmt::format("mean squared error {:.4g}", *score->mse) : "";
    rows.push_back({fmt::format("{}, {}", what, who), value, note});
  };
  add("without looking at the graphs", in.baseline);
  for (const std::size_t l : kForPeople) add(kLevels[l].page, kLevels[l].of(in.all));
}

std::string answer_of(const GraphSet& set, Task task, std::uint32_t graph) {
  if (task == Task::classes) return fmt::format("label {}", set.labels[graph]);
  const float target = set.targets[std::size_t{graph} * set.target_dim];
  return std::isnan(target) ? "no target" : fmt::format("target {:g}", target);
}

}  // namespace

Json confused_page(const Inspection& in, const GraphSet& set, const std::string& command) {
  Json page = report::confused_page(command);
  page["title"] = fmt::format("{}: what 1-WL cannot tell apart", in.contents.name);
  page["lead"] = in.verdict;
  for (const Finding& finding : in.findings) page["notes"].push_back(finding.text);
  Json& rows = page["rows"];
  const auto add = [&](const char* name, std::uint64_t value, const std::string& note) {
    rows.push_back({name, std::to_string(value), note});
  };
  add("graphs", in.contents.graphs, "");
  if (in.task != Task::none) add_ceilings(in, rows);
  add("isomorphic copies", in.isomorphic_copies, fmt::format("in {}", counted(in.isomorphic_groups, "group")));
  if (in.task != Task::none) add("contradictions", in.contradictions, "copies with different answers");
  add("groups that 1-WL confuses", in.confused_groups, "one pair of each below");
  if (in.leaks) add("leaks", *in.leaks, "test graphs with a copy in their training part");
  for (std::size_t i = 0; i < std::min(kPairsShown, in.confused.size()); ++i) {
    const Confused& pair = in.confused[i];
    const auto named = [&](std::uint32_t g) { return report::NamedGraph{fmt::format("graph {}", g), set.graphs[g]}; };
    std::string caption = "Not isomorphic, and not told apart by 1-WL";
    if (in.task != Task::none) {
      caption += fmt::format("; {} and {}", answer_of(set, in.task, pair.first), answer_of(set, in.task, pair.second));
    }
    report::add_confused(page, named(pair.first), named(pair.second), caption + ".");
  }
  return page;
}

}  // namespace tyche::inspect
