// Formulas that fuzzing found (fuzz/formula_fuzz.cpp), read again.
#include <gtest/gtest.h>

#include "../../fuzz/formula_entry.hpp"
#include "support/fuzz_corpus.hpp"

namespace tyche {
namespace {

TEST(FuzzCorpus, EveryFormulaIsRefusedOrPrintedAndCompiledToTheSame) {
  replay_corpus("formula", [](const std::string& input) { fuzz::read_formula(input); });
}

}  // namespace
}  // namespace tyche
