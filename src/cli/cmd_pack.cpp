// tyche pack
#include "cli/cli.hpp"
#include "graph/packed.hpp"

namespace tyche::cli::pack_command {

void run(const Call& call) {
  const Stopwatch watch;
  const std::string data = call.word("data"), out = call.word("out");
  const std::uint64_t graphs = read_cleanly(
      call.flag("clean"), data, [&](Cleaning* cleaning) { return pack_graphs(data, call.format(), cleaning, out); });
  const auto bytes = std::filesystem::file_size(out);
  if (call.json()) {
    return print_json({{"out", out}, {"graphs", graphs}, {"bytes", bytes}, {"seconds", watch.seconds()}});
  }
  print(fmt::format("{}: {} graphs, {} bytes ({:.0f} a graph); {:.2f} s\n", out, graphs, bytes,
                    static_cast<double>(bytes) / static_cast<double>(graphs), watch.seconds()));
}

const Command command("pack", run);

}  // namespace tyche::cli::pack_command
