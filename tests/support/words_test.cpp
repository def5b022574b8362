#include "support/words.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace tyche {

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("epochs", "epochs"), 0u);
  EXPECT_EQ(edit_distance("epoch", "epochs"), 1u);
  EXPECT_EQ(edit_distance("epcohs", "epochs"), 1u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

RC_GTEST_PROP(EditDistance, IsSymmetricAndAtMostTheLongerLength, (const std::string& a, const std::string& b)) {
  RC_ASSERT(edit_distance(a, b) == edit_distance(b, a));
  RC_ASSERT(edit_distance(a, b) <= std::max(a.size(), b.size()));
  RC_ASSERT((edit_distance(a, b) == 0) == (a == b));
}

TEST(DidYouMean, NamesTheNearestWordOrListsAllWhereNoneIsNear) {
  const std::vector<std::string> known = {"epochs", "batch", "learning_rate"};
  EXPECT_EQ(did_you_mean("epoch", known), "; did you mean 'epochs'?");
  EXPECT_EQ(did_you_mean("learn", known), "; did you mean 'learning_rate'?") << "begun";
  EXPECT_EQ(did_you_mean("learning_rat", known), "; did you mean 'learning_rate'?");
  EXPECT_EQ(did_you_mean("colour", known), "; expected one of epochs, batch, learning_rate");
}

}  // namespace tyche
