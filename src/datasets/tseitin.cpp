#include "datasets/tseitin.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "datasets/base_classes.hpp"
#include "datasets/folds.hpp"
#include "datasets/tseitin_formula.hpp"
#include "support/error.hpp"

namespace tyche::datasets {

namespace {

void check_base_nodes(Node nodes) {
  if (nodes % 2 != 0) {
    throw InputError(fmt::format("base graphs of {} nodes: a cubic graph has an even number of them", nodes));
  }
  if (nodes < 4 || nodes > kMaxBaseNodes) {
    throw InputError(
        fmt::format("base graphs of {} nodes are out of range: even numbers from 4 (the smallest simple "
                    "cubic graph) to {}",
                    nodes, kMaxBaseNodes));
  }
}

/// The same formula with variables, disjunctions and the literals of variables exchanged at random.
Formula shuffled(const Formula& formula, Stream& stream) {
  std::vector<Literal> name(formula.variables);
  std::iota(name.begin(), name.end(), 1);
  shuffle(name, stream);
  for (Literal& literal : name) literal = stream.coin() ? -literal : literal;
  Formula out = formula;
  for (Disjunction& disjunction : out.disjunctions) {
    for (Literal& literal : disjunction) {
      const Literal renamed = name[static_cast<std::size_t>(std::abs(literal)) - 1];
      literal = literal > 0 ? renamed : -renamed;
    }
  }
  shuffle(out.disjunctions, stream);
  return out;
}

}  // namespace

std::vector<Node> parse_base_nodes(std::string_view text) {
  const auto number = [&](std::string_view part) {
    Node value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size()) {
      throw InputError(
          fmt::format("base nodes '{}': expected even numbers (say 12, or 4,6,8) or a range MIN:MAX (say 4:10)", text));
    }
    check_base_nodes(value);
    return value;
  };
  std::vector<Node> out;
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    const Node least = number(text.substr(0, colon));
    const Node most = number(text.substr(colon + 1));
    if (least > most) {
      throw InputError(fmt::format("base nodes '{}': the range is empty, since {} is more than {}", text, least, most));
    }
    for (Node nodes = least; nodes <= most; nodes += 2) out.push_back(nodes);
    return out;
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    out.push_back(number(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return out;
}

std::string base_nodes_text(const std::vector<Node>& sizes) { return fmt::format("{}", fmt::join(sizes, ",")); }

void check(const TseitinParameters& parameters) {
  if (parameters.pairs == 0 || parameters.pairs > 0x7fffffffu) {
    throw InputError(fmt::format("{} pairs are out of range: 1 to 2147483647", parameters.pairs));
  }
  if (parameters.base_nodes.empty()) throw InputError("no number of base nodes was given");
  for (const Node nodes : parameters.base_nodes) check_base_nodes(nodes);
  if (!parameters.planar_sizes.empty()) check_planar_sizes(parameters.planar_sizes);
  if (parameters.unseen == 1)
    throw InputError("one fold has no base graphs in common with others; ask for two or more");
  if (parameters.unseen > parameters.pairs) {
    throw InputError(fmt::format("{} folds were asked for, but there are {} pairs; ask for fewer folds or more pairs",
                                 parameters.unseen, parameters.pairs));
  }
}

TseitinMaker::TseitinMaker(TseitinParameters parameters) : parameters_(std::move(parameters)) {
  check(parameters_);
  if (parameters_.unseen > 0) classes_.emplace(parameters_.base_nodes, parameters_.unseen, parameters_.seed);
}

TseitinPair TseitinMaker::make(std::uint64_t index) const {
  const TseitinParameters& p = parameters_;
  Stream stream(derive_key(p.seed, Purpose::tseitin_pair, static_cast<std::uint32_t>(index)));
  TseitinPair out;
  Graph base;
  // The rarest fold met in practice has one class in some hundreds; a million draws are minutes, so the end is only for
  // what cannot be.
  for (int draws = 0;; ++draws) {
    out.base_nodes = p.base_nodes[stream.below(p.base_nodes.size())];
    base = random_cubic(out.base_nodes, stream);
    out.base_class = class_of(base);
    if (!classes_ || classes_->fold_of(out.base_class) == contiguous_fold(index, p.pairs, p.unseen)) break;
    if (draws == 1000000) throw Error(fmt::format("no base graph for pair {} in a million draws", index));
  }
  std::vector<bool> charges(base.num_nodes(), false);
  const Formula even = tseitin_formula(base, charges);
  charges[stream.below(charges.size())] = true;
  const Formula odd = tseitin_formula(base, charges);
  out.sat = shuffled(even, stream);
  out.unsat = shuffled(odd, stream);
  if (!p.has_planar_part()) return out;
  const Formula part = draw_planar_part(p.planar_sizes, p.planar_source, index, stream);
  out.sat = conjunction_of_disjoint(out.sat, part);
  out.unsat = conjunction_of_disjoint(out.unsat, part);
  return out;
}

}  // namespace tyche::datasets
