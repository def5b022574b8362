// tyche completion: a script that completes this program's words in a shell.
#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/tree.hpp"

namespace tyche::cli {

void add_completion(CLI::App& root) {
  add_command(root, "completion", [&root](const Call& call) {
    const CommandPage tyche = describe(root);
    const std::string shell = call.word("shell");
    print(shell == "bash" ? bash_completion(tyche) : shell == "zsh" ? zsh_completion(tyche) : fish_completion(tyche));
  });
}

}  // namespace tyche::cli
