// tyche inspect: what is in a data set, and what can be learned from it at all?
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/cli.hpp"
#include "inspect/inspection.hpp"
#include "report/page.hpp"
#include "report/viewer.hpp"
#include "support/error.hpp"
#include "support/progress.hpp"

namespace tyche::cli::inspect_command {

void run(const Call& call) {
  const datasets::Dataset dataset = call.data();
  const std::string page = call.word("page");
  if (!page.empty()) (void)report::page_template();  // throws where there is none, before the work
  inspect::Options options = inspect::options_of(call, dataset);
  Progress progress("graphs", inspect::steps(dataset.set), call.progress());
  options.progress = &progress;
  const inspect::Inspection found = inspect::examine(dataset, options);
  progress.finish();
  if (!page.empty()) {
    const std::string made = fmt::format("tyche inspect --data {} --page {}", call.word("data"), page);
    report::write_page(page, report::confused_page_data(inspect::confused_pairs(found, dataset.set, made)));
  }
  print(call.json() ? inspect::to_json(found).dump(2) + "\n" : inspect::to_text(found));
}

const Command command("inspect", run);

}  // namespace tyche::cli::inspect_command
