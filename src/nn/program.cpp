#include "nn/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "nn/kinds.hpp"
#include "support/error.hpp"

namespace tyche::nn {

namespace {

bool is_set(Space space) { return set_size(space) > 0; }

// The ways that links lead, between sets of spaces (a bit each); into none: to the space itself.
constexpr unsigned bit(Space space) { return 1u << static_cast<unsigned>(space); }
namespace over {
constexpr unsigned kGraph = bit(Space::graph), kNode = bit(Space::node), kArc = bit(Space::arc),
                   kPair = bit(Space::pair), kEdge = bit(Space::edge), kRoot = bit(Space::root),
                   kSets = bit(Space::set2) | bit(Space::set3) | bit(Space::connected2) | bit(Space::connected3),
                   kPlain = kGraph | kNode | kArc | kPair | kEdge | kRoot;
}
struct Way {
  Link link;
  unsigned from, to;
};
constexpr Way kWays[] = {{Link::own, over::kPlain | over::kSets, 0},
                         {Link::neighbours, over::kNode | over::kSets, 0},
                         {Link::arcs, over::kArc, over::kNode},
                         {Link::members, over::kNode, over::kSets},
                         {Link::whole, (over::kPlain | over::kSets) & ~over::kGraph, over::kGraph},
                         {Link::whole, over::kGraph, over::kPlain & ~over::kGraph},
                         {Link::diagonal, over::kPair, over::kGraph},
                         {Link::rest, over::kPair, over::kGraph},
                         {Link::on_diagonal, over::kPair, over::kNode},
                         {Link::on_diagonal, over::kNode, over::kPair},
                         {Link::ends, over::kNode | over::kPair, over::kEdge},
                         {Link::second, over::kPair, 0},
                         {Link::first, over::kPair, 0},
                         {Link::by_root, over::kPair, over::kRoot},
                         {Link::by_root, over::kRoot, over::kPair},
                         {Link::by_node, over::kPair, over::kNode},
                         {Link::by_node, over::kNode, over::kPair},
                         {Link::straight, over::kPair, over::kArc},
                         {Link::turned, over::kPair, over::kArc},
                         {Link::sized, over::kPlain, 0}};

// Whether a row of `to` can read rows of `from` in this way.
bool joins(Link link, Space from, Space to) {
  return std::ranges::any_of(kWays, [&](const Way& way) {
    return way.link == link && (way.from & bit(from)) != 0 && (way.to == 0 ? from == to : (way.to & bit(to)) != 0);
  });
}

// One step against those before it.
class StepCheck {
 public:
  StepCheck(const Program& program, std::size_t at, std::set<std::size_t>& used, const Place& place)
      : program_(program), step_(program.steps[at]), at_(at), used_(used), place_(place) {}

  void run() const {
    if (step_.columns == 0) refuse("has no columns");
    check_terms();
    switch (step_.operation) {
      case Operation::input:
        return check_input();
      case Operation::linear:
        if (step_.bias != kNone) tensor(step_.bias, {step_.columns});
        return;
      case Operation::concat: {
        std::size_t columns = 0;
        for (const Term& term : step_.terms) columns += value(term.value).columns;
        return expect("columns of its values in all", columns, step_.columns);
      }
      case Operation::product:
        all_roots();
        expect("values", step_.terms.size(), 2);
        if (step_.space != Space::pair) refuse("multiplies values over pairs, and is over {}", name(step_.space));
        return same_columns();
      case Operation::aggregate:
        check_aggregate();
        [[fallthrough]];
      case Operation::normalise:
        if (step_.operation == Operation::normalise) check_norm();
        [[fallthrough]];
      case Operation::activate:
      case Operation::dropout:
        expect("values", step_.terms.size(), 1);
        if (!(step_.share >= 0 && step_.share < 1)) refuse("drops a share of {}, expected 0 to 1", step_.share);
        if (step_.operation == Operation::dropout) check_dropout();
        return same_columns();
      case Operation::add:
        return same_columns();
    }
  }

 private:
  template <class... T>
  [[noreturn]] void refuse(fmt::format_string<T...> text, T&&... values) const {
    throw InputError("{}step {} ({}, {}): {}", place_ ? place_(at_) : "network, ", at_, step_.name,
                     name(step_.operation), fmt::format(text, std::forward<T>(values)...));
  }
  void expect(std::string_view what, std::size_t found, std::size_t expected) const {
    if (found != expected) refuse("{}: found {}, expected {}", what, found, expected);
  }
  const Step& value(std::size_t index) const {
    if (index >= at_) refuse("reads step {}, which is not made before it", index);
    return program_.steps[index];
  }
  void tensor(std::size_t index, const std::vector<std::size_t>& shape) const {
    const auto& tensors = program_.parameters.tensors;
    if (index >= tensors.size()) refuse("has parameter {} of {}", index, tensors.size());
    if (tensors[index].shape != shape) {
      refuse("{} has the shape [{}], expected [{}]", tensors[index].name, fmt::join(tensors[index].shape, ", "),
             fmt::join(shape, ", "));
    }
    used_.insert(index);
  }
  void check_terms() const {
    if (step_.terms.empty() != (step_.operation == Operation::input)) refuse("reads {} values", step_.terms.size());
    const bool links = step_.operation == Operation::linear || step_.operation == Operation::aggregate;
    for (const Term& term : step_.terms) {
      const Step& read = value(term.value);
      if (!joins(term.link, read.space, step_.space) || (!links && term.link != Link::own)) {
        refuse("{} is over {}, from which no link '{}' leads to {}", read.name, name(read.space), name(term.link),
               name(step_.space));
      }
      if (term.link == Link::diagonal || term.link == Link::rest || term.link == Link::on_diagonal) all_roots();
      if (term.reduce == Reduce::max && (of_pairs(term.link) || read.space == Space::graph)) {
        refuse("what the link '{}' reads is summed or averaged", name(term.link));
      }
      if (step_.operation != Operation::linear) {
        if (term.weight != kNone && step_.operation != Operation::normalise) refuse("has no use for weights");
        continue;
      }
      tensor(term.weight, {step_.columns, read.columns});
      if (term.reduce == Reduce::max) refuse("sums or averages what it reads: a maximum is a step of its own");
    }
  }
  // Of what looks at every pair, by its place.
  void all_roots() const {
    for (const Step& other : program_.steps) {
      if (other.roots + other.eval_roots > 0) refuse("looks at all pairs, and {} draws roots", other.name);
    }
  }
  void check_norm() const {
    if (step_.norm == Norm::none) refuse("has no norm: expected batch or layer");
    if (is_set(step_.space)) refuse("is over {}: sets are not normalised", name(step_.space));
    tensor(step_.terms.front().weight, {step_.columns});
    tensor(step_.bias, {step_.columns});
    const bool batch = step_.norm == Norm::batch;
    if (!batch && (step_.mean != kNone || step_.variance != kNone)) refuse("by row has no running mean or variance");
    for (const std::size_t running : {step_.mean, step_.variance}) {
      if (batch) tensor(running, {step_.columns});
      if (batch && !program_.parameters.tensors[running].running) {
        refuse("{} is learned, and would be a running mean or variance", program_.parameters.tensors[running].name);
      }
    }
  }
  void check_input() const {
    if (step_.source == Source::adjacency) all_roots();
    if (step_.source == Source::distance && step_.columns < 2) refuse("has one column, expected at least 2");
    if (step_.source != Source::distance && step_.roots + step_.eval_roots > 0) refuse("draws no roots");
    const Space expected = space_of(step_.source);
    if (step_.source == Source::types ? !is_set(step_.space) : step_.space != expected) {
      refuse("{} are over {}, not {}", name(step_.source), name(expected), name(step_.space));
    }
    if (step_.source == Source::types) expect("types", step_.types.size(), step_.columns);
    if (step_.source == Source::drawn) {
      if (step_.random == Random::features) refuse("random features are an input of the source random");
      validate_depth(step_.random, step_.depth);
      expect("columns", step_.columns, drawn_columns(step_.random, step_.depth));
    }
    const bool random = step_.source == Source::random || step_.source == Source::drawn;
    for (std::size_t i = 0; i < at_; ++i) {
      const Step& other = program_.steps[i];
      if (other.operation != Operation::input) continue;
      if (other.source == step_.source && other.space == step_.space) refuse("there is such an input: {}", other.name);
      if (random && (other.source == Source::random || other.source == Source::drawn)) {
        refuse("beside {}: a network has random features, or marks or colours", other.name);
      }
    }
  }
  // Its numbers are drawn by graph and column.
  void check_dropout() const {
    if (step_.space != program_.steps.back().space) {
      refuse("is over {}, expected the space of the outputs, {}", name(step_.space), name(program_.steps.back().space));
    }
    for (std::size_t i = 0; i < at_; ++i) {
      if (program_.steps[i].operation == Operation::dropout) refuse("{} is the one dropout", program_.steps[i].name);
    }
  }
  void check_aggregate() const {
    const Term& term = step_.terms.front();
    if (step_.epsilon != kNone) tensor(step_.epsilon, {1});
    const bool more = (step_.epsilon != kNone && step_.onto == kNone) || step_.arcs != kNone;
    if (more && !along_arcs(term.link)) refuse("has an ε or arcs, and reads no neighbours");
    if ((more || step_.onto != kNone) && term.reduce == Reduce::max) refuse("adds to a maximum");
    if (step_.arcs != kNone && value(step_.arcs).space != Space::arc) refuse("{} is no value of arcs", step_.arcs);
    if (step_.onto != kNone && value(step_.onto).space != step_.space) refuse("begins with a value of another space");
    for (const std::size_t other : {step_.arcs, step_.onto}) {
      if (other != kNone) expect("columns of " + value(other).name, value(other).columns, step_.columns);
    }
  }
  void same_columns() const {
    for (const Term& term : step_.terms) {
      expect("columns of " + value(term.value).name, value(term.value).columns, step_.columns);
    }
  }

  const Program& program_;
  const Step& step_;
  std::size_t at_;
  std::set<std::size_t>& used_;
  const Place& place_;
};

}  // namespace

std::optional<Space> space_through(Link link, Space from) {
  const Way* taken = nullptr;  // the one from there, or else the last
  for (const Way& way : kWays) {
    if (way.link == link && (taken == nullptr || (taken->from & bit(from)) == 0)) taken = &way;
  }
  if (taken->to == 0) return from;
  if (!std::has_single_bit(taken->to)) return std::nullopt;
  return static_cast<Space>(std::countr_zero(taken->to));
}

Space space_of(Source source) {
  constexpr Space kOf[] = {Space::node, Space::node, Space::node, Space::arc, Space::set2, Space::pair, Space::pair};
  return kOf[static_cast<std::size_t>(source)];
}

Space space_of(Unit unit) {
  return unit == Unit::graph ? Space::graph : unit == Unit::node ? Space::node : Space::edge;
}

Unit unit_of(const Program& program) {
  const Space last = program.steps.back().space;
  return last == Space::node ? Unit::node : last == Space::edge ? Unit::edge : Unit::graph;
}

std::size_t set_size(Space space) {
  if (space == Space::set2 || space == Space::connected2) return 2;
  return space == Space::set3 || space == Space::connected3 ? 3 : 0;
}

std::string describe(const Step& step) {
  constexpr std::string_view kRows[] = {"itself",
                                        "neighbours",
                                        "arcs",
                                        "its nodes",
                                        "the whole graph",
                                        "pairs of a node",
                                        "the other pairs",
                                        "the diagonal",
                                        "its two ends",
                                        "neighbours in the second place",
                                        "neighbours in the first place",
                                        "pairs of a root",
                                        "pairs of a node",
                                        "the pair of its ends",
                                        "the pair of its ends, turned",
                                        "itself for every node"};
  std::string text(name(step.operation));
  if (step.operation == Operation::input) return fmt::format("{}: {}", text, name(step.source));
  if (step.operation == Operation::activate) return fmt::format("{}: {}", text, name(step.activation));
  if (step.operation == Operation::normalise) return fmt::format("{}: {}", text, name(step.norm));
  for (const Term& term : step.terms) {
    if (term.link == Link::own) continue;
    text += fmt::format(", {} over {}", name(term.reduce), kRows[static_cast<std::size_t>(term.link)]);
  }
  if (step.arcs != kNone) text += fmt::format(" of {}(row + arc)", name(step.activation));
  if (step.epsilon != kNone) text += step.onto == kNone ? " and (1 + ε) of itself" : " and (1 + ε) of another";
  return text;
}

bool normalises_batches(const Program& program) {
  return std::ranges::any_of(program.steps, [](const Step& step) { return step.norm == Norm::batch; });
}

Program program(const ModelConfig& config) {
  validate(config);
  return kind_of(config).program(config);
}

void validate(const Program& program, const Place& place) {
  if (program.steps.empty()) throw InputError("network: it has no steps");
  std::set<std::string_view> names;
  std::set<std::size_t> used;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    if (!names.insert(program.steps[i].name).second) {
      throw InputError("{}step {}: there is a step '{}' before it", place ? place(i) : "network, ", i,
                       program.steps[i].name);
    }
    StepCheck(program, i, used, place).run();
  }
  if (const Space last = program.steps.back().space;
      last != Space::graph && last != Space::node && last != Space::edge) {
    throw InputError("{}its last step, {}, gives the logits and is over {}, expected a row per graph, node or edge",
                     place ? place(program.steps.size() - 1) : "network: ", program.steps.back().name,
                     name(program.steps.back().space));
  }
  for (std::size_t t = 0; t < program.parameters.tensors.size(); ++t) {
    if (!used.contains(t)) {
      throw InputError("network: no step uses the parameter {}", program.parameters.tensors[t].name);
    }
  }
}

}  // namespace tyche::nn
