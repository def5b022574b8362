// Inputs that fuzzing found (fuzz/run_files_fuzz.cpp), read again: configurations, splits, tensors, experiments.
#include <gtest/gtest.h>

#include "../../fuzz/run_files_entry.hpp"
#include "support/fuzz_corpus.hpp"

namespace tyche {
namespace {

TEST(FuzzCorpus, EveryFileOfARunIsReadOrRefused) {
  replay_corpus("run_files", [](const std::string& input) { fuzz::read_run_file(input); });
}

}  // namespace
}  // namespace tyche
