// tyche embed: what a trained network makes of graphs or nodes, before its last layers.
#include <fmt/format.h>

#include <string>

#include "cli/cli.hpp"
#include "cli/trained.hpp"
#include "engine/engine.hpp"
#include "report/look_page.hpp"
#include "support/npy.hpp"

namespace tyche::cli {

namespace embed_command {

void run(const Call& call) {
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

const Command command("embed", run);

}  // namespace embed_command

}  // namespace tyche::cli
