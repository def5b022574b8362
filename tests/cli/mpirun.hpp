#pragma once
/// The program under mpirun, with more ranks than cores where it must be.
#include <cstdlib>
#include <string>

#include "support/ranks.hpp"
#include "support/run_program.hpp"

namespace tyche {

/// Why nothing can be started by mpirun here; empty: it can.
inline std::string why_no_mpirun() {
  if (!built_with_mpi()) return "built without MPI";
  return std::system("command -v mpirun >/dev/null 2>&1") != 0 ? "mpirun is not installed" : "";
}

/// `before` is shell code that each rank runs before it becomes the program; all it says goes to `log`.
inline int run_on_ranks(int ranks, const std::string& words, const std::filesystem::path& log,
                        const std::string& before = "") {
  const std::string command =
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ASAN_OPTIONS=detect_leaks=0 mpirun --oversubscribe "
      "-n " +
      std::to_string(ranks) + " sh -c '" + before + "exec " + TYCHE_PROGRAM + " " + words + "' > " + log.string() +
      " 2>&1";
  return std::system(command.c_str());
}

/// A rank that is killed so many seconds after it began.
inline std::string killed_after(int rank, double seconds) {
  return "if [ $OMPI_COMM_WORLD_RANK = " + std::to_string(rank) + " ]; then (sleep " + std::to_string(seconds) +
         "; kill -9 $$) & fi; ";
}

}  // namespace tyche
