#include <fmt/format.h>

#include "theory/syntax.hpp"

namespace tyche::theory {
namespace {

/// How tightly a formula's outermost operator binds.
int tightness(Kind kind) {
  switch (kind) {
    case Kind::equivalence:
      return 0;
    case Kind::implication:
      return 1;
    case Kind::disjunction:
      return 2;
    case Kind::conjunction:
      return 3;
    default:
      return 4;
  }
}

class Printer {
 public:
  Printer(const FormulaPool& pool, std::size_t limit) : pool_(pool), limit_(limit) {}

  std::string text(FormulaId f) {
    print(f);
    if (out_.size() > limit_) {
      std::size_t cut = limit_;
      while (cut > 0 && (static_cast<unsigned char>(out_[cut]) & 0xc0) == 0x80) --cut;
      out_.resize(cut);
      out_ += " …";
    }
    return std::move(out_);
  }

 private:
  /// Whether f is what `exists=3 y. …` stands for, and so can be printed. In full its body would stand there twice, and
  /// thirty of them inside each other a thousand million times.
  bool is_exactly(FormulaId f) const {
    const auto v = pool_.view(f);
    if (v.kind != Kind::conjunction || v.operands.size() != 2) return false;
    const auto enough = pool_.view(v.operands[0]);
    const auto few = pool_.view(v.operands[1]);
    if (enough.kind != Kind::at_least || few.kind != Kind::negation) return false;
    const auto more = pool_.view(few.operands[0]);
    return more.kind == Kind::at_least && more.number == enough.number + 1 && more.a == enough.a &&
           more.operands[0] == enough.operands[0];
  }
  /// The kind that f is printed as.
  Kind kind_of(FormulaId f) const { return is_exactly(f) ? Kind::at_least : pool_.view(f).kind; }

  /// Whether text that follows f would be drawn into a quantifier at f's right end.
  bool open_on_the_right(FormulaId f) const {
    for (;;) {
      const auto v = pool_.view(f);
      if (is_exactly(f)) return true;
      if (v.kind == Kind::at_least || v.kind == Kind::for_all) return true;
      if (v.kind == Kind::negation) {
        f = v.operands[0];
      } else if (tightness(v.kind) < 4) {
        const FormulaId last = v.operands.back();
        if (needs_parentheses(v.kind, last, true)) return false;
        f = last;
      } else {
        return false;
      }
    }
  }
  bool needs_parentheses(Kind outer, FormulaId inner, bool last) const {
    const Kind kind = kind_of(inner);
    if (outer == Kind::negation) return tightness(kind) < 4;
    const bool groups_right = (outer == Kind::implication || outer == Kind::equivalence) && last && kind == outer;
    if (tightness(kind) <= tightness(outer) && !groups_right) return true;
    return !last && open_on_the_right(inner);
  }
  void operand(FormulaId inner, bool in_parentheses) {
    if (in_parentheses) out_ += '(';
    print(inner);
    if (in_parentheses) out_ += ')';
  }

  void quantifier(const std::string& count, Variable variable, FormulaId body) {
    out_ += fmt::format("{} {}. ", count, pool_.name(variable));
    operand(body, tightness(kind_of(body)) < 4);
  }

  void print(FormulaId f) {
    if (out_.size() > limit_) return;
    const auto v = pool_.view(f);
    if (is_exactly(f)) {
      const auto enough = pool_.view(v.operands[0]);
      return quantifier(fmt::format("exists={}", enough.number), enough.a, enough.operands[0]);
    }
    switch (v.kind) {
      case Kind::truth:
        out_ += "true";
        return;
      case Kind::falsity:
        out_ += "false";
        return;
      case Kind::colour:
        out_ += fmt::format("R{}({})", v.number, pool_.name(v.a));
        return;
      case Kind::edge:
        out_ += fmt::format("E({},{})", pool_.name(v.a), pool_.name(v.b));
        return;
      case Kind::equal:
        out_ += fmt::format("{} = {}", pool_.name(v.a), pool_.name(v.b));
        return;
      case Kind::negation:
        out_ += '!';
        // "!x = y" would read well to the parser, but not to people.
        return operand(v.operands[0], pool_.view(v.operands[0]).kind == Kind::equal ||
                                          needs_parentheses(Kind::negation, v.operands[0], true));
      case Kind::at_least:
      case Kind::for_all: {
        const std::string count = v.kind == Kind::for_all ? "forall"
                                  : v.number == 1         ? "exists"
                                                          : fmt::format("exists>={}", v.number);
        return quantifier(count, v.a, v.operands[0]);
      }
      default:
        break;
    }
    const char* sign = v.kind == Kind::conjunction   ? " & "
                       : v.kind == Kind::disjunction ? " | "
                       : v.kind == Kind::implication ? " -> "
                                                     : " <-> ";
    for (std::size_t i = 0; i < v.operands.size(); ++i) {
      if (i > 0) out_ += sign;
      operand(v.operands[i], needs_parentheses(v.kind, v.operands[i], i + 1 == v.operands.size()));
      if (out_.size() > limit_) return;
    }
  }

  const FormulaPool& pool_;
  std::size_t limit_;
  std::string out_;
};

}  // namespace

std::string print_formula(const FormulaPool& pool, FormulaId f, std::size_t limit) {
  return Printer(pool, limit).text(f);
}

}  // namespace tyche::theory
