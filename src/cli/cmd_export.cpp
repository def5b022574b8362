// tyche export: a trained network as plain PyTorch.
#include <fmt/format.h>

#include "cli/cli.hpp"
#include "train/checkpoint.hpp"
#include "train/run.hpp"

namespace tyche::cli {

namespace export_command {

void run(const Call& call) {
  const std::string out = call.word("out");
  const train::Checkpoint checkpoint =
      train::read_checkpoint(train::checkpoint_in(call.word("run"), call.small("fold"), call.word("checkpoint")));
  for (const std::string& note : checkpoint.notes) fmt::print(stderr, "tyche: {}\n", note);
  train::export_model(checkpoint, out);
  print(fmt::format("{0}: model.py, weights.safetensors, README.md; python3 {0}/model.py GRAPHS.jsonl runs it\n", out));
}

const Command command("export", run);

}  // namespace export_command

}  // namespace tyche::cli
