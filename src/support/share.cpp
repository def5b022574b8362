#include "support/share.hpp"

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "support/error.hpp"
#include "support/file.hpp"

namespace tyche {

namespace {

/// The folder that TYCHE_SHARE names, where it names one.
std::optional<std::filesystem::path> named_folder() {
  const char* named = std::getenv("TYCHE_SHARE");
  if (named == nullptr || *named == '\0') return std::nullopt;
  if (!std::filesystem::is_directory(named)) throw IoError("TYCHE_SHARE is '{}', which is no folder", named);
  return named;
}

std::string built_in(std::string_view name) {
  const std::span<const EmbeddedFile> files = embedded_files();
  const auto file = std::ranges::find(files, name, &EmbeddedFile::name);
  if (file == files.end()) throw IoError("{}: this build carries no such file", name);
  return std::string(file->text);
}

}  // namespace

bool has_shared_file(const std::string& name) {
  if (const auto folder = named_folder()) return std::filesystem::is_regular_file(*folder / name);
  return std::ranges::count(embedded_files(), std::string_view(name), &EmbeddedFile::name) > 0;
}

std::string filled(std::string_view name, const std::map<std::string, std::string>& values) {
  std::string text = built_in(name);
  for (const auto& [mark, value] : values) boost::replace_all(text, mark, value);
  return text;
}

SharedFile shared_file(const std::string& name) {
  if (const auto folder = named_folder()) return {(*folder / name).string(), read_file(*folder / name)};
  return {name, built_in(name)};
}

std::vector<std::string> shared_files(const std::string& folder) {
  std::vector<std::string> names;
  if (const auto named = named_folder()) {
    for (const std::string& name : list_folder(*named / folder)) {
      if (std::filesystem::is_regular_file(*named / folder / name)) names.push_back(name);
    }
    return names;
  }
  for (const EmbeddedFile& file : embedded_files()) {
    std::string_view name = file.name;
    if (!name.starts_with(folder) || name.substr(folder.size()).substr(0, 1) != "/") continue;
    name.remove_prefix(folder.size() + 1);
    if (name.find('/') == std::string_view::npos) names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace tyche
