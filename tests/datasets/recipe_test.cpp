#include "datasets/recipe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/generate.hpp"
#include "support/error.hpp"

namespace tyche::datasets {
namespace {

using testing::HasSubstr;

std::string error_of(const char* name, const char* key, const char* value) {
  try {
    Recipe recipe = recipe_of(name);
    set_parameter(recipe, key, value);
    check(recipe);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Recipes, HaveStandardSizesAndNamesForFolders) {
  EXPECT_EQ(graphs_of(recipe_of("exp")), 1200u);
  EXPECT_EQ(graphs_of(recipe_of("sparse-cexp")), 300u);
  EXPECT_EQ(graphs_of(recipe_of("tseitin")), 1200u);
  EXPECT_EQ(graphs_of(recipe_of("csl")), 150u);
  EXPECT_EQ(pairs_of(recipe_of("csl")), 0u);
  EXPECT_EQ(folder_name(recipe_of("exp")), "exp-600-seed1");
  EXPECT_EQ(folder_name(recipe_of("csl")), "csl-150-seed1");
  Recipe exp = recipe_of("cexp");
  set_parameter(exp, "core_max", "5");
  set_parameter(exp, "planar_nodes", "12:1,9:2");
  EXPECT_EQ(folder_name(exp), "cexp-600-seed1-core2to5-planar12x1+9x2");
  Recipe ladder = recipe_of("tseitin");
  set_parameter(ladder, "base_nodes", "12:14");
  set_parameter(ladder, "unseen", "10");
  set_parameter(ladder, "seed", "7");
  EXPECT_EQ(folder_name(ladder), "tseitin-600-seed7-base12+14-unseen10");
}

TEST(Recipes, RefuseWhatTheyDoNotHaveAndSayWhatTheyDo) {
  EXPECT_THROW((void)recipe_of("expo"), InputError);
  EXPECT_THAT(error_of("exp", "base_nodes", "12"),
              HasSubstr("exp has no parameter 'base_nodes'; it has pairs, seed, core_min, core_max, planar_nodes"));
  EXPECT_THAT(error_of("csl", "pairs", "12"), HasSubstr("csl has no parameter 'pairs'"));
  EXPECT_THAT(error_of("exp", "planar_nodes", "none"), HasSubstr("planar sizes 'none'"));
  EXPECT_EQ(error_of("tseitin", "planar_nodes", "none"), "");
  EXPECT_THAT(error_of("tseitin", "unseen", "ten"), HasSubstr("unseen: expected a whole number"));
  EXPECT_THAT(error_of("tseitin", "base_nodes", "11"), HasSubstr("even"));
  EXPECT_THAT(error_of("exp", "pairs", "-1"), HasSubstr("pairs: expected a whole number"));
  EXPECT_THAT(error_of("exp", "pairs", "0"), HasSubstr("out of range"));
}

TEST(Recipes, GiveASampleOfTheirFirstGraphs) {
  const Dataset exp = sample(recipe_of("exp"), 5);
  EXPECT_EQ(exp.set.graphs.size(), 6u);
  EXPECT_EQ(exp.pair, (std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2}));
  const Dataset csl = sample(recipe_of("csl"), 20);
  EXPECT_EQ(csl.set.graphs.size(), 20u);
  EXPECT_TRUE(csl.pair.empty());
  EXPECT_EQ(sample(recipe_of("tseitin"), 2).set.graphs[0].num_nodes(), 84u);
}

}  // namespace
}  // namespace tyche::datasets
