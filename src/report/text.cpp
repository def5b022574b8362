#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <utility>

#include "report/tables.hpp"

namespace tyche::report {

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

std::string markdown_row(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string markdown_head(const std::vector<std::string>& cells) {
  std::string text = markdown_row(cells) + "|";
  for (std::size_t i = 0; i < cells.size(); ++i) text += "---|";
  return text + "\n";
}

std::string latex_table(const std::string& columns, const std::vector<std::string>& head,
                        const std::vector<std::vector<std::string>>& rows) {
  std::string text =
      fmt::format("\\begin{{tabular}}{{{}}}\n\\toprule\n{} \\\\\n\\midrule\n", columns, fmt::join(head, " & "));
  for (const std::vector<std::string>& row : rows) text += fmt::format("{} \\\\\n", fmt::join(row, " & "));
  return text + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace tyche::report
