#include "logic/cnf.hpp"

#include <fmt/format.h>

#include "support/error.hpp"
#include "support/words.hpp"

namespace tyche {

Formula conjunction_of_disjoint(const Formula& a, const Formula& b) {
  Formula out = a;
  out.variables += b.variables;
  const auto shift = static_cast<Literal>(a.variables);
  for (Disjunction disjunction : b.disjunctions) {
    for (Literal& literal : disjunction) literal += literal > 0 ? shift : -shift;
    out.disjunctions.push_back(std::move(disjunction));
  }
  return out;
}

bool evaluate(const Formula& formula, const std::vector<bool>& assignment) {
  for (const Disjunction& disjunction : formula.disjunctions) {
    bool holds = false;
    for (const Literal literal : disjunction) {
      const auto variable = static_cast<std::size_t>(literal > 0 ? literal : -literal);
      holds = holds || assignment[variable - 1] == (literal > 0);
    }
    if (!holds) return false;
  }
  return true;
}

namespace {

/// Words of a DIMACS text with the line each stands on.
class Words {
 public:
  Words(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  /// The next word outside comments; empty at the end.
  std::string_view next() {
    for (;;) {
      skip_space();
      if (at_ == text_.size()) return {};
      if (line_start_ && text_[at_] == 'c' && (at_ + 1 == text_.size() || is_space(text_[at_ + 1]))) {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
        continue;
      }
      line_start_ = false;
      const std::size_t begin = at_;
      while (at_ < text_.size() && !is_space(text_[at_])) ++at_;
      return text_.substr(begin, at_ - begin);
    }
  }

  template <class Int>
  Int integer(std::string_view word, const char* expected) {
    const auto value = number_of<Int>(word);
    if (!value) fail("expected {}, found '{}'", expected, shown(word));
    return *value;
  }

  template <class... T>
  [[noreturn]] void fail(fmt::format_string<T...> what, T&&... values) const {
    throw InputError::at(name_, fmt::format("line {}", line_), fmt::format(what, std::forward<T>(values)...));
  }

  /// At most 20 characters, control characters replaced: errors must stay one clean line.
  static std::string shown(std::string_view word) {
    std::string out(word.substr(0, 20));
    for (char& c : out) {
      if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = '?';
    }
    return out + (word.size() > 20 ? "..." : "");
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) {
      if (text_[at_] == '\n') {
        ++line_;
        line_start_ = true;
      }
      ++at_;
    }
  }

  std::string_view text_;
  std::string_view name_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  bool line_start_ = true;
};

}  // namespace

Formula parse_dimacs(std::string_view text, std::string_view name) {
  Words words(text, name);
  if (words.next() != "p" || words.next() != "cnf") words.fail("expected the header 'p cnf VARIABLES DISJUNCTIONS'");
  const auto variables = words.integer<std::int64_t>(words.next(), "the number of variables");
  const auto promised = words.integer<std::int64_t>(words.next(), "the number of disjunctions");
  // A formula becomes a graph of two nodes per variable, so their number must stay below 2^31; and a header may not
  // promise much more than the text can hold, or a few bytes would ask for gigabytes.
  const auto limit = static_cast<std::int64_t>(std::min<std::size_t>(1000000000, 64 * text.size() + (1u << 16)));
  if (variables < 0 || variables > limit) {
    words.fail("{} variables are out of range for a file of {} bytes (0 to {})", variables, text.size(), limit);
  }
  if (promised < 0) words.fail("the number of disjunctions is negative: {}", promised);
  Formula formula;
  formula.variables = static_cast<std::uint32_t>(variables);
  Disjunction current;
  bool open = false;
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (word == "%") break;  // SATLIB's end mark; what follows it is not part of the formula
    const auto literal = words.integer<std::int64_t>(word, "a literal");
    if (literal < -variables || literal > variables) {
      words.fail("literal {} is out of range: the header promises {} variables", literal, variables);
    }
    if (literal == 0) {
      if (static_cast<std::int64_t>(formula.disjunctions.size()) == promised) {
        words.fail("more disjunctions than the {} the header promises", promised);
      }
      formula.disjunctions.push_back(std::move(current));
      current.clear();
      open = false;
    } else {
      current.push_back(static_cast<Literal>(literal));
      open = true;
    }
  }
  if (open) words.fail("the last disjunction has no closing 0");
  if (static_cast<std::int64_t>(formula.disjunctions.size()) != promised) {
    words.fail("the header promises {} disjunctions, the file holds {}", promised, formula.disjunctions.size());
  }
  return formula;
}

std::string to_dimacs(const Formula& formula) {
  std::string out = fmt::format("p cnf {} {}\n", formula.variables, formula.disjunctions.size());
  for (const Disjunction& disjunction : formula.disjunctions) {
    for (const Literal literal : disjunction) out += fmt::format("{} ", literal);
    out += "0\n";
  }
  return out;
}

}  // namespace tyche
