#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inspect/inspection.hpp"
#include "report/viewer.hpp"
#include "wl/sample_graphs.hpp"

namespace tyche::inspect {
namespace {

TEST(InspectPage, ShowsPairsWithTheirAnswersThoseThatDifferFirst) {
  datasets::Dataset data;
  data.name = "rings";
  data.set.graphs = {wl::cycle(6), disjoint_union(wl::cycle(3), wl::cycle(3)), wl::cycle(8),
                     disjoint_union(wl::cycle(4), wl::cycle(4)), wl::path(3)};
  data.set.labels = {1, 1, 0, 1, 0};
  const Inspection found = examine(data);
  const report::ConfusedPairs page = confused_pairs(found, data.set, "tyche inspect");
  EXPECT_EQ(page.lead, found.verdict);
  EXPECT_THAT(page.title, testing::HasSubstr("rings"));
  ASSERT_EQ(page.pairs.size(), 2u);
  EXPECT_EQ(page.pairs[0].first.graph, data.set.graphs[2]);
  EXPECT_EQ(page.pairs[0].second.name, "graph 3");
  EXPECT_THAT(page.pairs[0].caption, testing::HasSubstr("label 0 and label 1"));
  EXPECT_THAT(page.pairs[1].caption, testing::HasSubstr("label 1 and label 1"));
  const auto row = [&](const std::string& name) {
    for (const report::SummaryRow& entry : page.rows) {
      if (entry.name == name) return entry.value;
    }
    return std::string("no such row");
  };
  EXPECT_EQ(row("best accuracy, any network that 1-WL bounds"), "80.00 %");
  EXPECT_EQ(row("best accuracy, any network at all"), "100.00 %");
  EXPECT_EQ(row("groups that 1-WL confuses"), "2");
}

}  // namespace
}  // namespace tyche::inspect
