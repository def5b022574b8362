#pragma once
/// C² formulas the way a network can compute them.
///
/// Seen from a node x, a formula of C² is a Boolean combination of facts about x alone (colours, and counts "at least k
/// nodes y such that …"). Under a quantifier it also speaks of y, of E(x,y) and of x = y; but of the last two only
/// three things can be true: y is x, y is a neighbour of x, or neither. Replacing E and = by their values in each case
/// leaves three Boolean combinations of facts about x and facts about y; that is all a count needs to keep.
///
/// Expressions and facts are hash-consed and simplified as they are made (constants, doubles, complements, order of
/// operands, x-only conjuncts drawn out of quantifiers), so equal subformulas become one. All internal to compile.cpp.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "support/intern.hpp"
#include "theory/formula.hpp"

namespace tyche::theory {

/// A Boolean expression over facts about x and y, E(x,y) and x = y.
using ExprId = std::uint32_t;
/// A fact about one node.
using FactId = std::uint32_t;

struct Fact {
  std::uint32_t colour = 0;  ///< R<colour>; 0: a count
  std::uint32_t count = 0;   ///< at least so many y with …
  ExprId self = 0;           ///< … this, where y is x (an expression over facts about x)
  ExprId edge = 0;           ///< … this, where y is a neighbour of x
  ExprId other = 0;          ///< … this, where y is neither
  /// The first formula that became this fact, for people.
  FormulaId source = 0;
};

class NormalForm {
 public:
  enum class Op : std::uint8_t { no, yes, fact_x, fact_y, edge, equal, negation, all, any };
  /// What an expression speaks of. A sentence, the same at every node, speaks of neither x nor y.
  static constexpr std::uint8_t kX = 1, kY = 2, kEdge = 4, kEqual = 8;

  NormalForm(const FormulaPool& pool, Variable x, Variable y) : pool_(pool), x_(x), y_(y) {
    add(Op::no, 0, {});
    add(Op::yes, 0, {});
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
      const bool binds = v.kind == Kind::at_least || v.kind == Kind::for_all;
      for (const FormulaId g : v.operands) {
        wanted[g] = static_cast<std::uint8_t>(wanted[g] | (!binds ? wanted[f] : v.a == y_ ? 1 : 2));
      }
    }
    for (auto& side : converted_) side.resize(std::max<std::size_t>(side.size(), wanted.size()), kKeep);
    for (FormulaId f = 0; f <= root; ++f) {
      for (unsigned side = 0; side < 2; ++side) {
        if (!(wanted[f] >> side & 1) || converted_[side][f] != kKeep) continue;
        const Variable first = side == 0 ? x_ : y_;
        const auto v = pool_.view(f);
        std::vector<ExprId> below;
        const bool binds = v.kind == Kind::at_least || v.kind == Kind::for_all;
        const unsigned inner = !binds ? side : v.a == y_ ? 0 : 1;
        for (const FormulaId g : v.operands) below.push_back(converted_[inner][g]);
        ExprId made = 0;
        switch (v.kind) {
          case Kind::truth:
            made = 1;
            break;
          case Kind::falsity:
            made = 0;
            break;
          case Kind::colour: {
            Fact colour{.colour = v.number, .source = f};
            made = fact_expr(intern(colour), v.a == first);
            break;
          }
          case Kind::edge:
            made = v.a == v.b ? 0 : add(Op::edge, 0, {});  // graphs have no loops
            break;
          case Kind::equal:
            made = v.a == v.b ? 1 : add(Op::equal, 0, {});
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
            made = any_of({negation(below[0]), below[1]});
            break;
          case Kind::equivalence:
            made = any_of({all_of({below[0], below[1]}), all_of({negation(below[0]), negation(below[1])})});
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

  [[nodiscard]] Op op(ExprId e) const { return records_[e].op; }
  [[nodiscard]] std::uint8_t speaks_of(ExprId e) const { return records_[e].flags; }
  [[nodiscard]] FactId fact_of(ExprId e) const { return records_[e].fact; }
  [[nodiscard]] const Fact& fact(FactId f) const { return facts_[f]; }
  [[nodiscard]] std::span<const ExprId> operands(ExprId e) const {
    return std::span(operands_).subspan(records_[e].first, records_[e].size);
  }
  [[nodiscard]] static ExprId constant(bool value) { return value ? 1 : 0; }

  ExprId negation(ExprId e) {
    if (e <= 1) return 1 - e;
    if (op(e) == Op::negation) return operands(e)[0];
    return add(Op::negation, 0, {&e, 1});
  }
  ExprId all_of(std::vector<ExprId> operands) { return combine(Op::all, std::move(operands)); }
  ExprId any_of(std::vector<ExprId> operands) { return combine(Op::any, std::move(operands)); }
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
  struct Record {
    std::uint64_t first;
    std::uint32_t size;
    std::uint32_t fact;
    Op op;
    std::uint8_t flags;
  };
  struct Rewrite {
    bool y_to_x = false, x_to_y = false;
    ExprId known = 0;  ///< 0: nothing is
    bool value = false;
    bool binary = false;  ///< E and = have the values below
    bool edge = false, equal = false;
  };

  ExprId add(Op op, FactId fact, std::span<const ExprId> operands) {
    std::uint64_t hash = mix(static_cast<std::uint64_t>(op) ^ fact);
    for (const ExprId e : operands) hash = mix(hash ^ e);
    const auto equals = [&](std::uint32_t other) {
      return records_[other].op == op && records_[other].fact == fact &&
             std::ranges::equal(this->operands(other), operands);
    };
    return table_.find_or_add(hash, equals, [&] {
      std::uint8_t flags = 0;
      for (const ExprId e : operands) flags |= records_[e].flags;
      if (op == Op::fact_x) flags = sentence_[fact] ? 0 : kX;
      if (op == Op::fact_y) flags = kY;
      if (op == Op::edge) flags = kEdge;
      if (op == Op::equal) flags = kEqual;
      const std::uint64_t first = operands_.size();
      operands_.insert(operands_.end(), operands.begin(), operands.end());
      records_.push_back({first, static_cast<std::uint32_t>(operands.size()), fact, op, flags});
      return static_cast<std::uint32_t>(records_.size() - 1);
    });
  }
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
    return operands.size() == 1 ? operands[0] : add(op, 0, operands);
  }
  ExprId rewrite(ExprId e, const Rewrite& rule) {
    std::unordered_map<ExprId, ExprId> done;
    return rewrite(e, rule, done);
  }
  ExprId rewrite(ExprId e, const Rewrite& rule, std::unordered_map<ExprId, ExprId>& done) {
    if (e == rule.known && e != 0) return constant(rule.value);
    const std::uint8_t flags = records_[e].flags;
    const bool concerned = (rule.y_to_x && (flags & kY)) || ((rule.x_to_y || rule.known != 0) && (flags & kX)) ||
                           (rule.binary && (flags & (kEdge | kEqual)));
    if (!concerned) return e;
    switch (op(e)) {
      case Op::fact_x:
        return rule.x_to_y ? fact_expr(fact_of(e), false) : e;
      case Op::fact_y:
        return rule.y_to_x ? fact_expr(fact_of(e), true) : e;
      case Op::edge:
        return constant(rule.edge);
      case Op::equal:
        return constant(rule.equal);
      default:
        break;
    }
    if (const auto found = done.find(e); found != done.end()) return found->second;
    std::vector<ExprId> made;
    for (std::size_t i = 0; i < records_[e].size; ++i) made.push_back(rewrite(operands(e)[i], rule, done));
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
    Fact fact{.count = count, .source = source};
    fact.self = rewrite(rewrite(body, Rewrite{.binary = true, .edge = false, .equal = true}), Rewrite{.y_to_x = true});
    fact.edge = rewrite(body, Rewrite{.binary = true, .edge = true, .equal = false});
    fact.other = rewrite(body, Rewrite{.binary = true, .edge = false, .equal = false});
    if (fact.self == 0 && fact.edge == 0 && fact.other == 0) return 0;
    if (fact.self == 1 && count == 1) {  // y = x itself will do
      return combine(Op::all, std::move(outside));
    }
    // Equal triples are equal facts, so whether one is a sentence is read off the triple, not off the text.
    const FactId made = intern(fact);
    sentence_[made] = fact.edge == fact.other && fact.self == y_to_x(fact.other) && (speaks_of(fact.other) & kX) == 0;
    outside.push_back(fact_expr(made, true));
    return combine(Op::all, std::move(outside));
  }
  FactId intern(const Fact& fact) {
    std::uint64_t hash = mix(fact.colour ^ std::uint64_t{fact.count});
    for (const ExprId e : {fact.self, fact.edge, fact.other}) hash = mix(hash ^ e);
    return fact_table_.find_or_add(
        hash,
        [&](std::uint32_t i) {
          const Fact& f = facts_[i];
          return f.colour == fact.colour && f.count == fact.count && f.self == fact.self && f.edge == fact.edge &&
                 f.other == fact.other;
        },
        [&] {
          facts_.push_back(fact);
          sentence_.push_back(false);
          return static_cast<std::uint32_t>(facts_.size() - 1);
        });
  }
  ExprId fact_expr(FactId fact, bool about_x) {
    // A sentence is true of y where it is true of x: one form only.
    return add(about_x || sentence_[fact] ? Op::fact_x : Op::fact_y, fact, {});
  }

  const FormulaPool& pool_;
  Variable x_, y_;
  std::vector<Record> records_;
  std::vector<ExprId> operands_;
  InternTable table_;
  std::vector<Fact> facts_;
  std::vector<bool> sentence_;  ///< a fact: the same at every node
  InternTable fact_table_;
  /// Formulas converted before (kKeep: not yet), by number, seen from x and from y.
  std::array<std::vector<ExprId>, 2> converted_;
};

}  // namespace tyche::theory
