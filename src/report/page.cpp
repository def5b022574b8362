#include "report/page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "support/error.hpp"
#include "support/file.hpp"
#include "support/machine.hpp"
#include "support/share.hpp"
#include "support/version.hpp"
#include "train/fields.hpp"

namespace tyche::report {

namespace {

constexpr std::string_view kMark = "\"tyche-data-goes-here\"";

Cells escaped(Cells cells, std::string (*escape)(const std::string&)) {
  for (std::string& cell : cells) cell = escape(cell);
  return cells;
}

}  // namespace

std::string markdown_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += ' ';
      continue;
    }
    if (std::string_view("\\`*_{}[]<>|").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string latex_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\textbackslash{}";
        break;
      case '~':
        out += "\\textasciitilde{}";
        break;
      case '^':
        out += "\\textasciicircum{}";
        break;
      case '&':
      case '%':
      case '$':
      case '#':
      case '_':
      case '{':
      case '}':
        out += '\\';
        [[fallthrough]];
      default:
        out += c == '\n' ? ' ' : c;
    }
  }
  constexpr std::pair<std::string_view, std::string_view> kBeyond[] = {
      {"±", "$\\pm$"}, {"²", "$^2$"}, {"–", "--"}, {"×", "$\\times$"}};
  for (const auto& [from, to] : kBeyond) {
    for (std::size_t at = out.find(from); at != std::string::npos; at = out.find(from, at + to.size())) {
      out.replace(at, from.size(), to);
    }
  }
  return out;
}

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string markdown_table(const Cells& head, const std::vector<Cells>& rows) {
  const auto line = [](const Cells& cells) {
    return fmt::format("| {} |\n", fmt::join(escaped(cells, markdown_text), " | "));
  };
  std::string text = line(head) + "|";
  for (std::size_t i = 0; i < head.size(); ++i) text += "---|";
  text += "\n";
  for (const Cells& row : rows) text += line(row);
  return text;
}

std::string latex_table(const std::string& columns, const Cells& head, const std::vector<Cells>& rows) {
  const auto line = [](const Cells& cells) {
    return fmt::format("{} \\\\\n", fmt::join(escaped(cells, latex_text), " & "));
  };
  std::string text = fmt::format("\\begin{{tabular}}{{{}}}\n\\toprule\n{}\\midrule\n", columns, line(head));
  for (const Cells& row : rows) text += line(row);
  return text + "\\bottomrule\n\\end{tabular}\n";
}

Json settings_list(const train::RunConfig& config, const std::vector<std::string_view>& without) {
  Json json = Json::array();
  for (const train::Field& field : train::fields()) {
    const bool left_out =
        std::ranges::any_of(without, [&](std::string_view prefix) { return field.key.starts_with(prefix); });
    if (left_out || (field.unused && !field.unused(config).empty())) continue;
    json.push_back({field.key, field.value(config), field.comment});
  }
  return json;
}

Json page_head(std::string_view shows, std::string_view command) {
  Json json = {{"version", kVersion}, {"made", utc_now()}, {"command", command}};
  if (!shows.empty()) json["shows"] = shows;
  return json;
}

std::string fill_page(std::string_view template_text, const Json& data) {
  const std::size_t at = template_text.find(kMark);
  if (at == std::string_view::npos) {
    throw InputError("the report's template lacks the place for the data; build or install the program again");
  }
  // Bytes that are no UTF-8 (a file name can hold any) become U+FFFD.
  const std::string json = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string out(template_text.substr(0, at));
  for (std::size_t i = 0; i < json.size(); ++i) {
    switch (json[i]) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        if (json.compare(i, 3, "\u2028") == 0 || json.compare(i, 3, "\u2029") == 0) {
          out += json.compare(i, 3, "\u2028") == 0 ? "\\u2028" : "\\u2029";
          i += 2;
        } else {
          out += json[i];
        }
    }
  }
  out += template_text.substr(at + kMark.size());
  return out;
}

std::string page_template() {
  constexpr const char* kPage = "report.html";
  if (!has_shared_file(kPage)) {
    throw IoError(
        "report.html, the page, is missing: it is built with Node (Debian: apt-get install nodejs npm, then build "
        "again); tables in Markdown, CSV and LaTeX need none of it");
  }
  return shared_file(kPage).text;
}

void write_page(const std::filesystem::path& path, const Json& data) {
  write_file(path, fill_page(page_template(), data));
}

}  // namespace tyche::report
