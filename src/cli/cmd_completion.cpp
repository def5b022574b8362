// tyche completion: a script that completes this program's words in a shell.
#include <memory>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/tree.hpp"

namespace tyche::cli {

void add_completion(CLI::App& root) {
  const auto shell = std::make_shared<std::string>();
  CLI::App& app = *root.add_subcommand("completion", "Print a script that completes tyche's words in your shell");
  app.add_option("shell", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  app.footer(
      "The Debian package brings these along. Examples:\n"
      "  tyche completion bash > ~/.local/share/bash-completion/completions/tyche\n"
      "  tyche completion zsh > ~/.zfunc/_tyche    With 'fpath+=~/.zfunc' before compinit in ~/.zshrc\n"
      "  tyche completion fish > ~/.config/fish/completions/tyche.fish");
  app.callback([shell, &root] {
    const CommandPage tyche = describe(root);
    print(*shell == "bash" ? bash_completion(tyche) : *shell == "zsh" ? zsh_completion(tyche) : fish_completion(tyche));
  });
}

}  // namespace tyche::cli
