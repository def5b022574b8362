// tyche completion: a script that completes this program's words in a shell.
#include "cli/cli.hpp"
#include "cli/tree.hpp"

namespace tyche::cli {

namespace completion_command {

const Command command("completion", [](const Call& call) {
  const CommandPage tyche = describe(*call.program);
  const std::string shell = call.word("shell");
  print(shell == "bash" ? bash_completion(tyche) : shell == "zsh" ? zsh_completion(tyche) : fish_completion(tyche));
});

}  // namespace completion_command

}  // namespace tyche::cli
