#pragma once
// Running the program as a shell would, with what it says and how it ends.
#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace tyche::theory::test {

struct Ended {
  std::string text;  ///< standard output and standard error, as they came
  int code = -1;
};

/// A line for the shell, run in `folder`, where `tyche` is the program under test.
inline Ended run_line(const std::string& line, const std::filesystem::path& folder) {
  const std::filesystem::path program = TYCHE_PROGRAM;
  const std::string command = fmt::format("cd '{}' && PATH='{}':\"$PATH\"; {{ {}\n}} 2>&1", folder.string(),
                                          program.parent_path().string(), line);
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run a shell");
  Ended out;
  char buffer[4096];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.text.append(buffer, got);
  const int status = ::pclose(pipe);
  out.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return out;
}

}  // namespace tyche::theory::test
