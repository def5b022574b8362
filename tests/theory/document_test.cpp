#include "document.hpp"

namespace tyche::theory {
namespace {

TEST(Document, EveryCommandOfTheWalkSaysWhatTheDocumentSays) {
  const TemporaryFolder folder;
  EXPECT_GE(test::run_document("theory.md", folder), 15u);
  // The picture in the document is the one the commands draw.
  EXPECT_EQ(read_file(folder / "example.svg"),
            read_file(std::filesystem::path(TYCHE_TEST_DATA) / "../../docs/theory-example.svg"));
}

TEST(Document, TheComparisonItselfCanFail) {
  EXPECT_TRUE(test::matches("a 12 s\nb\n", "a […] s\nb\n"));
  EXPECT_FALSE(test::matches("a 12 s\nb\n", "a […] s\n"));
  EXPECT_FALSE(test::matches("a 12\n", "a […] s\n"));
  EXPECT_FALSE(test::matches("c\n", "b\n"));
}

}  // namespace
}  // namespace tyche::theory
