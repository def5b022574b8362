// The options of this program that help against an error of the library.
#include "cli/cli.hpp"
#include "support/remedy.hpp"

namespace tyche::cli {

namespace {

// In the order of Remedy.
constexpr std::string_view kWords[] = {
    "; --format names it",
    "; train, predict, inspect, wl and distinguish mend that with --clean",
    "; name another folder, or say --force to replace it",
    "; add --resume to go on with it, or name another folder",
    "; add --resume to go on with them, or name another folder",
    "; 'tyche reproduce', 'train' and 'distinguish' make some with --out FOLDER",
    "; --fold names it",
    "; --device cpu works everywhere",
    "; --no-edge-features leaves them out",
    "; --fold-scheme stratified spreads labels evenly",
    "; reduce --width or --layers",
    "; --data-folder names it",
    "; reduce --batch, --width or --layers, or train on the CPU (--device cpu)",
};

}  // namespace

std::string with_remedy(const Error& error) { return tyche::with_remedy(error, kWords); }

}  // namespace tyche::cli
