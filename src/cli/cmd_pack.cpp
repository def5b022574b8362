// tyche pack
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "graph/packed.hpp"
#include "support/stopwatch.hpp"

namespace tyche::cli {

namespace pack_command {

struct PackCall {
  std::string data, format, out;
  bool clean = false;
  Common common;
};

void run(const PackCall& call) {
  const Stopwatch watch;
  const auto format = format_of(call.format);
  const std::uint64_t graphs = read_cleanly(
      call.clean, call.data, [&](Cleaning* cleaning) { return pack_graphs(call.data, format, cleaning, call.out); });
  const auto bytes = std::filesystem::file_size(call.out);
  if (call.common.json) {
    print_json({{"out", call.out}, {"graphs", graphs}, {"bytes", bytes}, {"seconds", watch.seconds()}});
    return;
  }
  print(fmt::format("{}: {} graphs, {} bytes ({:.0f} a graph); {:.2f} s\n", call.out, graphs, bytes,
                    static_cast<double>(bytes) / static_cast<double>(graphs), watch.seconds()));
}

}  // namespace pack_command

void add_pack(CLI::App& root) {
  using namespace pack_command;
  const auto [app, call] =
      add_command<PackCall>(root, "pack", "A data set as one file that is mapped into memory, not read", run);
  app.add_option("data,--data", call->data, "Data set: a file or folder of graphs")->required()->type_name("PATH");
  app.add_option("--format", call->format, "gin, graph6, ... (default: told by content)");
  app.add_flag("--clean", call->clean, kCleanHelp);
  app.add_option("--out", call->out, "The packed file, *.tyche")->required()->type_name("FILE");
  call->common.add(app, kJson);
  app.footer(
      "Whatever reads a data set reads a packed one: at once, however large it is, and in memory that does not grow "
      "with it. JSON lines are packed line by line, also from a pipe. Examples:\n"
      "  tyche pack molecules.jsonl --out molecules.tyche\n"
      "  tyche train molecules.tyche --model gin --out run\n"
      "  zcat molecules.jsonl.gz | tyche pack /dev/stdin --format jsonl --out molecules.tyche");
}

}  // namespace tyche::cli
