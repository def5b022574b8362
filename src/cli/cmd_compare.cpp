// tyche compare: which network suits these graphs, and is it better than none?
#include "cli/cli.hpp"
#include "compare/compare.hpp"
#include "support/ranks.hpp"

namespace tyche::cli {

namespace compare_command {

void run(const Call& call) {
  const Ranks ranks;
  compare::Options options;
  options.out = call.word("out");
  options.command = called();
  options.budget_epochs = call.whole("budget_epochs");
  if (!options.budget_epochs) options.budget = compare::seconds_of(call.word("budget"));
  options.ensemble = call.flag("ensemble");
  options.resume = call.flag("resume");
  options.models = call.texts("models");
  options.metric = call.word("metric");
  options.target = call.word("target");
  options.target_columns = call.word("target_columns");
  options.split = call.word("split");
  options.folds = *call.small("folds");
  options.clean = call.flag("clean");
  options.ranks = &ranks;
  options.seed = call.seed();
  options.threads = ranks.size() > 1 && call.threads() == 0 ? 1 : call.threads();  // ranks share cores
  options.engine = call.engine().name("auto");
  options.progress = ranks.rank() == 0 ? call.progress() : nullptr;
  options.data_format = call.word("format");
  nlohmann::ordered_json found;
  in_step(ranks, [&] { found = compare::compare(call.data(), call.word("data"), options); });
  if (ranks.rank() != 0) return;
  print(call.json() ? found.dump(2) + "\n" : compare::to_text(found));
}

const Command command("compare", run);

}  // namespace compare_command

}  // namespace tyche::cli
