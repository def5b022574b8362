#include "support/seal.hpp"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "support/error.hpp"
#include "support/file.hpp"
#include "support/intern.hpp"

namespace tyche {

namespace {

constexpr std::string_view kMember = "\"check\"";
constexpr std::string_view kComment = "# check ";
constexpr std::string_view kBlank = " \n";
constexpr std::size_t kDigits = 16;

std::string_view without_blanks_behind(std::string_view text) {
  const std::size_t last = text.find_last_not_of(kBlank);
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

/// Takes `what` off the front, blanks before it too.
bool take(std::string_view& text, std::string_view what) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

/// A text up to its checksum, and that.
struct Sealed {
  std::string_view content;
  std::string_view digits;
};

bool all_digits(std::string_view text) {
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::optional<Sealed> json_parts(std::string_view text) {
  const std::size_t at = text.rfind(kMember);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view content = without_blanks_behind(text.substr(0, at));
  if (!content.ends_with(',')) return std::nullopt;
  content.remove_suffix(1);
  std::string_view rest = text.substr(at + kMember.size());
  if (!take(rest, ":") || !take(rest, "\"")) return std::nullopt;
  const std::string_view digits = rest.substr(0, kDigits);
  rest.remove_prefix(digits.size());
  if (!all_digits(digits) || !take(rest, "\"") || !take(rest, "}") || !without_blanks_behind(rest).empty()) {
    return std::nullopt;
  }
  return Sealed{content, digits};
}

std::optional<Sealed> toml_parts(std::string_view text) {
  if (!text.ends_with('\n')) return std::nullopt;
  text.remove_suffix(1);
  const std::size_t line = text.rfind('\n') + 1;  // 0 where there is one line
  if (!text.substr(line).starts_with(kComment)) return std::nullopt;
  const std::string_view digits = text.substr(line + kComment.size());
  if (!all_digits(digits)) return std::nullopt;
  return Sealed{text.substr(0, line), digits};
}

bool fits(const Sealed& sealed) { return sealed.digits == fmt::format("{:016x}", hash_bytes(sealed.content)); }

}  // namespace

std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t hash = mix(bytes.size());
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, 8);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 32;
  }
  for (; at < bytes.size(); ++at) hash = (hash ^ static_cast<unsigned char>(bytes[at])) * 0x100000001b3ull;
  return mix(hash);
}

std::string json_seal(std::uint64_t before, std::string_view between) {
  return fmt::format(",{}{}:{}\"{:016x}\"", between, kMember, between.empty() ? "" : " ", before);
}

std::string seal_json(std::string text) {
  const std::size_t brace = text.rfind('}');
  if (brace == std::string::npos) throw Error("only a JSON object can be sealed");
  const std::string_view content = without_blanks_behind(std::string_view(text).substr(0, brace));
  // Indented as the first member is.
  const std::size_t first = text.find('"');
  const bool indented = content.size() != brace && first != std::string::npos;
  const std::string between = indented ? text.substr(1, first - 1) : "";
  const std::string seal = json_seal(hash_bytes(content), between);
  text.insert(content.size(), seal);
  return text;
}

void write_sealed(const std::filesystem::path& path, std::string text) {
  text = seal_json(std::move(text));
  if (!std::filesystem::exists(path) || read_file(path) != text) write_file(path, text);
}

std::string seal_toml(std::string text) {
  const std::uint64_t hash = hash_bytes(text);
  return std::move(text) + fmt::format("{}{:016x}\n", kComment, hash);
}

void check_torn_line(std::string_view rest, std::string_view name, std::string_view place) {
  if (rest.empty()) return;
  const std::optional<Sealed> sealed = json_parts(rest.substr(0, rest.size() - 1));
  if (!sealed || !fits(*sealed)) return;
  throw InputError::at(name, place, "is damaged: a newline became byte {:#04x}",
                       static_cast<unsigned char>(rest.back()));
}

void check_seal(std::string_view text, std::string_view name, std::string_view place) {
  std::optional<Sealed> sealed = toml_parts(text);
  if (!sealed) sealed = json_parts(text);
  if (!sealed || fits(*sealed)) return;
  throw InputError::at(name, place,
                       "is damaged: its checksum does not fit what it says (who changed it on purpose takes 'check' "
                       "out of it)");
}

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
