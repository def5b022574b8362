#pragma once
/// The program under test, run as a user runs it.
///
///   const RunResult r = run_program({"train", "--help"});
///   EXPECT_EQ(r.exit_code, 0);
///
///   StartedProgram child({"train", …});           // in the background
///   child.signal(SIGKILL);
///   child.wait();
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/file.hpp"
#include "support/temporary_folder.hpp"

namespace tyche {

struct RunResult {
  int exit_code = 0;  ///< 128 + number where a signal ended the program
  std::string out;
  std::string err;
};

class StartedProgram {
 public:
  explicit StartedProgram(const std::vector<std::string>& args, std::string program = TYCHE_PROGRAM) {
    const std::string out = (folder_ / "out").string(), err = (folder_ / "err").string();
    std::vector<char*> argv;
    std::vector<std::string> copies = args;
    argv.push_back(program.data());
    for (std::string& arg : copies) argv.push_back(arg.data());
    argv.push_back(nullptr);
    const int to_out = ::open(out.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const int to_err = ::open(err.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    pid_ = ::fork();
    if (pid_ == 0) {
      if (::dup2(to_out, 1) < 0 || ::dup2(to_err, 2) < 0) ::_exit(126);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(to_out);
    ::close(to_err);
    if (pid_ < 0) throw std::runtime_error("cannot fork");
  }
  ~StartedProgram() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      (void)wait();
    }
  }
  StartedProgram(const StartedProgram&) = delete;
  StartedProgram& operator=(const StartedProgram&) = delete;

  void signal(int number) const { ::kill(pid_, number); }

  RunResult wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    RunResult result;
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.out = read_file(folder_ / "out");
    result.err = read_file(folder_ / "err");
    return result;
  }

 private:
  TemporaryFolder folder_;
  pid_t pid_ = -1;
};

inline RunResult run_program(const std::vector<std::string>& args) { return StartedProgram(args).wait(); }

/// Another program, say a copy, by its path.
inline RunResult run_other_program(const std::string& program, const std::vector<std::string>& args) {
  return StartedProgram(args, program).wait();
}

}  // namespace tyche
