#include "logic/cnf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

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
  return std::ranges::all_of(formula.disjunctions, [&](const Disjunction& disjunction) {
    return std::ranges::any_of(disjunction, [&](Literal literal) {
      return assignment[static_cast<std::size_t>(literal > 0 ? literal : -literal) - 1] == (literal > 0);
    });
  });
}

namespace {

/// Words of a DIMACS text with the line each stands on.
class Words {
 public:
  Words(std::string_view text, std::string_view name) : rest_(text), name_(name) {}

  /// The next word outside comments; empty at the end.
  std::string_view next() {
    constexpr std::string_view kBlank = " \t\r\n";
    for (;;) {
      const std::string_view blanks = rest_.substr(0, rest_.find_first_not_of(kBlank));
      const auto ends = std::ranges::count(blanks, '\n');
      line_ += static_cast<std::size_t>(ends);
      rest_.remove_prefix(blanks.size());
      const std::string_view word = rest_.substr(0, rest_.find_first_of(kBlank));
      const bool comment = word == "c" && (line_start_ || ends > 0);
      rest_.remove_prefix(comment ? std::min(rest_.find('\n'), rest_.size()) : word.size());
      line_start_ = comment;
      if (!comment) return word;
    }
  }

  std::int64_t integer(std::string_view word, const char* expected) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) fail("expected {}, found {}", expected, shown(word));
    return value;
  }

  template <class... T>
  [[noreturn]] void fail(fmt::format_string<T...> message, T&&... values) const {
    throw InputError::at(name_, fmt::format("line {}", line_), fmt::format(message, std::forward<T>(values)...));
  }

 private:
  std::string_view rest_;
  std::string_view name_;
  std::size_t line_ = 1;
  bool line_start_ = true;
};

}  // namespace

Formula parse_dimacs(std::string_view text, std::string_view name) {
  Words words(text, name);
  if (words.next() != "p" || words.next() != "cnf") words.fail("expected the header 'p cnf VARIABLES DISJUNCTIONS'");
  const auto variables = words.integer(words.next(), "the number of variables");
  const auto promised = words.integer(words.next(), "the number of disjunctions");
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
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (word == "%") break;  // SATLIB's end mark; what follows it is not part of the formula
    const auto literal = words.integer(word, "a literal");
    if (literal < -variables || literal > variables) {
      words.fail("literal {} is out of range: the header promises {} variables", literal, variables);
    }
    if (literal == 0) {
      if (static_cast<std::int64_t>(formula.disjunctions.size()) == promised) {
        words.fail("more disjunctions than the {} the header promises", promised);
      }
      formula.disjunctions.push_back(std::move(current));
      current.clear();
    } else {
      current.push_back(static_cast<Literal>(literal));
    }
  }
  if (!current.empty()) words.fail("the last disjunction has no closing 0");
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
