#include "wl/answers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/error.hpp"

namespace tyche::wl {

using Json = nlohmann::ordered_json;

std::uint32_t depth_of(const Said& said, const char* name, std::uint64_t least) {
  const nlohmann::json& own = said.value(name);
  if (own.is_null() || own == "leaf") return kLeaf;
  if (own.is_number_unsigned() && own.get<std::uint64_t>() >= least) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(own.get<std::uint64_t>(), kLeaf));
  }
  throw InputError(fmt::format("{}: expected a whole number from {} on, or leaf; found {}", name, least, own.dump()));
}

AskedTest::AskedTest(const Said& said) {
  const unsigned dim = said.small("dim", 1, 3).value_or(1);
  refining.dim = dim;
  name = fmt::format("{}-WL", dim);
  unit = dim == 1 ? "nodes" : fmt::format("{}-tuples", dim);
  if (const auto space = said.text("space")) {
    refining = space_test(*space, said.small("distance_cut", 1, 1000000));
    name = *space == "folklore" ? "2-WL"
           : *space == "rooted" ? "refinement of rooted pairs"
                                : "local refinement of pairs";
    unit = "pairs";
  }
  refining.threads = said.threads();
  if (const auto on = said.text("sets")) {
    const std::string two = said.text("two_sets").value_or("edges");
    if (two != "edges" && two != "all") {
      throw InputError(fmt::format("two_sets: expected edges or all, found '{}'", two));
    }
    if (*on == "1-2-3") {
      sets = hierarchy(two == "all" ? SetChoice::all : SetChoice::connected);
      name = fmt::format("refinement of nodes, {}, connected 3-sets", two == "all" ? "2-sets" : "edges");
    } else if (*on == "2" || *on == "3") {
      sets = SetTest{{{*on == "2" ? 2u : 3u, SetChoice::all}}, false};
      name = fmt::format("refinement of {}-sets", *on);
    } else {
      throw InputError(fmt::format("sets: expected \"2\", \"3\" or \"1-2-3\", found '{}'", *on));
    }
    unit = "sets";
  }
  if (!said.says("individualise")) return;
  paths.emplace();
  paths->depth = depth_of(said, "individualise", 1);
  paths->draws = said.small("draws", 1, 1000000000).value_or(paths->draws);
  paths->seed = said.whole("seed").value_or(paths->seed);
  if (const auto cell = said.text("cell")) paths->cell = parse_cell(*cell);
}

std::variant<Comparison, LeafComparison> AskedTest::compare(const Graph& a, const Graph& b, unsigned threads,
                                                            std::uint32_t i, std::uint32_t j) const {
  if (paths) return compare_leaves(a, b, *paths, i, j);
  if (sets) return compare_sets(a, b, *sets, threads);
  Options options = refining;
  options.threads = threads;
  return wl::compare(a, b, options);
}

Json to_json(const Comparison& answer) {
  return {{"distinguished", answer.distinguished},
          {"round", answer.round ? Json(*answer.round) : Json()},
          {"stable_after", answer.stable_after ? Json(*answer.stable_after) : Json()},
          {"classes", answer.classes}};
}

Json to_json(const Grouping& grouping) {
  return {{"graphs", grouping.group.size()},
          {"groups", grouping.groups},
          {"group", grouping.group},
          {"stable_after", grouping.stable_after},
          {"classes", grouping.classes}};
}

Json to_json(const LeafComparison& answer) {
  return {{"distinguished", answer.verdict == LeafVerdict::different},
          {"verdict", name(answer.verdict)},
          {"places", answer.places},
          {"draws", answer.draws}};
}

Json to_json(const Survey& survey, Node nodes) {
  Json json = {{"nodes", nodes},
               {"draws", survey.draws},
               {"distinct", survey.distinct},
               {"discrete", survey.discrete},
               {"depth", {{"least", survey.least_depth}, {"mean", survey.mean_depth}, {"most", survey.most_depth}}},
               {"tree", nullptr}};
  if (survey.tree) json["tree"] = {{"leaves", survey.tree->leaves}, {"distinct", survey.tree->distinct}};
  return json;
}

}  // namespace tyche::wl
