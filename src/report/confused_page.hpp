#pragma once
/// A page of pairs of graphs that something takes for equal (colour refinement, say), under a summary in words and a
/// table: what `tyche inspect --page` shows. Pairs are drawn and refined by the page when somebody looks at one.
///
///   ConfusedPairs page;
///   page.title = "MUTAG: what 1-WL cannot tell apart";
///   page.lead = "Message passing cannot see everything here.";
///   page.rows = {{"graphs", "188", ""}, {"best accuracy of any 1-WL network", "97.9 %", "node types included"}};
///   page.pairs.push_back({{"graph 3", a}, {"graph 8", b}, "Labels 0 and 1."});
///   page.command = "tyche inspect --data MUTAG --page out.html";
///   write_confused_pairs_page("out.html", page);
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/viewer.hpp"

namespace tyche::report {

struct SummaryRow {
  std::string name;
  std::string value;
  std::string note;  ///< beside the value; may be empty
};

struct ConfusedPair {
  NamedGraph first, second;
  std::string caption;  ///< what is known of the two, in a sentence
};

struct ConfusedPairs {
  std::string title;
  std::string lead;                ///< the answer, in a sentence or two
  std::vector<std::string> notes;  ///< what follows for training, a sentence or two each
  std::vector<SummaryRow> rows;    ///< may be empty, and so may the pairs
  std::vector<ConfusedPair> pairs;
  std::string command;  ///< that made the page
};

/// What the page shows (web/src/confused.ts). Pairs with a graph of more than kMaxPackedNodes nodes (packed.hpp) are
/// left out; `too_large` says how many.
[[nodiscard]] nlohmann::ordered_json confused_page_data(const ConfusedPairs& page);

/// One file without references to anything outside it. Throws as page_template() does, and IoError.
void write_confused_pairs_page(const std::filesystem::path& path, const ConfusedPairs& page);

}  // namespace tyche::report
