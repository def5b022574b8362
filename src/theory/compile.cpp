#include "theory/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "support/error.hpp"
#include "theory/normal_form.hpp"
#include "theory/syntax.hpp"
#include "theory/units.hpp"

namespace tyche::theory {
namespace {

constexpr std::size_t kFewCases = std::size_t{1} << 12, kMaxCases = std::size_t{1} << 18;
constexpr Variable kNoVariable = 255;
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
        const Fact fact = form_->fact(form_->fact_of(e));
        out = fact.colour != 0 ? Affine::unit(fact.colour - 1) : count(fact);
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

  Affine count(const Fact& fact) {
    // Deciding whole subexpressions about x is mostly best; single facts know what follows from what (R1(x) & R2(x) is
    // false where R1(x) is), which can matter more.
    std::optional<std::vector<Case>> split_up = split(fact, true, kFewCases);
    if (!split_up || split_up->size() > 32) {
      auto finer = split(fact, false, split_up ? split_up->size() : kMaxCases);
      if (finer) split_up = std::move(finer);
    }
    if (!split_up) {
      throw InputError("'{}' needs more than {} cases of what is true of its free variable; no network was made",
                       print_formula(pool_, fact.source, 120), kMaxCases);
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

  static bool never(const Case& c, const Fact& fact) {
    return c.edge == 0 && c.other == 0 && (c.self == 0 || fact.count > 1);
  }

  /// The decision diagram over what ψ says about x (whole subexpressions or single facts), root first, children after
  /// parents; nothing where it has more than `limit` nodes.
  std::optional<std::vector<Case>> split(const Fact& fact, bool whole, std::size_t limit) {
    std::vector<Case> cases;
    std::map<std::tuple<ExprId, ExprId, ExprId>, std::size_t> known;
    std::vector<std::size_t> finished;  // depth-first, children before parents
    struct Frame {
      std::size_t node;
      int next;
    };
    std::vector<Frame> stack;
    const auto visit = [&](ExprId self, ExprId edge, ExprId other) {
      if (edge == 0 && other == 0 && fact.count > 1) self = 0;  // all the same: never
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

  void follow_paths(const std::vector<Case>& cases, const Fact& fact, std::size_t at, std::vector<ExprId>& literals,
                    std::vector<Affine>& reached) {
    const Case& c = cases[at];
    if (c.leaf) {
      if (!never(c, fact)) reached[at] = add(reached[at], at_node(form_->all_of(literals)));
      return;
    }
    literals.push_back(form_->negation(c.decide));
    follow_paths(cases, fact, c.if_no, literals, reached);
    literals.back() = c.decide;
    follow_paths(cases, fact, c.if_yes, literals, reached);
    literals.pop_back();
  }

  /// Whether there are enough y, where nothing about x is open but what `self` says.
  Affine leaf_value(const Case& c, const Fact& fact) {
    const ExprId other_at_x = form_->y_to_x(c.other);
    const Affine edge = at_node(form_->y_to_x(c.edge));
    const Affine other = at_node(other_at_x);
    Affine self;
    if (c.self != other_at_x) self = add(at_node(c.self), other, -1);
    self.bias += 1 - static_cast<std::int32_t>(fact.count);
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
  std::string case_label(const Case& c, const Fact& fact) const {
    const auto part = [&](const char* name, ExprId e) {
      return e == 0 ? std::string() : fmt::format(" {}: {}", name, text(e));
    };
    return fmt::format("{}+ y with{}{}{}", fact.count, part("edge", c.edge), part("none", c.other),
                       part("itself", c.self));
  }
  std::string label_of(const Fact& fact) const { return print_formula(pool_, fact.source, 60); }
  std::string text(ExprId e) const {
    switch (form_->op(e)) {
      case NormalForm::Op::fact_x:
      case NormalForm::Op::fact_y: {
        const Fact& fact = form_->fact(form_->fact_of(e));
        const char* who = form_->op(e) == NormalForm::Op::fact_x ? "x" : "y";
        return fact.colour != 0 ? fmt::format("R{}({})", fact.colour, who) : label_of(fact);
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

std::string names_of(const FormulaPool& pool, std::uint32_t mask) {
  std::string out;
  for (; mask != 0; mask &= mask - 1) {
    if (!out.empty()) out += ", ";
    out += pool.name(static_cast<Variable>(std::countr_zero(mask)));
  }
  return out;
}

}  // namespace

Compiled compile(const FormulaPool& pool, std::span<const FormulaId> formulas, const CompileOptions& options) {
  std::uint32_t variables = 0, colours = 0;
  for (const FormulaId f : formulas) {
    const std::uint32_t used = variables_of(pool, f);
    variables |= used;
    if (std::popcount(variables) > 2) {
      std::uint32_t third = variables & (variables - 1);
      third &= third - 1;
      throw InputError(
          "outside C²: the formula uses {} variables ({}), and networks compute formulas with two; the third is {}. "
          "Often an outer variable can be used again inside: exists>=5 z. E(y,z) says what exists>=5 x. E(y,x) says",
          std::popcount(variables), names_of(pool, variables), names_of(pool, third & -third));
    }
    const std::uint32_t free = pool.free_variables(f);
    if (std::popcount(free) > 1) {
      throw InputError(
          "{} are both free: a network gives a truth value to a graph (no free variable) or to each node (one)",
          names_of(pool, free));
    }
    colours = std::max(colours, max_colour(pool, f));
  }
  if (options.colours != 0) {
    if (colours > options.colours) {
      throw InputError("the formula speaks of R{}, but the network is to read R1 to R{}", colours, options.colours);
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
    throw InputError("the network reads colours R1 to R{}, but this graph has {} of them", colours,
                     graph.num_colours());
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
