#include "document.hpp"

namespace tyche::theory {
namespace {

TEST(Document, EveryLongCommandSaysWhatTheDocumentSays) {
  const TemporaryFolder folder;
  EXPECT_GE(test::run_document("console slow", folder), 3u);
}

}  // namespace
}  // namespace tyche::theory
