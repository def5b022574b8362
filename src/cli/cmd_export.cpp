// tyche export: a trained network as plain PyTorch.
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "train/checkpoint.hpp"
#include "train/export.hpp"
#include "train/run.hpp"

namespace tyche::cli {

namespace export_command {

struct ExportCall {
  std::string run, checkpoint, out;
  std::optional<std::uint32_t> fold;
};

void run_export(const ExportCall& call) {
  const train::Checkpoint checkpoint =
      train::read_checkpoint(train::checkpoint_in(call.run, call.fold, call.checkpoint));
  for (const std::string& note : checkpoint.notes) fmt::print(stderr, "tyche: {}\n", note);
  train::export_model(checkpoint, call.out);
  print(fmt::format("{0}: model.py, weights.safetensors, README.md; python3 {0}/model.py GRAPHS.jsonl runs it\n",
                    call.out));
}

}  // namespace export_command

void add_export(CLI::App& root) {
  using export_command::ExportCall;
  const auto [app, call] =
      add_command<ExportCall>(root, "export", "Write a trained network as plain PyTorch: a class and its parameters",
                              export_command::run_export);
  app.add_option("run", call->run, "A run folder of tyche train")->type_name("RUN")->required();
  app.add_option("--fold", call->fold, "The fold whose network it is")->default_str("the only one");
  app.add_option("--checkpoint", call->checkpoint, "best (by validation) or last")
      ->default_str("best where there is one, else last");
  app.add_option("--out", call->out, "A new folder for model.py, weights.safetensors and README.md")
      ->type_name("FOLDER")
      ->required();
  app.footer(
      "model.py needs Python and PyTorch and nothing else; its answers are those of tyche predict.\n"
      "Example: tyche export runs/gin --fold 0 --out gin && python3 gin/model.py graphs.jsonl");
}

}  // namespace tyche::cli
