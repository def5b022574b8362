#include "report/distinguish_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>

#include "distinguish/summary.hpp"
#include "support/error.hpp"
#include "support/share.hpp"

namespace tyche::report {

namespace {

using distinguish::KnownPair;
using distinguish::PairResult;

CategoryRow count(const DistinguishResults& results, std::string name,
                  const std::function<bool(const KnownPair&)>& which) {
  CategoryRow row;
  row.name = std::move(name);
  row.told.resize(results.begun);
  row.controls.resize(results.begun);
  for (std::size_t i = 0; i < results.pairs(); ++i) {
    const KnownPair& pair = results.run.origin.pairs[i];
    if (!which(pair)) continue;
    ++row.pairs;
    row.one += pair.refined.one ? 1 : 0;
    row.two += pair.refined.two.value_or(false) ? 1 : 0;
    row.leaves += pair.refined.leaf == wl::LeafVerdict::different ? 1 : 0;
    for (std::size_t s = 0; s < results.begun; ++s) {
      const std::optional<PairResult>& result = results.of_pair[i][s];
      if (!result) continue;
      row.told[s] += result->verdict.told_apart ? 1 : 0;
      row.controls[s] += result->control.told_apart ? 1 : 0;
    }
  }
  return row;
}

/// Whether the pairs are those of all files of BREC, by names and numbers.
bool is_brec(const std::vector<KnownPair>& pairs) {
  std::size_t at = 0;
  for (const distinguish::BrecFile& file : distinguish::brec_files()) {
    for (std::uint32_t i = 0; i < file.pairs; ++i, ++at) {
      if (at >= pairs.size() || pairs[at].name != fmt::format("{}:{}", file.stem, i)) return false;
    }
  }
  return at == pairs.size();
}

std::vector<PublishedTotal> read_published() {
  const auto [file, text] = shared_file("experiments/published/brec.csv");
  std::vector<PublishedTotal> out;
  std::size_t line = 0;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::vector<std::string> cells(1);
    for (const char c : text.substr(begin, end - begin)) {
      if (c == ',' && cells.size() < 4) {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    begin = end + 1;
    if (line == 0) continue;  // the head
    PublishedTotal entry;
    const auto number = [&](const std::string& cell) {
      return std::from_chars(cell.data(), cell.data() + cell.size(), entry.total).ec == std::errc();
    };
    if (cells.size() != 4 || !number(cells[1])) {
      throw InputError::at(file, fmt::format("line {}", line + 1), "expected model,total,random,note");
    }
    entry.model = cells[0];
    entry.random = cells[2] == "yes";
    entry.note = cells[3];
    out.push_back(std::move(entry));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const PublishedTotal& a, const PublishedTotal& b) { return a.total > b.total; });
  return out;
}

}  // namespace

std::vector<std::size_t> DistinguishResults::failures_first() const {
  const auto place = [&](std::size_t pair) {
    bool missing = false;
    for (const std::optional<PairResult>& result : of_pair[pair]) {
      if (!result) {
        missing = true;
      } else if (!result->verdict.told_apart || result->control.told_apart) {
        return 0;
      }
    }
    return missing ? 1 : 2;
  };
  std::vector<std::size_t> order(pairs());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  return order;
}

std::string beside_published(const DistinguishResults& results) {
  const bool exact = results.run.settings.scoring == distinguish::Scoring::exact;
  return fmt::format(
      "Published totals were counted by BREC's released test, each with the threshold of its authors; those of this "
      "run by {}. {}",
      exact ? "the exact one" : "the released one, too, as this program carries it out",
      exact ? "They do not measure the same thing: docs/brec.md says what differs."
            : "docs/brec.md says what is wrong with that test.");
}

DistinguishResults load_distinguish(const std::filesystem::path& folder) {
  DistinguishResults results;
  results.folder = folder;
  results.run = distinguish::load_run(folder);
  const distinguish::Settings& settings = results.run.settings;
  const std::vector<KnownPair>& pairs = results.run.origin.pairs;
  results.begun = 1;
  for (std::uint32_t i = 0; i < settings.seeds; ++i) results.seeds.push_back(settings.config.seed + i);
  results.of_pair.assign(pairs.size(), std::vector<std::optional<PairResult>>(results.seeds.size()));
  for (const PairResult& result : results.run.results) {
    const std::uint64_t seed = result.seed - settings.config.seed;
    if (seed >= results.seeds.size()) continue;
    results.of_pair[result.pair][seed] = result;
    results.begun = std::max<std::size_t>(results.begun, seed + 1);
  }
  results.test = distinguish::test_in_words(settings, pairs.size());
  for (const auto& call : results.run.log) results.seconds += call.value("seconds", 0.0);
  results.brec = is_brec(pairs);

  std::vector<std::string> names;
  for (const KnownPair& pair : pairs) {
    if (!pair.category.empty() && std::find(names.begin(), names.end(), pair.category) == names.end()) {
      names.push_back(pair.category);
    }
  }
  for (const std::string& name : names) {
    results.rows.push_back(count(results, name, [&](const KnownPair& pair) { return pair.category == name; }));
  }
  if (results.brec) {
    results.rows.push_back(count(results, "Regular, as published", [](const KnownPair& pair) {
      return pair.category == "Regular" || pair.category == "4-vertex" || pair.category == "distance-regular";
    }));
    results.published = read_published();
  }
  results.rows.push_back(count(results, "all", [](const KnownPair&) { return true; }));
  return results;
}

}  // namespace tyche::report
