// tyche embed: what a trained network makes of graphs or nodes, before its last layers.
#include <fmt/format.h>

#include <optional>
#include <string>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/trained.hpp"
#include "engine/engine.hpp"
#include "report/look_page.hpp"
#include "support/error.hpp"
#include "support/npy.hpp"
#include "support/words.hpp"
#include "train/look.hpp"

namespace tyche::cli {

namespace embed_command {

struct EmbedCall {
  TrainedModel model;
  std::string out, of = "graphs", page;
  std::optional<std::uint32_t> draws;
  std::optional<std::uint64_t> seed;
  Common common;
};

void run(const EmbedCall& a) {
  if (!a.page.empty()) (void)report::page_template();
  const train::Checkpoint checkpoint = a.model.checkpoint();
  const datasets::Dataset dataset = a.model.data(checkpoint);
  const train::LookOptions how{
      .draws = a.draws.value_or(checkpoint.config.training.eval_draws), .seed = a.seed, .threads = a.common.threads};
  const bool nodes = a.of == "nodes";
  const NpyMatrix rows = train::embeddings(checkpoint, dataset.set, nodes, how);
  write_npy_matrix(a.out, rows);
  if (!a.page.empty()) {
    const auto engine = engine::make_engine("auto", a.common.threads);
    report::write_page(a.page, report::embedding_page(*engine, checkpoint, dataset, nodes, rows, how, called()));
  }
  if (a.common.json) {
    return print_json(
        {{"of", a.of}, {"rows", rows.rows}, {"columns", rows.columns}, {"draws", how.draws}, {"out", a.out}});
  }
  print(fmt::format("{}: {} × {} numbers, a row per {}\n", a.out, rows.rows, rows.columns, nodes ? "node" : "graph"));
}

}  // namespace embed_command

void add_embed(CLI::App& root) {
  using namespace embed_command;
  const auto [app, a] =
      add_command<EmbedCall>(root, "embed", "What a trained network makes of graphs or nodes, as numbers", run);
  a->model.add(app);
  app.add_option("--out", a->out, "File to write: a float32 matrix, a row per graph or node")
      ->required()
      ->type_name("FILE.npy");
  app.add_option("--of", a->of, "graphs (the readout) or nodes (of all graphs in order: the last layer)")
      ->capture_default_str()
      ->check(CLI::IsMember({"graphs", "nodes"}));
  app.add_option("--draws", a->draws, "Mean over so many draws of random inputs")
      ->default_str("as many as the run's own tests");
  app.add_option("--page", a->page, "Also write a page: two dimensions (PCA), coloured by label, prediction and part")
      ->type_name("FILE");
  app.add_option("--seed", a->seed, "Seed of the draws; by default the run's");
  a->common.add(app, kThreads | kJson);
  app.footer(
      "Example:\n"
      "  tyche embed runs/mine --out e.npy --page e.html\n"
      "  tyche embed runs/mine --data new.jsonl --of nodes --draws 16 --out nodes.npy");
}

}  // namespace tyche::cli
