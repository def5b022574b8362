#pragma once
// Random formulas and coloured graphs for properties, as trees that rapidcheck can shrink; and the meaning of such a
// tree by plain recursion, which shares nothing with the model checker.
#include <rapidcheck.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "theory/coloured_graph.hpp"
#include "theory/formula.hpp"
#include "theory/syntax.hpp"

namespace tyche::theory::test {

struct Tree {
  Kind kind = Kind::truth;
  int a = 0, b = 0;  // variables by number: x, y, z
  std::uint32_t number = 0;
  std::vector<Tree> operands;
};

inline const char* variable_name(int v) { return v == 0 ? "x" : v == 1 ? "y" : "z"; }

inline FormulaId to_formula(FormulaPool& pool, const Tree& t) {
  std::vector<FormulaId> below;
  for (const Tree& operand : t.operands) below.push_back(to_formula(pool, operand));
  const auto var = [&](int v) { return pool.variable(variable_name(v)); };
  switch (t.kind) {
    case Kind::truth:
      return pool.truth(true);
    case Kind::falsity:
      return pool.truth(false);
    case Kind::colour:
      return pool.colour(t.number, var(t.a));
    case Kind::edge:
      return pool.edge(var(t.a), var(t.b));
    case Kind::equal:
      return pool.equal(var(t.a), var(t.b));
    case Kind::negation:
      return pool.negation(below[0]);
    case Kind::conjunction:
      return pool.conjunction(below);
    case Kind::disjunction:
      return pool.disjunction(below);
    case Kind::implication:
      return pool.implication(below[0], below[1]);
    case Kind::equivalence:
      return pool.equivalence(below[0], below[1]);
    case Kind::at_least:
      return pool.at_least(t.number, var(t.a), below[0]);
    default:
      return pool.for_all(var(t.a), below[0]);
  }
}

inline bool meaning(const Tree& t, const ColouredGraph& g, std::vector<Node>& value) {
  switch (t.kind) {
    case Kind::truth:
      return true;
    case Kind::falsity:
      return false;
    case Kind::colour:
      return g.has(value[static_cast<std::size_t>(t.a)], t.number);
    case Kind::edge:
      return g.graph().has_edge(value[static_cast<std::size_t>(t.a)], value[static_cast<std::size_t>(t.b)]);
    case Kind::equal:
      return value[static_cast<std::size_t>(t.a)] == value[static_cast<std::size_t>(t.b)];
    case Kind::negation:
      return !meaning(t.operands[0], g, value);
    case Kind::conjunction:
      return std::all_of(t.operands.begin(), t.operands.end(), [&](const Tree& o) { return meaning(o, g, value); });
    case Kind::disjunction:
      return std::any_of(t.operands.begin(), t.operands.end(), [&](const Tree& o) { return meaning(o, g, value); });
    case Kind::implication:
      return !meaning(t.operands[0], g, value) || meaning(t.operands[1], g, value);
    case Kind::equivalence:
      return meaning(t.operands[0], g, value) == meaning(t.operands[1], g, value);
    default: {
      const Node before = value[static_cast<std::size_t>(t.a)];
      std::uint32_t count = 0;
      for (Node v = 0; v < g.num_nodes(); ++v) {
        value[static_cast<std::size_t>(t.a)] = v;
        count += meaning(t.operands[0], g, value) ? 1u : 0u;
      }
      value[static_cast<std::size_t>(t.a)] = before;
      return t.kind == Kind::for_all ? count == g.num_nodes() : count >= t.number;
    }
  }
}

/// Smaller trees: an operand instead of the whole, a smaller count, an operand made smaller or left out.
inline std::vector<Tree> smaller(const Tree& t) {
  std::vector<Tree> out;
  for (const Tree& operand : t.operands) out.push_back(operand);
  if (t.kind == Kind::at_least && t.number > 1) {
    Tree less = t;
    less.number = 1;
    out.push_back(less);
  }
  if ((t.kind == Kind::conjunction || t.kind == Kind::disjunction) && t.operands.size() > 2) {
    for (std::size_t i = 0; i < t.operands.size(); ++i) {
      Tree fewer = t;
      fewer.operands.erase(fewer.operands.begin() + static_cast<std::ptrdiff_t>(i));
      out.push_back(fewer);
    }
  }
  for (std::size_t i = 0; i < t.operands.size(); ++i) {
    for (Tree& part : smaller(t.operands[i])) {
      Tree changed = t;
      changed.operands[i] = std::move(part);
      out.push_back(std::move(changed));
    }
  }
  return out;
}

/// A tree of at most `depth` quantifiers and connectives below one another, over `variables` variables, colours R1 to
/// R<colours>, counts to `counts`.
inline Tree random_tree(int depth, int variables, std::uint32_t colours, std::uint32_t counts) {
  const auto pick = [](int n) { return *rc::gen::inRange(0, n); };
  Tree t;
  if (depth == 0) {
    const int atom = pick(40);
    t.a = pick(variables);
    t.b = pick(8) == 0 ? t.a : (t.a + 1 + pick(variables - 1)) % variables;
    if (atom < 16) {
      t.kind = Kind::edge;
    } else if (atom < 23) {
      t.kind = Kind::equal;
    } else if (atom < 39) {
      t.kind = Kind::colour;
      t.number = 1 + static_cast<std::uint32_t>(pick(static_cast<int>(colours)));
    } else {
      t.kind = pick(2) == 0 ? Kind::truth : Kind::falsity;
    }
    return t;
  }
  const int choice = 8 + pick(14);
  const auto below = [&] { return random_tree(pick(4) == 0 ? pick(depth) : depth - 1, variables, colours, counts); };
  if (choice < 10) {
    t.kind = Kind::negation;
    t.operands = {below()};
  } else if (choice < 14) {
    t.kind = choice < 12 ? Kind::conjunction : Kind::disjunction;
    const int size = 2 + pick(2);
    for (int i = 0; i < size; ++i) t.operands.push_back(below());
  } else if (choice < 16) {
    t.kind = choice == 14 ? Kind::implication : Kind::equivalence;
    t.operands.push_back(below());
    t.operands.push_back(below());
  } else {
    t.kind = choice < 21 ? Kind::at_least : Kind::for_all;
    t.a = pick(variables);
    if (t.kind == Kind::at_least) t.number = 1 + static_cast<std::uint32_t>(pick(static_cast<int>(counts)));
    t.operands = {below()};
  }
  return t;
}

inline rc::Gen<Tree> tree_gen(int depth, int variables, std::uint32_t colours, std::uint32_t counts) {
  // At full size always: rapidcheck would otherwise begin with ranges cut down to their first value.
  const auto make = [=] { return random_tree(depth, variables, colours, counts); };
  return rc::gen::shrink(rc::gen::noShrink(rc::gen::resize(rc::kNominalSize, rc::gen::exec(make))),
                         [](const Tree& t) { return rc::seq::fromContainer(smaller(t)); });
}

inline void showValue(const Tree& t, std::ostream& out) {
  FormulaPool pool;
  out << print_formula(pool, to_formula(pool, t));
}

struct Coloured {
  Node nodes = 1;
  std::vector<Edge> edges;
  std::vector<std::vector<std::uint32_t>> colours;
  [[nodiscard]] ColouredGraph graph(std::uint32_t count) const {
    ColouredGraph out(Graph::from_edges(nodes, edges), count);
    for (Node v = 0; v < nodes; ++v) {
      for (const std::uint32_t c : colours[v]) out.set(v, c);
    }
    return out;
  }
};

inline rc::Gen<Coloured> coloured_gen(Node max_nodes, std::uint32_t count) {
  const auto make = [=] {
    Coloured g;
    g.nodes = *rc::gen::inRange<Node>(1, max_nodes + 1);
    const int density = *rc::gen::inRange(0, 101);
    for (Node v = 0; v < g.nodes; ++v) {
      for (Node u = 0; u < v; ++u) {
        if (*rc::gen::inRange(0, 100) < density) g.edges.emplace_back(u, v);
      }
      auto& mine = g.colours.emplace_back();
      for (std::uint32_t c = 1; c <= count; ++c) {
        if (*rc::gen::inRange(0, 2) == 1) mine.push_back(c);
      }
    }
    return g;
  };
  return rc::gen::shrink(rc::gen::noShrink(rc::gen::resize(rc::kNominalSize, rc::gen::exec(make))),
                         [](const Coloured& g) {
                           std::vector<Coloured> out;
                           for (Node gone = 0; g.nodes > 1 && gone < g.nodes; ++gone) {
                             Coloured less{g.nodes - 1, {}, g.colours};
                             less.colours.erase(less.colours.begin() + gone);
                             for (const auto& [u, v] : g.edges) {
                               if (u != gone && v != gone) less.edges.emplace_back(u - (u > gone), v - (v > gone));
                             }
                             out.push_back(less);
                           }
                           for (std::size_t e = 0; e < g.edges.size(); ++e) {
                             Coloured less = g;
                             less.edges.erase(less.edges.begin() + static_cast<std::ptrdiff_t>(e));
                             out.push_back(less);
                           }
                           return rc::seq::fromContainer(out);
                         });
}

inline void showValue(const Coloured& g, std::ostream& out) {
  out << g.nodes << " nodes, edges";
  for (const auto& [u, v] : g.edges) out << " " << u << "-" << v;
  for (Node v = 0; v < g.nodes; ++v) {
    out << "; " << v << ":";
    for (const std::uint32_t c : g.colours[v]) out << " R" << c;
  }
}

}  // namespace tyche::theory::test
