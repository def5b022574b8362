// tyche compare: which network suits these graphs, and is it better than none?
#include "cli/cli.hpp"
#include "compare/compare.hpp"
#include "support/ranks.hpp"

namespace tyche::cli::compare_command {

void run(const Call& call) {
  const Ranks ranks;
  compare::Options options = compare::options_of(call);
  options.out = call.word("out");
  options.command = called();
  options.clean = call.flag("clean");
  options.data_format = call.word("format");
  options.ranks = &ranks;
  if (ranks.size() > 1 && options.threads == 0) options.threads = 1;  // ranks share cores
  options.progress = ranks.rank() == 0 ? call.progress() : nullptr;
  nlohmann::ordered_json found;
  in_step(ranks, [&] { found = compare::compare(call.data(), call.word("data"), options); });
  if (ranks.rank() != 0) return;
  print(call.json() ? found.dump(2) + "\n" : compare::to_text(found));
}

const Command command("compare", run);

}  // namespace tyche::cli::compare_command
