#include "theory/syntax.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <vector>

#include "support/error.hpp"

namespace tyche::theory {
namespace {

constexpr int kMaxDepth = 500;  // a level takes over 8 KB of stack under AddressSanitizer

struct Connective {
  Kind kind;
  std::string_view sign;
  bool groups_right = false;  ///< two operands at a time; else as many as there are signs between
};
/// From loose to tight.
constexpr std::array<Connective, 4> kConnectives = {{{Kind::equivalence, "<->", true},
                                                     {Kind::implication, "->", true},
                                                     {Kind::disjunction, "|"},
                                                     {Kind::conjunction, "&"}}};

/// How tightly a formula's outermost operator binds: its place among the connectives, or behind them.
std::size_t tightness(Kind kind) {
  return static_cast<std::size_t>(std::ranges::find(kConnectives, kind, &Connective::kind) - kConnectives.begin());
}

/// Of the bytes of a character in UTF-8, not the first.
bool goes_on(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

bool is_small(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_small(c) || is_digit(c) || c == '_' || (c >= 'A' && c <= 'Z'); }

/// Recursive descent, one function per level of binding.
class Parser {
 public:
  Parser(FormulaPool& pool, std::string_view text) : pool_(pool), text_(text) {}

  FormulaId whole() {
    const FormulaId f = joined();
    skip();
    if (at_ < text_.size()) {
      fail(at_, text_[at_] == ')' ? "this ')' closes nothing"
                                  : fmt::format("expected an operator or the end of the formula, found {}", found()));
    }
    if (deepest_ > kMaxDepth / 3 && !reads_printed(f)) {
      fail(0, fmt::format("nested deeper than {} levels when it is printed, with all its parentheses", kMaxDepth));
    }
    return f;
  }

 private:
  /// Whether f can be read back from its own text, where a level may have become three: `exists<=3 y. …` is
  /// `!exists>=4 y. (…)`.
  bool reads_printed(FormulaId f) {
    const std::string printed = print_formula(pool_, f);
    Parser again(pool_, printed);
    try {
      (void)again.joined();
      return true;
    } catch (const InputError&) {
      return false;
    }
  }
  /// Columns count characters from 1, not bytes.
  [[nodiscard]] std::size_t column(std::size_t at) const {
    return 1 + at - static_cast<std::size_t>(std::ranges::count_if(text_.substr(0, at), goes_on));
  }
  [[noreturn]] void fail(std::size_t at, const std::string& what) const {
    // A long formula is shown in part.
    std::size_t from = at > 60 ? at - 60 : 0;
    while (from > 0 && goes_on(text_[from])) --from;
    std::size_t to = std::min(text_.size(), at + 40);
    while (to < text_.size() && goes_on(text_[to])) ++to;
    std::string shown;
    std::size_t indent = 0;
    for (std::size_t i = from; i < to; ++i) {
      const char c = text_[i];
      shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
      if (i < at) indent += !goes_on(c);
    }
    throw InputError(
        fmt::format("formula, column {}: {}\n  {}\n  {}^", column(at), what, shown, std::string(indent, ' ')));
  }

  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  /// What stands here, for messages.
  std::string found() const {
    if (at_ >= text_.size()) return "the end of the formula";
    std::size_t end = at_ + 1;
    if (is_word(text_[at_])) {
      while (end < text_.size() && is_word(text_[end]) && end - at_ < 30) ++end;
    } else {
      while (end < text_.size() && goes_on(text_[end])) ++end;
    }
    return fmt::format("'{}'", text_.substr(at_, end - at_));
  }
  bool take(std::string_view token) {
    skip();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token, const std::string& why) {
    if (!take(token)) fail(at_, fmt::format("expected '{}' {}, found {}", token, why, found()));
  }
  /// The word that starts here (letters, digits, _), without taking it.
  std::string_view word() {
    skip();
    std::size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }

  /// What connectives from this one on (by tightness) join.
  FormulaId joined(std::size_t loosest = 0) {
    if (loosest == kConnectives.size()) return unary();
    const Connective& own = kConnectives[loosest];
    std::vector<FormulaId> operands = {joined(loosest + 1)};
    if (own.groups_right && take(own.sign)) {
      const Nest nest(*this);
      operands.push_back(joined(loosest));
    }
    while (!own.groups_right && take(own.sign)) operands.push_back(joined(loosest + 1));
    return pool_.joined(own.kind, operands);
  }

  FormulaId unary() {
    const Nest nest(*this);
    skip();
    const std::size_t start = at_;
    if (take("!")) return pool_.negation(unary());
    if (take("(")) {
      const FormulaId inside = joined();
      skip();
      if (!take(")")) {
        fail(at_, fmt::format("expected ')' for the '(' at column {}, found {}", column(start), found()));
      }
      return inside;
    }
    const std::string_view token = word();
    if (token.empty()) {
      fail(at_, fmt::format("expected a formula (E(x,y), x = y, R1(x), !, a quantifier or '('), found {}", found()));
    }
    if (token == "exists" || token == "forall") return quantifier(token == "exists");
    if (token == "true" || token == "false") {
      at_ += token.size();
      return pool_.truth(token == "true");
    }
    if (token == "E") {
      at_ += 1;
      expect("(", "after E");
      const Variable a = variable();
      expect(",", "between the ends of an edge");
      const Variable b = variable();
      expect(")", "after the ends of an edge");
      return pool_.edge(a, b);
    }
    if (token[0] == 'R') {
      at_ += 1;
      const std::uint32_t index = number("a colour's number, as in R1,", kMaxColour, "");
      expect("(", "after a colour");
      const Variable v = variable();
      expect(")", "after a colour's variable");
      return pool_.colour(index, v);
    }
    if (is_small(token[0])) {
      const Variable a = variable();
      if (take("!=")) return pool_.negation(pool_.equal(a, variable()));
      expect("=", "or '!=' after a variable");
      return pool_.equal(a, variable());
    }
    fail(at_, fmt::format("'{}' is no relation: there are E(x,y), x = y and colours R1(x), R2(x), …", token));
  }

  FormulaId quantifier(bool existential) {
    at_ += 6;
    skip();
    const std::size_t sign = at_;
    std::string_view symbol;
    for (const std::string_view candidate : {">=", "<=", "="}) {
      if (symbol.empty() && take(candidate)) symbol = candidate;
    }
    std::uint32_t count = 1;
    if (!symbol.empty()) {
      if (!existential) fail(sign, "'forall' takes no count; write exists>=3 y. …");
      count = number("a count", kMaxCount - 1, " (for 'none' write !exists)");
    }
    const Variable v = variable();
    expect(".", "after a quantifier's variable");
    const FormulaId body = joined();
    if (!existential) return pool_.for_all(v, body);
    if (symbol == "=") return pool_.exactly(count, v, body);
    if (symbol == "<=") return pool_.negation(pool_.at_least(count + 1, v, body));
    return pool_.at_least(count, v, body);
  }

  Variable variable() {
    const std::string_view token = word();
    if (token.empty() || !is_small(token[0])) {
      fail(at_, fmt::format("expected a variable (a small letter, as x or y2), found {}", found()));
    }
    if (token == "exists" || token == "forall" || token == "true" || token == "false") {
      fail(at_, fmt::format("'{}' cannot be a variable", token));
    }
    if (std::ranges::any_of(token, [](char c) { return c >= 'A' && c <= 'Z'; })) {
      fail(at_, fmt::format("'{}' is no variable: small letters, digits and _ only", token));
    }
    const std::size_t start = at_;
    at_ += token.size();
    try {
      return pool_.variable(token);
    } catch (const InputError& error) {
      fail(start, error.what());
    }
  }

  std::uint32_t number(const char* what, std::uint32_t high, const char* if_zero) {
    skip();
    const std::size_t start = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    const std::string_view digits = text_.substr(start, at_ - start);
    if (digits.empty()) fail(start, fmt::format("expected {}, found {}", what, found()));
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool fits = error == std::errc();
    if (!fits || value == 0 || value > high) {
      fail(start, fmt::format("{} is out of range: {} goes from 1 to {}{}", digits.substr(0, 30), what, high,
                              fits && value == 0 ? if_zero : ""));
    }
    return value;
  }

  struct Nest {
    explicit Nest(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kMaxDepth) {
        parser_.fail(parser_.at_, fmt::format("nested deeper than {} levels", kMaxDepth));
      }
      parser_.deepest_ = std::max(parser_.deepest_, parser_.depth_);
    }
    ~Nest() { --parser_.depth_; }
    Nest(const Nest&) = delete;
    Nest& operator=(const Nest&) = delete;
    Parser& parser_;
  };

  FormulaPool& pool_;
  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int deepest_ = 0;
};

class Printer {
 public:
  Printer(const FormulaPool& pool, std::size_t limit) : pool_(pool), limit_(limit) {}

  std::string text(FormulaId f) {
    print(f);
    if (out_.size() > limit_) {
      std::size_t cut = limit_;
      while (cut > 0 && goes_on(out_[cut])) --cut;
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
      if (is_exactly(f) || binds(v.kind)) return true;
      if (v.kind == Kind::negation) {
        f = v.operands[0];
      } else if (tightness(v.kind) < kConnectives.size()) {
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
    if (outer == Kind::negation) return tightness(kind) < kConnectives.size();
    const bool groups_right = last && kind == outer && kConnectives[tightness(outer)].groups_right;
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
    operand(body, tightness(kind_of(body)) < kConnectives.size());
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
    for (std::size_t i = 0; i < v.operands.size(); ++i) {
      if (i > 0) out_ += fmt::format(" {} ", kConnectives[tightness(v.kind)].sign);
      operand(v.operands[i], needs_parentheses(v.kind, v.operands[i], i + 1 == v.operands.size()));
      if (out_.size() > limit_) return;
    }
  }

  const FormulaPool& pool_;
  std::size_t limit_;
  std::string out_;
};

}  // namespace

FormulaId parse_formula(FormulaPool& pool, std::string_view text) { return Parser(pool, text).whole(); }

std::string print_formula(const FormulaPool& pool, FormulaId f, std::size_t limit) {
  return Printer(pool, limit).text(f);
}

}  // namespace tyche::theory
