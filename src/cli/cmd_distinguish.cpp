// tyche distinguish: does a network learn to tell the graphs of pairs apart, by a test that is right?
#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/field_options.hpp"
#include "distinguish/call.hpp"
#include "support/error.hpp"

namespace tyche::cli {

namespace distinguish_command {

struct DistinguishCall {
  distinguish::Request request;
  FieldOptions fields;
  std::string pairs;
  DeviceOptions device;
  Common common;
};

void run(DistinguishCall& call) {
  distinguish::Request& request = call.request;
  request.fields = call.fields.said();
  request.engine = call.device.asked;
  request.threads = call.common.threads;
  const distinguish::Settings settings = distinguish::settings_of(request);
  const auto& data = settings.config.data;
  const distinguish::PairSet pairs = read_cleanly(data.clean, call.pairs, [&](Cleaning* cleaning) {
    return distinguish::load_pairs(call.pairs, format_of(data.format), request.only, cleaning);
  });
  distinguish::Listener listener;
  if (!call.common.quiet) listener.say = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  listener.note = [](const std::string& text) { fmt::print(stderr, "tyche: {}\n", text); };
  listener.progress = [&](std::uint64_t epochs) {
    return std::make_unique<Progress>("epochs", epochs, call.common.progress());
  };
  try {
    const distinguish::Summary summary = distinguish::distinguish(request, settings, pairs, call.pairs, listener);
    call.common.json ? print_json(nlohmann::json(distinguish::to_json(summary)))
                     : print(distinguish::to_table(summary));
    set_exit_code(distinguish::all_told_apart(summary) ? kGood : kNo);
  } catch (const Interrupted& stop) {
    if (request.out.empty()) throw;
    throw Interrupted(fmt::format("{}: say the same with --resume to go on", stop.what()));
  }
}

}  // namespace distinguish_command

void add_distinguish(CLI::App& root) {
  using namespace distinguish_command;
  const auto [app, call] = add_command<DistinguishCall>(
      root, "distinguish", "Train a network per pair of graphs to tell the two apart, and test it", run);
  app.add_option("pairs", call->pairs,
                 "Graphs 2i and 2i + 1 of a file are pair i (labels are not looked at); or a folder of BREC's .npy "
                 "files")
      ->required()
      ->type_name("PAIRS");
  app.add_option("--only", call->request.only, "Of a BREC folder, these files alone: basic, regular, str, …")
      ->delimiter(',')
      ->type_name("NAME,…");
  app.add_flag("--together", call->request.together,
               "One network for all pairs (is this the first or the second graph of its pair?), not one per pair");
  app.add_option("--seeds", call->request.seeds, "So many seeds, from --seed on")->capture_default_str();
  app.add_option("--scoring", call->request.scoring,
                 "exact (two classes, Fisher's test on fresh draws) or released (BREC's own protocol; on the CPU)")
      ->capture_default_str();
  app.add_option("--draws", call->request.draws, "Fresh draws of each graph that a trained network is judged on")
      ->default_str("512");
  app.add_option("--train-draws", call->request.train_draws,
                 "Draws of each graph in an epoch of training (networks without random inputs: 1)")
      ->default_str("32; together 8");
  CLI::Option* out = app.add_option("--out", call->request.out, "Folder to keep results in")->type_name("FOLDER");
  app.add_flag("--resume", call->request.resume, "Go on with the run in --out; begin it where there is none")
      ->needs(out);
  call->fields.add(app, distinguish::why_not);
  app.get_option("--epochs")
      ->default_str("400; together 1000; released 20")
      ->description("The most epochs; training ends sooner where the loss is low");
  call->device.add(app);
  call->common.add(app, kThreads | kJson | kQuiet);
  app.footer(
      "Exit code 0 if every pair is told apart in every seed, else 1. The test is stated in docs/brec.md. Examples:\n"
      "  tyche distinguish brec --random colours\n"
      "  tyche distinguish pairs.g6 --rni 0.5 --seeds 10 --out runs/rni50\n"
      "Other defaults than those of train: no dropout, batches of 32, four times the learning rate, two layers with\n"
      "marks and colours; --together: two layers of 128, batches of 128, twice the rate.");
}

}  // namespace tyche::cli
