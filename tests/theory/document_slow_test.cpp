#include "document.hpp"

namespace tyche::theory {
namespace {

TEST(Document, EveryLongCommandSaysWhatTheNotebookSays) {
  const TemporaryFolder folder;
  EXPECT_GE(test::run_document("lab/theory.md", folder), 3u);
}

}  // namespace
}  // namespace tyche::theory
