// Formulas that fuzzing found (fuzz/formula_fuzz.cpp), read again.
#include <gtest/gtest.h>

#include <filesystem>

#include "../../fuzz/formula_entry.hpp"
#include "support/file.hpp"

namespace tyche {
namespace {

TEST(FuzzCorpus, EveryFormulaIsRefusedOrPrintedAndCompiledToTheSame) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TYCHE_TEST_DATA "/fuzz/formula")) {
    EXPECT_NO_THROW(fuzz::read_formula(read_file(entry.path()))) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 50u);
}

}  // namespace
}  // namespace tyche
