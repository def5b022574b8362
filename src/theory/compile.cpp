#include "theory/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "support/error.hpp"
#include "support/intern.hpp"
#include "theory/syntax.hpp"

namespace tyche::theory {
namespace {

constexpr std::size_t kFewCases = std::size_t{1} << 12, kMaxCases = std::size_t{1} << 18;
constexpr Variable kNoVariable = 255;

/// A Boolean expression over facts about x and y, E(x,y) and x = y.
using ExprId = std::uint32_t;
/// A fact about x: at least so many nodes y such that …
struct Count {
  std::uint32_t least;
  ExprId self;       ///< … this, where y is x (an expression over facts about x)
  ExprId edge;       ///< … this, where y is a neighbour of x
  ExprId other;      ///< … this, where y is neither
  FormulaId source;  ///< the first formula that became this fact, for people
};

/// C² formulas the way a network can compute them.
///
/// Seen from a node x, a formula of C² is a Boolean combination of facts about x alone (colours, and counts "at least k
/// nodes y such that …"). Under a quantifier it also speaks of y, of E(x,y) and of x = y; but of the last two only
/// three things can be true: y is x, y is a neighbour of x, or neither. Replacing E and = by their values in each case
/// leaves three Boolean combinations of facts about x and facts about y; that is all a count needs to keep.
///
/// Expressions are hash-consed and simplified as they are made (constants, doubles, complements, order of
/// operands, x-only conjuncts drawn out of quantifiers), so equal subformulas become one.
class NormalForm {
 public:
  enum class Op : std::uint16_t { no, yes, fact_x, fact_y, edge, equal, negation, all, any };
  /// What an expression speaks of. A sentence, the same at every node, speaks of neither x nor y.
  static constexpr std::uint16_t kX = 1, kY = 2, kEdge = 4, kEqual = 8;

  NormalForm(const FormulaPool& pool, Variable x, Variable y) : pool_(pool), x_(x), y_(y) {
    records_.intern({Op::no}, {});
    records_.intern({Op::yes}, {});
  }

  /// A formula in x and y, as seen with x in the first place. Requires no other variables.
  ExprId convert(FormulaId root) {
    // Which formulas are seen from where: below a quantifier over v, v is the second place. Marks run down the numbers,
    // conversion runs up them.
    std::vector<std::uint8_t> wanted(static_cast<std::size_t>(root) + 1, 0);
    wanted[root] = 1;
    for (FormulaId f = root + 1; f-- > 0;) {
      if (!wanted[f]) continue;
      const auto v = pool_.view(f);
      for (const FormulaId g : v.operands) {
        wanted[g] = static_cast<std::uint8_t>(wanted[g] | (!binds(v.kind) ? wanted[f] : v.a == y_ ? 1 : 2));
      }
    }
    for (auto& side : converted_) side.resize(std::max<std::size_t>(side.size(), wanted.size()), kKeep);
    for (FormulaId f = 0; f <= root; ++f) {
      for (unsigned side = 0; side < 2; ++side) {
        if (!(wanted[f] >> side & 1) || converted_[side][f] != kKeep) continue;
        const Variable first = side == 0 ? x_ : y_;
        const auto v = pool_.view(f);
        std::vector<ExprId> below;
        const unsigned inner = !binds(v.kind) ? side : v.a == y_ ? 0 : 1;
        for (const FormulaId g : v.operands) below.push_back(converted_[inner][g]);
        ExprId made = 0;
        switch (v.kind) {
          case Kind::truth:
            made = 1;
            break;
          case Kind::falsity:
            made = 0;
            break;
          case Kind::colour:
            made = fact(v.a == first, v.number, {});
            break;
          case Kind::edge:
            made = v.a == v.b ? 0 : records_.intern({Op::edge, kEdge}, {});  // graphs have no loops
            break;
          case Kind::equal:
            made = v.a == v.b ? 1 : records_.intern({Op::equal, kEqual}, {});
            break;
          case Kind::negation:
            made = negation(below[0]);
            break;
          case Kind::conjunction:
            made = combine(Op::all, std::move(below));
            break;
          case Kind::disjunction:
            made = combine(Op::any, std::move(below));
            break;
          case Kind::implication:
            made = combine(Op::any, {negation(below[0]), below[1]});
            break;
          case Kind::equivalence:
            made = combine(Op::any, {combine(Op::all, {below[0], below[1]}),
                                     combine(Op::all, {negation(below[0]), negation(below[1])})});
            break;
          case Kind::at_least:
          case Kind::for_all: {
            const bool universal = v.kind == Kind::for_all;
            made = quantify(universal ? 1 : v.number, universal ? negation(below[0]) : below[0], f);
            if (universal) made = negation(made);
            if (inner != side) made = x_to_y(made);  // what is left is about the variable that is second here
            break;
          }
        }
        converted_[side][f] = made;
      }
    }
    return converted_[0][root];
  }

  [[nodiscard]] Op op(ExprId e) const { return records_.head(e).op; }
  [[nodiscard]] std::uint16_t speaks_of(ExprId e) const { return records_.head(e).flags; }
  [[nodiscard]] std::span<const ExprId> operands(ExprId e) const { return records_.list(e); }
  /// Of a fact: R<colour>, or 0 where it is a count.
  [[nodiscard]] std::uint32_t colour_of(ExprId e) const { return operands(e).empty() ? records_.head(e).number : 0; }
  [[nodiscard]] Count count_of(ExprId e) const {
    return {records_.head(e).number, operands(e)[0], operands(e)[1], operands(e)[2], sources_.at(e)};
  }
  [[nodiscard]] static ExprId constant(bool value) { return value ? 1 : 0; }

  ExprId negation(ExprId e) {
    if (e <= 1) return 1 - e;
    if (op(e) == Op::negation) return operands(e)[0];
    return add(Op::negation, {&e, 1});
  }
  /// Of Op::all or Op::any.
  ExprId combine(Op op, std::vector<ExprId> operands) {
    const ExprId neutral = op == Op::all ? 1 : 0, absorbing = 1 - neutral;
    std::sort(operands.begin(), operands.end());
    operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
    std::erase(operands, neutral);
    if (std::binary_search(operands.begin(), operands.end(), absorbing)) return absorbing;
    for (const ExprId e : operands) {
      if (this->op(e) == Op::negation && std::binary_search(operands.begin(), operands.end(), this->operands(e)[0])) {
        return absorbing;
      }
    }
    if (operands.empty()) return neutral;
    return operands.size() == 1 ? operands[0] : add(op, operands);
  }
  /// e with facts about y turned into the same facts about x (what e says where y is x), or the reverse.
  ExprId y_to_x(ExprId e) { return rewrite(e, Rewrite{.y_to_x = true}); }
  ExprId x_to_y(ExprId e) { return rewrite(e, Rewrite{.x_to_y = true}); }
  /// e where the truth of `about_x`, an expression about x alone, is known.
  ExprId given(ExprId e, ExprId about_x, bool value) { return rewrite(e, Rewrite{.known = about_x, .value = value}); }
  /// The first fact about x in e; or, with `whole`, the first largest subexpression about x alone (without a negation
  /// before it). Requires speaks_of(e) & kX.
  [[nodiscard]] ExprId first_about_x(ExprId e, bool whole) const {
    while (op(e) != Op::fact_x && !(whole && op(e) != Op::negation && speaks_of(e) == kX)) {
      e = *std::ranges::find_if(operands(e), [this](ExprId below) { return (speaks_of(below) & kX) != 0; });
    }
    return e;
  }

 private:
  struct Head {
    Op op;
    std::uint16_t flags = 0;   ///< speaks_of()
    std::uint32_t number = 0;  ///< of facts: the colour, or the least count of what the list has: self, edge and other
    friend bool operator==(const Head&, const Head&) = default;
  };
  struct Rewrite {
    bool y_to_x = false, x_to_y = false;
    ExprId known = 0;  ///< 0: nothing is
    bool value = false;
    bool binary = false;  ///< E and = have the values below
    bool edge = false, equal = false;
  };

  ExprId add(Op op, std::span<const ExprId> operands) {
    std::uint16_t flags = 0;
    for (const ExprId e : operands) flags |= speaks_of(e);
    return records_.intern({op, flags}, operands);
  }
  ExprId fact(bool about_x, std::uint32_t number, std::span<const ExprId> count) {
    return records_.intern({about_x ? Op::fact_x : Op::fact_y, about_x ? kX : kY, number}, count);
  }
  /// The same fact about the other of x and y. Not for sentences: they are the same at every node, and said of x.
  ExprId about_other(ExprId e) {
    const std::vector<ExprId> count(operands(e).begin(), operands(e).end());
    const ExprId made = fact(op(e) == Op::fact_y, records_.head(e).number, count);
    if (!count.empty()) sources_.emplace(made, sources_.at(e));
    return made;
  }
  ExprId rewrite(ExprId e, const Rewrite& rule) {
    std::unordered_map<ExprId, ExprId> done;
    return rewrite(e, rule, done);
  }
  ExprId rewrite(ExprId e, const Rewrite& rule, std::unordered_map<ExprId, ExprId>& done) {
    if (e == rule.known && e != 0) return constant(rule.value);
    const std::uint16_t flags = speaks_of(e);
    const bool concerned = (rule.y_to_x && (flags & kY)) || ((rule.x_to_y || rule.known != 0) && (flags & kX)) ||
                           (rule.binary && (flags & (kEdge | kEqual)));
    if (!concerned) return e;
    switch (op(e)) {
      case Op::fact_x:
        return rule.x_to_y ? about_other(e) : e;
      case Op::fact_y:
        return rule.y_to_x ? about_other(e) : e;
      case Op::edge:
        return constant(rule.edge);
      case Op::equal:
        return constant(rule.equal);
      default:
        break;
    }
    if (const auto found = done.find(e); found != done.end()) return found->second;
    std::vector<ExprId> made;
    for (std::size_t i = 0; i < operands(e).size(); ++i) made.push_back(rewrite(operands(e)[i], rule, done));
    const ExprId out = op(e) == Op::negation ? negation(made[0]) : combine(op(e), std::move(made));
    done.emplace(e, out);
    return out;
  }
  /// exists>=count y. body, for a body seen with x in the first place; the result speaks of x alone.
  ExprId quantify(std::uint32_t count, ExprId body, FormulaId source) {
    // Conjuncts about x alone do not change with y: exists>=k y. (a(x) & b(x,y)) is a(x) & exists>=k y. b(x,y).
    std::vector<ExprId> outside, inside;
    if (op(body) == Op::all) {
      for (const ExprId e : operands(body)) ((speaks_of(e) & ~kX) == 0 ? outside : inside).push_back(e);
      body = combine(Op::all, std::move(inside));
    } else if (body > 1 && (speaks_of(body) & ~kX) == 0) {
      outside.push_back(body);
      body = constant(true);
    }
    const ExprId self =
        rewrite(rewrite(body, Rewrite{.binary = true, .edge = false, .equal = true}), Rewrite{.y_to_x = true});
    const ExprId edge = rewrite(body, Rewrite{.binary = true, .edge = true, .equal = false});
    const ExprId other = rewrite(body, Rewrite{.binary = true, .edge = false, .equal = false});
    if (self == 0 && edge == 0 && other == 0) return 0;
    if (self == 1 && count == 1) {  // y = x itself will do
      return combine(Op::all, std::move(outside));
    }
    // Whether it is a sentence is read off the triple, not off the text: equal triples are equal facts.
    const bool sentence = edge == other && self == y_to_x(other) && (speaks_of(other) & kX) == 0;
    const std::uint16_t flags = sentence ? 0 : kX;
    outside.push_back(records_.intern({Op::fact_x, flags, count}, std::array{self, edge, other}));
    sources_.emplace(outside.back(), source);
    return combine(Op::all, std::move(outside));
  }

  const FormulaPool& pool_;
  Variable x_, y_;
  InternedLists<Head, ExprId> records_;
  std::unordered_map<ExprId, FormulaId> sources_;  ///< of counts
  /// Formulas converted before (kKeep: not yet), by number, seen from x and from y.
  std::array<std::vector<ExprId>, 2> converted_;
};

using UnitId = std::uint32_t;

struct Term {
  UnitId unit;
  std::int32_t weight;
  friend bool operator==(const Term&, const Term&) = default;
};

/// bias + Σ weight · unit at one node. Truth values are such sums: not u is 1 - u.
struct Affine {
  std::int32_t bias = 0;
  std::vector<Term> terms;  ///< ascending units, weights other than 0

  static Affine constant(std::int32_t value) { return {value, {}}; }
  static Affine unit(UnitId u) { return {0, {{u, 1}}}; }
  [[nodiscard]] bool is_constant() const { return terms.empty(); }
  [[nodiscard]] Affine complement() const {
    Affine out = *this;
    out.bias = 1 - out.bias;
    for (Term& term : out.terms) term.weight = -term.weight;
    return out;
  }
};

/// Of many, one after another.
class Sum {
 public:
  Sum& add(const Affine& part, std::int32_t factor = 1) {
    all_.bias += factor * part.bias;
    for (const Term& term : part.terms) all_.terms.push_back({term.unit, factor * term.weight});
    return *this;
  }
  [[nodiscard]] Affine finish() {
    auto& terms = all_.terms;
    std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.unit < b.unit; });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < terms.size();) {
      Term term = terms[i++];
      for (; i < terms.size() && terms[i].unit == term.unit; ++i) term.weight += terms[i].weight;
      if (term.weight != 0) terms[kept++] = term;
    }
    terms.resize(kept);
    return std::move(all_);
  }

 private:
  Affine all_;
};

/// left + factor · right.
[[nodiscard]] Affine add(const Affine& left, const Affine& right, std::int32_t factor = 1) {
  return Sum().add(left).add(right, factor).finish();
}

/// The units of a network under construction: σ of an integer combination of earlier units at the node itself, summed
/// over its neighbours, and summed over all nodes. Equal units are one unit; each stands in the first layer it can.
class Units {
 public:
  /// Units 0 … inputs-1 are the inputs.
  Units(std::uint32_t inputs, std::uint64_t max_units) : inputs_(inputs), max_units_(max_units) {
    for (std::uint32_t i = 0; i < inputs; ++i) records_.intern({.bias = static_cast<std::int32_t>(i)}, {});
  }

  /// σ(self at the node + neighbour over the neighbours + readout over all nodes). The value must be 0 or 1 wherever
  /// the units are; a sum that is a constant or one unit is passed through.
  Affine sigma(const Affine& self, const Affine& neighbour = {}, const Affine& readout = {}) {
    // Constants under a sum over nodes count nodes, so they need a unit that is 1 everywhere.
    Affine around = neighbour, all = readout;
    if (around.bias == 0 && all.bias == 0 && around.terms.empty() && all.terms.empty()) {
      if (self.is_constant()) return Affine::constant(std::clamp(self.bias, 0, 1));
      if (self.bias == 0 && self.terms.size() == 1 && self.terms[0].weight == 1) return self;
    }
    for (Affine* part : {&around, &all}) {
      if (part->bias == 0) continue;
      const UnitId one = intern(Affine::constant(1), {}, {});
      const Affine ones{0, {{one, std::exchange(part->bias, 0)}}};
      *part = add(*part, ones);
    }
    return Affine::unit(intern(self, around, all));
  }

  [[nodiscard]] std::size_t size() const { return records_.size(); }

  /// The network whose outputs are these sums. Units nothing needs are left out; one that is needed later is handed on
  /// by σ(1 · u). `positions`, where given, gets the unit at each place of each layer (0: the inputs).
  [[nodiscard]] AcrNetwork assemble(std::span<const Affine> outputs,
                                    std::vector<std::vector<UnitId>>* positions = nullptr) const {
    // Units only use smaller numbers. until[u]: the last layer whose state must hold u; 0 where none must.
    std::vector<std::uint32_t> until(records_.size(), 0);
    const auto need = [&](std::span<const Term> terms, std::uint32_t layer) {
      for (const Term& term : terms) until[term.unit] = std::max(until[term.unit], layer);
    };
    std::uint32_t depth = 0;
    for (const Affine& output : outputs) {
      for (const Term& term : output.terms) depth = std::max(depth, records_.head(term.unit).layer);
    }
    for (const Affine& output : outputs) need(output.terms, depth);
    for (UnitId u = static_cast<UnitId>(records_.size()); u-- > inputs_;) {
      if (until[u] != 0) need(records_.list(u), records_.head(u).layer - 1);
    }

    AcrNetwork net;
    net.inputs = inputs_;
    std::vector<std::vector<UnitId>> fresh(depth + 1);
    for (UnitId u = inputs_; u < records_.size(); ++u) {
      if (until[u] != 0) fresh[records_.head(u).layer].push_back(u);
    }
    std::vector<std::uint32_t> place(records_.size(), 0);
    const auto placed = [&](std::span<const Term> terms) {
      AcrTerms out;
      for (const Term& term : terms) out.emplace_back(place[term.unit], term.weight);
      return out;
    };
    std::vector<UnitId> current(inputs_);
    for (std::uint32_t i = 0; i < inputs_; ++i) current[i] = place[i] = i;
    if (positions) *positions = {current};
    for (std::uint32_t l = 1; l <= depth; ++l) {
      AcrLayer layer;
      std::vector<UnitId> next;
      for (const UnitId u : current) {  // handed on
        if (until[u] < l) continue;
        layer.add({{place[u], 1}});
        next.push_back(u);
      }
      for (const UnitId u : fresh[l]) {
        const Head& r = records_.head(u);
        const std::span<const Term> own = records_.list(u);
        layer.add(placed(own.first(r.self)), r.bias, placed(own.subspan(r.self, r.neighbour)),
                  placed(own.last(r.readout)));
        next.push_back(u);
      }
      for (std::uint32_t i = 0; i < next.size(); ++i) place[next[i]] = i;
      current = std::move(next);
      if (positions) positions->push_back(current);
      net.layers.push_back(std::move(layer));
    }
    for (const Affine& output : outputs) {
      net.head.add_row(placed(output.terms));
      net.head_bias.push_back(output.bias);
    }
    return net;
  }

 private:
  /// Terms: self, then neighbour, then readout.
  struct Head {
    std::uint32_t self = 0, neighbour = 0, readout = 0;
    std::int32_t bias = 0;    ///< of inputs: which it is
    std::uint32_t layer = 0;  ///< of inputs: 0
    friend bool operator==(const Head&, const Head&) = default;
  };

  UnitId intern(const Affine& self, const Affine& neighbour, const Affine& readout) {
    const auto size = [](const Affine& part) { return static_cast<std::uint32_t>(part.terms.size()); };
    Head made{size(self), size(neighbour), size(readout), self.bias};
    fresh_.clear();
    for (const Affine* part : {&self, &neighbour, &readout}) {
      fresh_.insert(fresh_.end(), part->terms.begin(), part->terms.end());
    }
    for (const Term& term : fresh_) made.layer = std::max(made.layer, records_.head(term.unit).layer);
    ++made.layer;
    const UnitId unit = records_.intern(made, fresh_);
    if (records_.size() > max_units_) {
      throw InputError(fmt::format("the network would need more than {} units", max_units_));
    }
    return unit;
  }

  std::uint32_t inputs_;
  std::uint64_t max_units_;
  InternedLists<Head, Term> records_;
  std::vector<Term> fresh_;
};

constexpr UnitId kNone = 0xffffffffu;

class Compiler {
 public:
  Compiler(const FormulaPool& pool, Variable x, Variable y, std::uint32_t colours, const CompileOptions& options)
      : pool_(pool),
        form_(std::in_place, pool, x, y),
        units_(colours, options.max_units),
        want_labels_(options.labels) {
    if (want_labels_) {
      for (std::uint32_t i = 1; i <= colours; ++i) labels_.push_back(fmt::format("R{}(x)", i));
    }
  }

  Affine truth_of(FormulaId f) { return at_node(form_->y_to_x(form_->convert(f))); }

  Compiled finish(std::span<const Affine> outputs) {
    Compiled out;
    form_.reset();  // millions of expressions, not needed any more
    values_.clear();
    plain_.clear();
    plain_.shrink_to_fit();
    std::vector<std::vector<UnitId>> positions;
    out.network = units_.assemble(outputs, want_labels_ ? &positions : nullptr);
    for (const auto& layer : positions) {
      auto& row = out.labels.emplace_back();
      for (const UnitId u : layer) row.push_back(labels_[u]);
    }
    return out;
  }

 private:
  /// The truth value at a node of an expression about x alone.
  Affine at_node(ExprId e) {
    if (e < plain_.size() && plain_[e] != kNone) return Affine::unit(plain_[e]);
    if (const auto found = values_.find(e); found != values_.end()) return found->second;
    Affine out;
    switch (form_->op(e)) {
      case NormalForm::Op::no:
        return Affine::constant(0);
      case NormalForm::Op::yes:
        return Affine::constant(1);
      case NormalForm::Op::fact_x: {
        const std::uint32_t colour = form_->colour_of(e);
        out = colour != 0 ? Affine::unit(colour - 1) : count(form_->count_of(e));
        break;
      }
      case NormalForm::Op::negation:
        out = at_node(form_->operands(e)[0]).complement();
        break;
      default: {
        const bool all = form_->op(e) == NormalForm::Op::all;
        const std::size_t size = form_->operands(e).size();
        Sum parts;
        for (std::size_t i = 0; i < size; ++i) parts.add(at_node(form_->operands(e)[i]));
        Affine total = parts.finish();
        if (all) total.bias -= static_cast<std::int32_t>(size) - 1;
        out = labelled(units_.sigma(total), [&] { return text(e); });
        break;
      }
    }
    if (out.bias == 0 && out.terms.size() == 1 && out.terms[0].weight == 1) {
      if (plain_.size() <= e) plain_.resize(std::max<std::size_t>(e + 1, 2 * plain_.size()), kNone);
      plain_[e] = out.terms[0].unit;
    } else {
      values_.emplace(e, out);
    }
    return out;
  }

  /// One node of a quantifier's decision diagram: what is left of ψ when some facts about x are known.
  struct Case {
    ExprId self, edge, other;
    bool leaf = true;
    ExprId decide = 0;  ///< about x alone
    std::size_t if_no = 0, if_yes = 0;
  };

  Affine count(const Count& fact) {
    // Deciding whole subexpressions about x is mostly best; single facts know what follows from what (R1(x) & R2(x) is
    // false where R1(x) is), which can matter more.
    std::optional<std::vector<Case>> split_up = split(fact, true, kFewCases);
    if (!split_up || split_up->size() > 32) {
      auto finer = split(fact, false, split_up ? split_up->size() : kMaxCases);
      if (finer) split_up = std::move(finer);
    }
    if (!split_up) {
      throw InputError(
          fmt::format("'{}' needs more than {} cases of what is true of its free variable; no network was made",
                      print_formula(pool_, fact.source, 120), kMaxCases));
    }
    const std::vector<Case>& cases = *split_up;
    if (cases.size() == 1) return leaf_value(cases[0], fact);

    // How each leaf is reached. Children come after their parents. Few paths: each is one conjunction, in one layer;
    // many paths: "reached" is handed down the diagram, one layer per step.
    std::vector<std::uint64_t> paths(cases.size(), 0);
    paths[0] = 1;
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      paths[i] = std::min<std::uint64_t>(paths[i], kMaxCases);
      if (cases[i].leaf) {
        if (!never(cases[i], fact)) total += paths[i];
      } else {
        paths[cases[i].if_no] += paths[i];
        paths[cases[i].if_yes] += paths[i];
      }
    }
    std::vector<Affine> reached(cases.size());
    if (total <= 4 * cases.size() + 16) {
      std::vector<ExprId> literals;
      follow_paths(cases, fact, 0, literals, reached);
    } else {
      reached[0] = Affine::constant(1);
      for (std::size_t i = 0; i < cases.size(); ++i) {
        const Case& c = cases[i];
        if (c.leaf || (reached[i].is_constant() && reached[i].bias == 0)) continue;
        const Affine literal = at_node(c.decide);
        for (const bool yes : {false, true}) {
          const std::size_t to = yes ? c.if_yes : c.if_no;
          if (cases[to].leaf && never(cases[to], fact)) continue;
          const Affine step =
              conjunction(reached[i], yes ? literal : literal.complement(), [&] { return std::string("a case of x"); });
          reached[to] = add(reached[to], step);
        }
      }
    }
    Sum parts;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (!cases[i].leaf || never(cases[i], fact)) continue;
      const Affine value = leaf_value(cases[i], fact);
      parts.add(conjunction(reached[i], value, [&] { return fmt::format("case & {}", case_label(cases[i], fact)); }));
    }
    return parts.finish();
  }

  static bool never(const Case& c, const Count& fact) {
    return c.edge == 0 && c.other == 0 && (c.self == 0 || fact.least > 1);
  }

  /// The decision diagram over what ψ says about x (whole subexpressions or single facts), root first, children after
  /// parents; nothing where it has more than `limit` nodes.
  std::optional<std::vector<Case>> split(const Count& fact, bool whole, std::size_t limit) {
    std::vector<Case> cases;
    std::map<std::tuple<ExprId, ExprId, ExprId>, std::size_t> known;
    std::vector<std::size_t> finished;  // depth-first, children before parents
    struct Frame {
      std::size_t node;
      int next;
    };
    std::vector<Frame> stack;
    const auto visit = [&](ExprId self, ExprId edge, ExprId other) {
      if (edge == 0 && other == 0 && fact.least > 1) self = 0;  // all the same: never
      const auto [at, fresh] = known.emplace(std::tuple(self, edge, other), cases.size());
      if (fresh) {
        Case c{self, edge, other};
        const ExprId undecided = form_->speaks_of(edge) & NormalForm::kX    ? edge
                                 : form_->speaks_of(other) & NormalForm::kX ? other
                                                                            : 0;
        if (undecided != 0) {
          c.leaf = false;
          c.decide = form_->first_about_x(undecided, whole);
        }
        cases.push_back(c);
        stack.push_back({at->second, 0});
      }
      return at->second;
    };
    visit(fact.self, fact.edge, fact.other);
    while (!stack.empty()) {
      if (cases.size() > limit) return std::nullopt;
      const std::size_t node = stack.back().node;
      const Case c = cases[node];
      if (c.leaf || stack.back().next == 2) {
        finished.push_back(node);
        stack.pop_back();
        continue;
      }
      const bool yes = stack.back().next++ == 1;
      const std::size_t child = visit(form_->given(c.self, c.decide, yes), form_->given(c.edge, c.decide, yes),
                                      form_->given(c.other, c.decide, yes));
      (yes ? cases[node].if_yes : cases[node].if_no) = child;
    }
    std::vector<std::size_t> rank(cases.size());
    for (std::size_t i = 0; i < finished.size(); ++i) rank[finished[i]] = finished.size() - 1 - i;
    std::vector<Case> ordered(cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      Case c = cases[i];
      c.if_no = rank[c.if_no];
      c.if_yes = rank[c.if_yes];
      ordered[rank[i]] = c;
    }
    return ordered;
  }

  void follow_paths(const std::vector<Case>& cases, const Count& fact, std::size_t at, std::vector<ExprId>& literals,
                    std::vector<Affine>& reached) {
    const Case& c = cases[at];
    if (c.leaf) {
      if (!never(c, fact)) reached[at] = add(reached[at], at_node(form_->combine(NormalForm::Op::all, literals)));
      return;
    }
    literals.push_back(form_->negation(c.decide));
    follow_paths(cases, fact, c.if_no, literals, reached);
    literals.back() = c.decide;
    follow_paths(cases, fact, c.if_yes, literals, reached);
    literals.pop_back();
  }

  /// Whether there are enough y, where nothing about x is open but what `self` says.
  Affine leaf_value(const Case& c, const Count& fact) {
    const ExprId other_at_x = form_->y_to_x(c.other);
    const Affine edge = at_node(form_->y_to_x(c.edge));
    const Affine other = at_node(other_at_x);
    Affine self;
    if (c.self != other_at_x) self = add(at_node(c.self), other, -1);
    self.bias += 1 - static_cast<std::int32_t>(fact.least);
    const bool split_up = c.self != fact.self || c.edge != fact.edge || c.other != fact.other;
    return labelled(units_.sigma(self, add(edge, other, -1), other),
                    [&] { return split_up ? case_label(c, fact) : label_of(fact); });
  }

  template <class Label>
  Affine conjunction(const Affine& a, const Affine& b, const Label& label) {
    if (a.is_constant()) return a.bias == 0 ? a : b;
    if (b.is_constant()) return b.bias == 0 ? b : a;
    Affine both = add(a, b);
    both.bias -= 1;
    return labelled(units_.sigma(both), label);
  }

  template <class Label>
  Affine labelled(const Affine& made, const Label& label) {
    if (!want_labels_) return made;
    while (labels_.size() < units_.size()) labels_.push_back(labels_.size() + 1 < units_.size() ? "1" : label());
    return made;
  }
  std::string case_label(const Case& c, const Count& fact) const {
    const auto part = [&](const char* name, ExprId e) {
      return e == 0 ? std::string() : fmt::format(" {}: {}", name, text(e));
    };
    return fmt::format("{}+ y with{}{}{}", fact.least, part("edge", c.edge), part("none", c.other),
                       part("itself", c.self));
  }
  std::string label_of(const Count& fact) const { return print_formula(pool_, fact.source, 60); }
  std::string text(ExprId e) const {
    switch (form_->op(e)) {
      case NormalForm::Op::fact_x:
      case NormalForm::Op::fact_y: {
        const std::uint32_t colour = form_->colour_of(e);
        const char* who = form_->op(e) == NormalForm::Op::fact_x ? "x" : "y";
        return colour != 0 ? fmt::format("R{}({})", colour, who) : label_of(form_->count_of(e));
      }
      case NormalForm::Op::negation:
        return fmt::format("!{}", text(form_->operands(e)[0]));
      case NormalForm::Op::all:
      case NormalForm::Op::any: {
        std::string out;
        for (const ExprId below : form_->operands(e)) {
          if (out.size() > 60) return fmt::format("({} …)", out);
          if (!out.empty()) out += form_->op(e) == NormalForm::Op::all ? " & " : " | ";
          out += text(below);
        }
        return fmt::format("({})", out);
      }
      default:
        return e == 0 ? "false" : "true";
    }
  }

  const FormulaPool& pool_;
  std::optional<NormalForm> form_;
  Units units_;
  bool want_labels_;
  std::vector<std::string> labels_;
  /// What expressions have become: mostly single units, which are kept by number alone.
  std::vector<UnitId> plain_;
  std::unordered_map<ExprId, Affine> values_;
};

}  // namespace

Compiled compile(const FormulaPool& pool, std::span<const FormulaId> formulas, const CompileOptions& options) {
  std::uint32_t variables = 0, colours = 0;
  for (const FormulaId f : formulas) {
    const std::uint32_t used = variables_of(pool, f);
    variables |= used;
    if (std::popcount(variables) > 2) {
      std::uint32_t third = variables & (variables - 1);
      third &= third - 1;
      throw InputError(fmt::format(
          "outside C²: the formula uses {} variables ({}), and networks compute formulas with two; the third is {}. "
          "Often an outer variable can be used again inside: exists>=5 z. E(y,z) says what exists>=5 x. E(y,x) says",
          std::popcount(variables), pool.names(variables), pool.names(third & -third)));
    }
    const std::uint32_t free = pool.free_variables(f);
    if (std::popcount(free) > 1) {
      throw InputError(fmt::format(
          "{} are both free: a network gives a truth value to a graph (no free variable) or to each node (one)",
          pool.names(free)));
    }
    colours = std::max(colours, max_colour(pool, f));
  }
  if (options.colours != 0) {
    if (colours > options.colours) {
      throw InputError(
          fmt::format("the formula speaks of R{}, but the network is to read R1 to R{}", colours, options.colours));
    }
    colours = options.colours;
  }
  const Variable x = variables == 0 ? 0 : static_cast<Variable>(std::countr_zero(variables));
  const std::uint32_t rest = variables & (variables - 1);
  Compiler compiler(pool, x, rest == 0 ? kNoVariable : static_cast<Variable>(std::countr_zero(rest)), colours, options);
  std::vector<Affine> outputs;
  for (const FormulaId f : formulas) outputs.push_back(compiler.truth_of(f));
  return compiler.finish(outputs);
}

Compiled compile(const FormulaPool& pool, FormulaId formula, const CompileOptions& options) {
  return compile(pool, std::span(&formula, 1), options);
}

std::vector<double> colour_input(const ColouredGraph& graph, std::uint32_t colours) {
  if (graph.num_nodes() == 0) throw InputError("formulas are about graphs with at least one node; this graph has none");
  if (graph.num_colours() < colours) {
    throw InputError(fmt::format("the network reads colours R1 to R{}, but this graph has {} of them", colours,
                                 graph.num_colours()));
  }
  std::vector<double> out;
  out.reserve(static_cast<std::size_t>(graph.num_nodes()) * colours);
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    for (std::uint32_t i = 1; i <= colours; ++i) out.push_back(graph.has(v, i) ? 1 : 0);
  }
  return out;
}

std::vector<double> evaluate(const Compiled& compiled, const ColouredGraph& graph) {
  const AcrNetwork& net = compiled.network;
  const std::vector<double> input = colour_input(graph, net.inputs);
  std::vector<double> all(graph.num_nodes() * net.outputs());
  AcrRunner(net).run(graph.graph(), input, all);
  if (net.outputs() == 1) return all;
  std::vector<double> first;
  for (Node v = 0; v < graph.num_nodes(); ++v) first.push_back(all[v * net.outputs()]);
  return first;
}

}  // namespace tyche::theory
