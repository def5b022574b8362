#pragma once
/// The commands, in the order --help lists them. One line here, one line in main.cpp, one file cmd_<name>.cpp.
#include <CLI/CLI.hpp>

namespace tyche::cli {

void add_generate(CLI::App& root);
void add_certify(CLI::App& root);
void add_wl(CLI::App& root);
void add_inspect(CLI::App& root);
void add_count(CLI::App& root);
void add_pack(CLI::App& root);
void add_network(CLI::App& root);
void add_export(CLI::App& root);
void add_train(CLI::App& root);
void add_predict(CLI::App& root);
void add_compare(CLI::App& root);
void add_embed(CLI::App& root);
void add_explain(CLI::App& root);
void add_distinguish(CLI::App& root);
void add_reproduce(CLI::App& root);
void add_report(CLI::App& root);
void add_bench(CLI::App& root);
void add_theory(CLI::App& root);
void add_manual(CLI::App& root);
void add_completion(CLI::App& root);

}  // namespace tyche::cli
