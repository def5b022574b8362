#pragma once
// A page of the theory as a test (docs/theory.md, docs/lab/theory.md): every `$ …` line of its console blocks is run,
// in one folder, and must say what the page says it says. "[…]" stands for text that differs from machine to machine.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "program.hpp"
#include "support/file.hpp"
#include "support/temporary_folder.hpp"

namespace tyche::theory::test {

struct Step {
  std::string command;
  std::string expected;
  std::size_t line = 0;
};

/// The steps of its console blocks. A command that ends with a backslash goes on in the next line.
inline std::vector<Step> steps_of(const std::string& document) {
  std::vector<Step> steps;
  std::istringstream lines(document);
  std::string line;
  bool inside = false;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (line.starts_with("```")) {
      inside = !inside && line == "```console";
    } else if (inside && line.starts_with("$ ")) {
      steps.push_back({line.substr(2), "", number});
    } else if (inside && !steps.empty() && steps.back().command.ends_with('\\')) {
      steps.back().command += "\n" + line;
    } else if (inside && !steps.empty()) {
      steps.back().expected += line + "\n";
    }
  }
  return steps;
}

inline bool matches(const std::string& text, const std::string& expected) {
  static const std::string kAnything = "[…]";
  std::istringstream have(text), want(expected);
  std::string a, b;
  for (;;) {
    const bool more_a = static_cast<bool>(std::getline(have, a)), more_b = static_cast<bool>(std::getline(want, b));
    if (!more_a || !more_b) return more_a == more_b;
    const auto hole = b.find(kAnything);
    if (hole == std::string::npos ? a != b
                                  : !(a.size() + kAnything.size() >= b.size() && a.starts_with(b.substr(0, hole)) &&
                                      a.ends_with(b.substr(hole + kAnything.size())))) {
      return false;
    }
  }
}

/// Runs the blocks of a page of docs/; returns how many commands there were.
inline std::size_t run_document(const std::string& page, const TemporaryFolder& folder) {
  const std::string document = read_file(std::filesystem::path(TYCHE_TEST_DATA) / "../../docs" / page);
  const std::vector<Step> steps = steps_of(document);
  std::filesystem::copy(std::filesystem::path(TYCHE_TEST_DATA) / "theory", folder.path());
  for (const Step& step : steps) {
    const Ended ended = run_line(step.command, folder.path());
    EXPECT_TRUE(matches(ended.text, step.expected))
        << "docs/" << page << ":" << step.line << ": " << step.command << "\n--- it says\n"
        << ended.text << "--- the page says\n"
        << step.expected;
  }
  return steps.size();
}

}  // namespace tyche::theory::test
