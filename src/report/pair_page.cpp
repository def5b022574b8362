#include "report/pair_page.hpp"

#include "report/page.hpp"
#include "support/machine.hpp"
#include "support/version.hpp"

namespace tyche::report {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

nlohmann::ordered_json pair_page_data(const NamedGraph& first, const NamedGraph& second, std::string_view command) {
  Json json = {{"version", kVersion}, {"made", utc_now()}, {"command", command}, {"shows", "pair"}};
  json["log"] = json["experiments"] = Json::array();
  Json set = {{"name", "two graphs"}, {"graphs", 2}, {"paired", false}};
  set["pairs"].push_back(view_two(first, second));
  json["data"].push_back(std::move(set));
  return json;
}

std::string pair_page(const NamedGraph& first, const NamedGraph& second, std::string_view command) {
  const Json data = pair_page_data(first, second, command);
  return fill_page(page_template(), data);
}

}  // namespace tyche::report
