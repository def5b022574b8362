// tyche embed, explain, export: what is in a trained model.
#include <cmath>
#include <numeric>

#include "cli/cli.hpp"
#include "report/look_page.hpp"
#include "train/checkpoint.hpp"
#include "train/data.hpp"
#include "train/run.hpp"

namespace tyche::cli::look_command {

/// A model, and the graphs it is asked about (@trained of share/commands.txt).
struct Trained {
  train::Checkpoint model;
  datasets::Dataset dataset;
};

/// The model, and what --data names, else what it was trained on; says which types it has not seen. Of a run of
/// several folds it is that of --fold, else of the fold which tested `graph` of the run's own graphs, else the first;
/// says so.
Trained open_trained(const Call& call, std::optional<std::uint32_t> graph = {}) {
  const std::string run = call.word("run");
  const std::optional<std::uint32_t> fold = call.small("fold");
  const bool folder = std::filesystem::is_directory(run);
  if (!folder && (fold || call.says("checkpoint"))) {
    throw InputError("--fold and --checkpoint are of a run folder, and RUN is a file");
  }
  const auto read = [&](std::optional<std::uint32_t> chosen) {
    return train::read_checkpoint(folder ? train::checkpoint_in(run, chosen, call.word("checkpoint"))
                                         : std::filesystem::path(run));
  };
  const std::vector<std::uint32_t> there = folder ? train::folds_in(run) : std::vector<std::uint32_t>();
  const bool several = !fold && there.size() > 1, same = !call.says("data");
  Trained out{read(several ? there.front() : fold), {}};
  const train::RunConfig::DataPart& own = out.model.config.data;
  out.dataset =
      read_data(call.text("data").value_or(own.path), same && !call.says("format") ? own.format : call.word("format"),
                call.flag("clean") || own.clean);
  if (several) {
    std::string why = fmt::format("has {} folds; fold {}", there.size(), there.front());
    if (graph && same && out.model.config.model.unit == Unit::graph) {
      const std::vector<datasets::Fold> folds = train::folds_of(out.dataset, out.model.config);
      const auto tester =
          std::ranges::find_if(there, [&](std::uint32_t f) { return std::ranges::count(folds[f].test, *graph) > 0; });
      if (tester != there.end()) {
        why = fmt::format("fold {}, which tested graph {},", *tester, *graph);
        out.model = read(*tester);
      }
    }
    fmt::print(stderr, "tyche: {}: {} is looked into; --fold names another\n", run, why);
  }
  for (const std::string& note : out.model.notes) fmt::print(stderr, "tyche: {}\n", note);
  for (const std::string& line : train::unseen(out.dataset.set, own.features, own.labels, out.model.config.model)) {
    fmt::print(stderr, "tyche: warning: {}\n", line);
  }
  return out;
}

/// --draws, --seed and --threads.
train::LookOptions look_of(const Call& call, std::uint32_t draws) {
  return {.draws = call.small("draws").value_or(draws), .seed = call.whole("seed"), .threads = call.threads()};
}

/// tyche embed: what a trained network makes of graphs or nodes, before its last layers.
void embed(const Call& call) {
  const std::string of = call.word("of"), out = call.word("out"), page = call.word("page");
  if (!page.empty()) (void)report::page_template();
  const auto [checkpoint, dataset] = open_trained(call);
  const train::LookOptions how = look_of(call, checkpoint.config.training.eval_draws);
  const bool nodes = of == "nodes";
  const NpyMatrix rows = train::embeddings(checkpoint, dataset.set, nodes, how);
  write_npy_matrix(out, rows);
  if (!page.empty()) {
    const auto engine = engine::make_engine("auto", how.threads);
    report::write_page(page, report::embedding_page(*engine, checkpoint, dataset, nodes, rows, how, called()));
  }
  if (call.json()) {
    return print_json({{"of", of}, {"rows", rows.rows}, {"columns", rows.columns}, {"draws", how.draws}, {"out", out}});
  }
  print(fmt::format("{}: {} × {} numbers, a row per {}\n", out, rows.rows, rows.columns, nodes ? "node" : "graph"));
}

/// The rows of the JSON, the most important by what is lost without them first.
std::string table(const nlohmann::ordered_json& rows, const char* what) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto weight = [&](std::size_t i) { return std::abs(rows[i]["left_out"].get<double>()); };
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return weight(a) > weight(b); });
  std::string text = fmt::format("{:>9}  {:>6}  {:>16}  {:>9}\n", what, "type", "gradient × input", "left out");
  for (const std::size_t i : order) {
    const auto& row = rows[i];
    const std::string name = row.contains("edge")
                                 ? fmt::format("{}-{}", row["edge"][0].get<Node>(), row["edge"][1].get<Node>())
                                 : fmt::format("{}", row["node"].get<Node>());
    text +=
        fmt::format("{:>9}  {:>6}  {:>16}  {:>9.3g}\n", name, row.contains("type") ? row["type"].dump() : "",
                    row.contains("gradient_input") ? fmt::format("{:.3g}", row["gradient_input"].get<double>()) : "-",
                    row["left_out"].get<double>());
  }
  return text;
}

/// tyche explain: which nodes and edges an answer hangs on.
void explain(const Call& call) {
  const std::string page = call.word("page");
  if (!page.empty()) (void)report::page_template();
  const std::uint32_t graph = *call.small("graph");
  const auto [checkpoint, dataset] = open_trained(call, graph);
  const auto engine = engine::make_engine(call.engine().name("auto"), call.threads());
  const auto output = call.says("output") ? std::optional(call.value("output").get<int>()) : std::nullopt;
  const train::Explanation why = train::explain(*engine, checkpoint, dataset.set, graph, look_of(call, 16), output);
  const nlohmann::ordered_json json = train::to_json(why, dataset.set, graph);
  if (!page.empty()) report::write_explanation_page(page, json, dataset.set, graph, called());
  if (call.json()) return print(json.dump(2) + "\n");
  print(report::explained(json) + "\n\n" + table(json["nodes"], "node") + "\n" + table(json["edges"], "edge"));
}

/// tyche export: a trained network as plain PyTorch.
void export_network(const Call& call) {
  const std::string out = call.word("out");
  const train::Checkpoint checkpoint =
      train::read_checkpoint(train::checkpoint_in(call.word("run"), call.small("fold"), call.word("checkpoint")));
  for (const std::string& note : checkpoint.notes) fmt::print(stderr, "tyche: {}\n", note);
  train::export_model(checkpoint, out);
  print(fmt::format("{0}: model.py, weights.safetensors, README.md; python3 {0}/model.py GRAPHS.jsonl runs it\n", out));
}

const Command commands[] = {{"embed", embed}, {"explain", explain}, {"export", export_network}};

}  // namespace tyche::cli::look_command
