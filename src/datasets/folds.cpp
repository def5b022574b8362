#include "datasets/folds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "support/error.hpp"
#include "support/random.hpp"

namespace tyche::datasets {

namespace {

/// The graphs that stay together, ascending; of sets of millions each takes a few bytes.
class Groups {
 public:
  Groups(std::size_t graphs, std::span<const std::uint32_t> pairs) {
    std::vector<std::uint32_t> of_graph(graphs);
    std::unordered_map<std::uint32_t, std::uint32_t> seen;
    std::uint32_t count = 0;
    for (std::uint32_t g = 0; g < graphs; ++g) {
      of_graph[g] = pairs.empty() ? g : seen.try_emplace(pairs[g], count).first->second;
      count = std::max(count, of_graph[g] + 1);
    }
    first_.assign(count + std::size_t{1}, 0);
    for (const std::uint32_t u : of_graph) ++first_[u + 1];
    for (std::size_t u = 0; u < count; ++u) first_[u + 1] += first_[u];
    graphs_.resize(graphs);
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for (std::uint32_t g = 0; g < graphs; ++g) graphs_[next[of_graph[g]]++] = g;
  }
  [[nodiscard]] std::size_t size() const { return first_.size() - 1; }
  [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t u) const {
    return std::span(graphs_).subspan(first_[u], first_[u + 1] - first_[u]);
  }

 private:
  std::vector<std::uint32_t> first_, graphs_;
};

/// Units by kind (their labels, sorted), kinds in ascending order, each kind shuffled: dealt round robin from here,
/// folds differ by at most one unit in size and by at most one in each kind.
std::vector<std::uint32_t> dealing_order(const Groups& units, std::span<const int> labels, std::uint64_t seed) {
  std::map<std::vector<int>, std::vector<std::uint32_t>> kinds;
  std::vector<int> kind;
  for (std::uint32_t u = 0; u < units.size(); ++u) {
    kind.clear();
    for (const std::uint32_t g : units[u]) kind.push_back(labels[g]);
    std::sort(kind.begin(), kind.end());
    kinds[kind].push_back(u);
  }
  std::vector<std::uint32_t> order;
  std::uint32_t number = 0;
  for (auto& [own, members] : kinds) {
    Stream stream(derive_key(seed, Purpose::fold_shuffle, number++));
    shuffle(members, stream);
    order.insert(order.end(), members.begin(), members.end());
  }
  return order;
}

void append(std::vector<std::uint32_t>& list, std::span<const std::uint32_t> unit) {
  list.insert(list.end(), unit.begin(), unit.end());
}

}  // namespace

FoldScheme parse_fold_scheme(std::string_view name) {
  if (name == "contiguous") return FoldScheme::contiguous;
  if (name == "stratified") return FoldScheme::stratified;
  throw InputError("fold scheme '{}' is not known; expected contiguous or stratified", name);
}

std::string_view fold_scheme_name(FoldScheme scheme) {
  return scheme == FoldScheme::contiguous ? "contiguous" : "stratified";
}

std::uint32_t contiguous_fold(std::uint64_t unit, std::uint64_t units, std::uint32_t folds) {
  // The largest i with floor(i*U/k) <= unit, that is, with i*U < (unit + 1) * k.
  return static_cast<std::uint32_t>(((unit + 1) * folds - 1) / units);
}

std::vector<Fold> make_folds(std::span<const int> labels, std::span<const std::uint32_t> pairs,
                             const FoldOptions& options) {
  if (!pairs.empty() && pairs.size() != labels.size()) {
    throw InputError("{} pair numbers for {} graphs; expected one per graph or none", pairs.size(), labels.size());
  }
  if (options.folds == 0) throw InputError("0 folds asked; at least 1 is needed");
  if (!(options.validation >= 0 && options.validation < 1)) {
    throw InputError("a validation share of {} makes no sense; expected 0 or more and less than 1", options.validation);
  }
  const Groups units(labels.size(), pairs);
  if (units.size() < options.folds) {
    const std::string what = pairs.empty() ? fmt::format("{} graphs", labels.size())
                                           : fmt::format("{} pairs of graphs, which stay together", units.size());
    throw InputError("{} folds asked, but the data set has {}; ask for fewer folds or bring more graphs", options.folds,
                     what);
  }

  const bool contiguous = options.scheme == FoldScheme::contiguous;
  std::vector<std::uint32_t> order(units.size());
  std::iota(order.begin(), order.end(), 0u);
  if (!contiguous) order = dealing_order(units, labels, options.seed);

  std::vector<Fold> folds(options.folds);
  const bool alone = folds.size() == 1;
  for (std::size_t i = 0; i < folds.size(); ++i) {
    Fold& fold = folds[i];
    const std::size_t begin = i * units.size() / folds.size(), end = (i + 1) * units.size() / folds.size();
    std::vector<std::uint32_t> rest;
    for (std::size_t p = 0; p < order.size(); ++p) {
      const bool tests = contiguous ? p >= begin && p < end : p % folds.size() == i;
      if (tests && !alone) {
        append(fold.test, units[order[p]]);
      } else {
        rest.push_back(order[p]);
      }
    }
    // The tiny addend keeps 0.1 * 1080 from falling under 108 by rounding.
    const auto aside = static_cast<std::size_t>(options.validation * static_cast<double>(rest.size()) + 1e-9);
    std::vector<bool> set_aside(rest.size(), false);
    for (std::size_t j = 0; j < aside; ++j) {
      // Stratified: evenly spaced through the kinds, so that the part set aside has the data's mixture too.
      set_aside[contiguous ? (i * aside + j) % rest.size() : (2 * j + 1) * rest.size() / (2 * aside)] = true;
    }
    for (std::size_t j = 0; j < rest.size(); ++j) append(set_aside[j] ? fold.validation : fold.train, units[rest[j]]);
    if (fold.train.empty()) {
      throw InputError("fold {} has no graphs left to train on; set a smaller validation share", i);
    }
    if (alone) fold.test = fold.train;
    for (auto* list : {&fold.train, &fold.validation, &fold.test}) std::sort(list->begin(), list->end());
  }
  return folds;
}

}  // namespace tyche::datasets
