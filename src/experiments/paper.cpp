#include "experiments/paper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

#include "experiments/toml_reader.hpp"
#include "support/error.hpp"
#include "support/share.hpp"

namespace tyche::experiments {

namespace {

template <class Items>
auto find(const Items& items, std::string_view data, std::string_view subset, std::string_view model) {
  const auto found = std::ranges::find_if(
      items, [&](const auto& item) { return item.data == data && item.subset == subset && item.model == model; });
  return found == items.end() ? nullptr : &*found;
}

std::uint32_t take_epochs(Document& document, std::uint32_t otherwise) {
  const double epochs = document.take_number("epochs", otherwise);
  if (!(epochs >= 0 && epochs <= 1e9) || epochs != static_cast<std::uint32_t>(epochs)) {
    throw InputError::at(document.file, "epochs", fmt::format("expected a whole number, found {}", epochs));
  }
  return static_cast<std::uint32_t>(epochs);
}

std::vector<Printed> read_tables(const SharedFile& file) {
  std::vector<Printed> out;
  Document document = parse_document(file.text, file.name);
  std::vector<Document> tables = document.take_list("accuracy"), scores = document.take_list("score");
  for (Document& table : scores) {
    if (table.take_text("metric", "") != "mae")
      throw InputError::at(file.name, "[[score]]", "expected metric = \"mae\"");
  }
  const std::size_t accuracies = tables.size();
  std::move(scores.begin(), scores.end(), std::back_inserter(tables));
  for (std::size_t t = 0; t < tables.size(); ++t) {
    Document& table = tables[t];
    Printed common;
    if (t >= accuracies) common.metric = "mae";
    common.data = table.take_text("data", "");
    common.subset = table.take_text("subset", "all");
    common.where = table.take_text("where", "");
    common.epochs = take_epochs(table, 0);
    for (Document& row : table.take_list("rows")) {
      Printed& printed = out.emplace_back(common);
      printed.model = row.take_text("model", "");
      printed.mean = row.take_number("mean", -1);
      if (const double d = row.take_number("deviation", -1); d >= 0) printed.deviation = d;
      printed.epochs = take_epochs(row, common.epochs);
      row.expect_empty(std::array<std::string, 4>{"model", "mean", "deviation", "epochs"});
      if (printed.model.empty() || printed.mean < 0) throw InputError::at(file.name, "", "a row lacks model or mean");
    }
    table.expect_empty(std::array<std::string, 5>{"data", "subset", "where", "epochs", "rows"});
  }
  document.expect_empty(std::array<std::string, 2>{"accuracy", "score"});
  return out;
}

double number(std::string_view text, const std::string& file, std::size_t line) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw InputError::at(file, fmt::format("line {}", line), fmt::format("expected a number, found '{}'", text));
  }
  return value;
}

std::vector<PrintedCurve> read_curves(const SharedFile& file) {
  std::vector<PrintedCurve> out;
  std::size_t line_number = 0;
  for (std::size_t begin = 0; begin < file.text.size();) {
    const std::size_t end = std::min(file.text.find('\n', begin), file.text.size());
    const std::string_view line = std::string_view(file.text).substr(begin, end - begin);
    begin = end + 1;
    if (++line_number == 1 || line.empty()) continue;  // the header
    std::array<std::string_view, 5> cells;
    std::size_t at = 0;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::size_t comma = std::min(line.find(',', at), line.size());
      cells[c] = line.substr(std::min(at, line.size()), comma - std::min(at, line.size()));
      at = comma + 1;
    }
    if (at <= line.size() || cells[4].empty()) {
      throw InputError::at(file.name, fmt::format("line {}", line_number), "expected dataset,subset,model,epoch,value");
    }
    if (out.empty() || out.back().data != cells[0] || out.back().subset != cells[1] || out.back().model != cells[2]) {
      out.push_back({std::string(cells[0]), std::string(cells[1]), std::string(cells[2]), {}, {}});
    }
    out.back().epoch.push_back(number(cells[3], file.name, line_number));
    out.back().value.push_back(number(cells[4], file.name, line_number));
  }
  return out;
}

}  // namespace

const Printed* Paper::accuracy(std::string_view data, std::string_view subset, std::string_view model) const {
  return find(accuracies, data, subset, model);
}

const PrintedCurve* Paper::curve(std::string_view data, std::string_view subset, std::string_view model) const {
  return find(curves, data, subset, model);
}

Paper load_paper() {
  return {read_tables(shared_file("experiments/paper/tables.toml")),
          read_curves(shared_file("experiments/paper/curves.csv"))};
}

}  // namespace tyche::experiments
