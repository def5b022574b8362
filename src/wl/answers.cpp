#include "wl/answers.hpp"

namespace tyche::wl {

using Json = nlohmann::ordered_json;

Json to_json(const Comparison& answer) {
  return {{"distinguished", answer.distinguished},
          {"round", answer.round ? Json(*answer.round) : Json()},
          {"stable_after", answer.stable_after ? Json(*answer.stable_after) : Json()},
          {"classes", answer.classes}};
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
