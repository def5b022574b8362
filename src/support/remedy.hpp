#pragma once
/// Errors that a caller may have a way out of. The library says what would help; cli/ knows the option that does it
/// (cli/cli.cpp) and says that.
///
///   throw Remedied(InputError("no GPU to use"), Remedy::use_cpu);       // caught as any InputError
#include <span>
#include <string>
#include <string_view>

#include "support/error.hpp"

namespace tyche {

enum class Remedy {
  name_format,       ///< of a file whose content does not tell it
  clean_data,        ///< that has loops, repeated edges or edges in one direction
  replace_data,      ///< that stands where a data set is to be made
  resume_run,        ///< that was begun in this folder
  resume_trials,     ///< of an experiment, likewise
  make_results,      ///< for a report
  name_fold,         ///< of a run that has several
  use_cpu,           ///< there is no GPU
  ignore_edges,      ///< edges have labels or attributes, and the model has no use for them
  stratify,          ///< contiguous folds part the classes
  smaller_model,     ///< memory is short
  name_data_folder,  ///< of an experiment whose data is the user's
  smaller_job,       ///< memory of the GPU is short
};

class HasRemedy {
 public:
  explicit HasRemedy(Remedy remedy) : remedy_(remedy) {}
  virtual ~HasRemedy() = default;
  [[nodiscard]] Remedy remedy() const { return remedy_; }

 private:
  Remedy remedy_;
};

/// An error of its own kind that also HasRemedy.
template <class Kind>
class Remedied : public Kind, public HasRemedy {
 public:
  Remedied(const Kind& error, Remedy remedy) : Kind(error), HasRemedy(remedy) {}
};

/// The error's text, with what a user can do about it: words[its remedy], where it has one.
[[nodiscard]] inline std::string with_remedy(const Error& error, std::span<const std::string_view> words) {
  const auto* helped = dynamic_cast<const HasRemedy*>(&error);
  return error.what() + std::string(helped == nullptr ? "" : words[static_cast<std::size_t>(helped->remedy())]);
}

}  // namespace tyche
