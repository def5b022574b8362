#include "support/json_log.hpp"

#include <fmt/format.h>

#include "support/error.hpp"
#include "support/file.hpp"
#include "support/seal.hpp"

namespace tyche {

namespace {

std::string whole_lines(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return {};
  std::string text = read_file(path);
  const std::size_t whole = text.rfind('\n') + 1;  // npos + 1 is 0
  check_torn_line(std::string_view(text).substr(whole), path.string(), "last line");
  text.resize(whole);
  return text;
}

}  // namespace

void append_entry(const std::filesystem::path& path, const nlohmann::ordered_json& entry) {
  LineLog log(path, whole_lines(path).size());
  log.append(seal_json(entry.dump()));
  log.sync();
}

std::vector<nlohmann::ordered_json> read_entries(const std::filesystem::path& path) {
  const std::string text = whole_lines(path);
  std::vector<nlohmann::ordered_json> entries;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    const std::string place = fmt::format("line {}", entries.size() + 1);
    check_seal(line, path.string(), place);
    auto entry = nlohmann::ordered_json::parse(line, nullptr, false);
    if (!entry.is_object()) throw InputError::at(path.string(), place, "expected a JSON object");
    entry.erase("check");
    entries.push_back(std::move(entry));
    begin = end + 1;
  }
  return entries;
}

}  // namespace tyche
