// tyche distinguish: does a network learn to tell the graphs of pairs apart, by a test that is right?
#include "cli/cli.hpp"
#include "distinguish/call.hpp"

namespace tyche::cli::distinguish_command {

void run(const Call& call) {
  distinguish::Request request;
  request.fields = call.fields();
  request.engine = call.engine();
  request.scoring = call.word("scoring");
  request.together = call.flag("together");
  request.seeds = *call.small("seeds");
  request.draws = call.small("draws");
  request.train_draws = call.small("train_draws");
  request.threads = call.threads();
  request.out = call.word("out");
  request.resume = call.flag("resume");
  request.only = call.texts("only");
  const distinguish::Settings settings = distinguish::settings_of(request);
  const auto& data = settings.config.data;
  const std::string path = call.word("pairs");
  const distinguish::PairSet pairs = read_cleanly(data.clean, path, [&](Cleaning* cleaning) {
    return distinguish::load_pairs(path, format_of(data.format), request.only, cleaning);
  });
  distinguish::Listener listener;
  if (!call.quiet()) listener.say = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  listener.note = [](const std::string& text) { fmt::print(stderr, "tyche: {}\n", text); };
  listener.progress = [&](std::uint64_t epochs) {
    return std::make_unique<Progress>("epochs", epochs, call.progress());
  };
  try {
    const distinguish::StoredRun run = distinguish::distinguish(request, settings, pairs, path, listener);
    call.json() ? print_json(nlohmann::json(distinguish::to_json(run))) : print(distinguish::to_table(run));
    set_exit_code(distinguish::all_told_apart(run) ? kGood : kNo);
  } catch (const Interrupted& stop) {
    if (request.out.empty()) throw;
    throw Interrupted("{}: say the same with --resume to go on", stop.what());
  }
}

const Command command("distinguish", run, distinguish::why_not);

}  // namespace tyche::cli::distinguish_command
