#include "cli/remedies.hpp"

namespace tyche::cli {

namespace {

const char* words(Remedy remedy) {
  switch (remedy) {
    case Remedy::name_format:
      return "; --format names it";
    case Remedy::clean_data:
      return "; train, predict, inspect, wl and distinguish mend that with --clean";
    case Remedy::replace_data:
      return "; name another folder, or say --force to replace it";
    case Remedy::resume_run:
      return "; add --resume to go on with it, or name another folder";
    case Remedy::resume_trials:
      return "; add --resume to go on with them, or name another folder";
    case Remedy::make_results:
      return "; 'tyche reproduce', 'train' and 'distinguish' make some with --out FOLDER";
    case Remedy::name_data_folder:
      return "; --data-folder names it";
    case Remedy::name_fold:
      return "; --fold names it";
    case Remedy::use_cpu:
      return "; --device cpu works everywhere";
    case Remedy::ignore_edges:
      return "; --no-edge-features leaves them out";
    case Remedy::stratify:
      return "; --fold-scheme stratified spreads labels evenly";
    case Remedy::smaller_model:
      return "; reduce --width or --layers";
    case Remedy::smaller_job:
      return "; reduce --batch, --width or --layers, or train on the CPU (--device cpu)";
  }
  return "";
}

}  // namespace

std::string with_remedy(const Error& error) {
  const auto* helped = dynamic_cast<const HasRemedy*>(&error);
  return error.what() + std::string(helped == nullptr ? "" : words(helped->remedy()));
}

}  // namespace tyche::cli
