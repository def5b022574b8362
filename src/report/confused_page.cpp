#include "report/confused_page.hpp"

#include <fmt/format.h>

#include "report/packed.hpp"
#include "report/page.hpp"
#include "support/file.hpp"
#include "support/machine.hpp"
#include "support/version.hpp"

namespace tyche::report {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

nlohmann::ordered_json confused_page_data(const ConfusedPairs& page) {
  Json json = {{"version", kVersion}, {"made", utc_now()}, {"command", page.command}, {"shows", "confused"},
               {"title", page.title}, {"lead", page.lead}, {"notes", page.notes}};
  json["rows"] = json["pairs"] = Json::array();
  for (const SummaryRow& row : page.rows) json["rows"].push_back({row.name, row.value, row.note});
  std::size_t too_large = 0;
  for (const ConfusedPair& pair : page.pairs) {
    if (!can_pack(pair.first.graph, pair.second.graph)) {
      ++too_large;
      continue;
    }
    Json packed = pack_pair(fmt::format("{}, {}", pair.first.name, pair.second.name), pair.first, pair.second);
    packed["caption"] = pair.caption;
    json["pairs"].push_back(std::move(packed));
  }
  json["too_large"] = too_large;
  return json;
}

void write_confused_pairs_page(const std::filesystem::path& path, const ConfusedPairs& page) {
  write_file(path, fill_page(page_template(), confused_page_data(page)));
}

}  // namespace tyche::report
