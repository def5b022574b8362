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
  const nlohmann::ordered_json page = confused_page(found, data.set, "tyche inspect");
  EXPECT_EQ(page["lead"], found.verdict);
  EXPECT_THAT(page["title"].get<std::string>(), testing::HasSubstr("rings"));
  const auto& pairs = page["pairs"];
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0]["graphs"][0], report::pack_graph({"graph 2", data.set.graphs[2]}));
  EXPECT_EQ(pairs[0]["graphs"][1]["title"], "graph 3");
  EXPECT_THAT(pairs[0]["caption"].get<std::string>(), testing::HasSubstr("label 0 and label 1"));
  EXPECT_THAT(pairs[1]["caption"].get<std::string>(), testing::HasSubstr("label 1 and label 1"));
  const auto row = [&](const std::string& name) {
    for (const auto& entry : page["rows"]) {
      if (entry[0] == name) return entry[1].get<std::string>();
    }
    return std::string("no such row");
  };
  EXPECT_EQ(row("best accuracy, any network that 1-WL bounds"), "80.00 %");
  EXPECT_EQ(row("best accuracy, any network at all"), "100.00 %");
  EXPECT_EQ(row("groups that 1-WL confuses"), "2");
}

}  // namespace
}  // namespace tyche::inspect
