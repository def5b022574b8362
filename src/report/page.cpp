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

using Replacement = std::pair<std::string_view, std::string_view>;

/// Every text on the left becomes what stands on its right; what that brings in stays.
std::string replaced(std::string_view text, const std::vector<Replacement>& table) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const auto own = std::ranges::find_if(table, [&](const Replacement& each) { return rest.starts_with(each.first); });
    out += own == table.end() ? rest.substr(0, 1) : own->second;
    at += own == table.end() ? 1 : own->first.size();
  }
  return out;
}

Cells escaped(Cells cells, std::string (*escape)(const std::string&)) {
  for (std::string& cell : cells) cell = escape(cell);
  return cells;
}

}  // namespace

std::string markdown_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\`*_{}[]<>|").find(c) != std::string_view::npos) out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string latex_text(const std::string& text) {
  return replaced(text, {{"\\", "\\textbackslash{}"},
                         {"~", "\\textasciitilde{}"},
                         {"^", "\\textasciicircum{}"},
                         {"&", "\\&"},
                         {"%", "\\%"},
                         {"$", "\\$"},
                         {"#", "\\#"},
                         {"_", "\\_"},
                         {"{", "\\{"},
                         {"}", "\\}"},
                         {"\n", " "},
                         {"±", "$\\pm$"},
                         {"²", "$^2$"},
                         {"–", "--"},
                         {"×", "$\\times$"}});
}

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  return "\"" + replaced(text, {{"\"", "\"\""}}) + "\"";
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
  return std::string(template_text.substr(0, at)) +
         replaced(
             json,
             {{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}, {"\u2028", "\\u2028"}, {"\u2029", "\\u2029"}}) +
         std::string(template_text.substr(at + kMark.size()));
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
