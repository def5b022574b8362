// tyche theory, as a program: answers, JSON, exit codes, and what it says of bad input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program.hpp"
#include "support/file.hpp"
#include "support/temporary_folder.hpp"
#include "theory/acr_io.hpp"

namespace tyche::theory {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Command : public ::testing::Test {
 protected:
  test::Ended run(const std::string& arguments) { return test::run_line("tyche theory " + arguments, folder_.path()); }
  json answer(const std::string& arguments, int code = 0) {
    const test::Ended ended = run(arguments + " --json");
    EXPECT_EQ(ended.code, code) << ended.text;
    return json::parse(ended.text);
  }
  void expect_refused(const std::string& arguments, const std::string& because) {
    const test::Ended ended = run(arguments);
    EXPECT_EQ(ended.code, 2) << arguments << "\n" << ended.text;
    EXPECT_THAT(ended.text, HasSubstr(because)) << arguments;
    EXPECT_THAT(ended.text, testing::Not(HasSubstr("internal error"))) << arguments;
  }
  TemporaryFolder folder_;
};

TEST_F(Command, CheckAnswersAndItsExitCodeSaysIt) {
  EXPECT_EQ(run("check 'exists x. exists>=2 y. E(x,y)' --graph g6:Bw").code, 0);
  EXPECT_EQ(run("check 'exists x. exists>=3 y. E(x,y)' --graph g6:Bw").code, 1);
  const json nodes = answer("check 'exists>=2 y. E(x,y)' --graph g6:BW");
  EXPECT_EQ(nodes.at("satisfying"), json({2}));
  EXPECT_EQ(nodes.at("holds"), true);
}

TEST_F(Command, GraphsComeFromFilesByNumber) {
  write_file(folder_ / "two.g6", "Bw\nB?\n");
  write_file(folder_ / "typed.txt", "1\n2 0\n0 1 1\n1 1 0\n");  // two nodes of types 0 and 1, joined
  EXPECT_EQ(run("check 'exists x. exists y. E(x,y)' --graph two.g6:0").code, 0);
  EXPECT_EQ(run("check 'exists x. exists y. E(x,y)' --graph two.g6:1").code, 1);
  EXPECT_EQ(answer("check 'R2(x)' --graph typed.txt").at("satisfying"), json({1}));
  expect_refused("check 'true' --graph two.g6", "holds 2 graphs; say which one");
  expect_refused("check 'true' --graph two.g6:2", "there is no graph 2");
  expect_refused("check 'true' --graph absent.g6", "absent.g6");
}

TEST_F(Command, CompileSavesDrawsAndComparesWithTheModelChecker) {
  const json out =
      answer("compile 'exists>=2 y. (!E(x,y) & R1(y))' --graph g6:BW --out n.safetensors --svg n.svg --dot n.dot");
  EXPECT_EQ(out.at("equal"), true);
  EXPECT_EQ(out.at("output"), json({1, 1, 0}));
  const AcrNetwork net = theory::load_acr(folder_ / "n.safetensors");
  EXPECT_EQ(net.layers.size(), out.at("layers"));
  EXPECT_EQ(net.parameters(), out.at("parameters"));
  EXPECT_THAT(read_file(folder_ / "n.svg"), testing::StartsWith("<svg "));
  EXPECT_THAT(read_file(folder_ / "n.dot"), testing::StartsWith("digraph "));
}

TEST_F(Command, ApproximateAnswersWithTheKeysItPromises) {
  const json out = answer("approximate --function connected --n 3 --delta 0.4 --trials 200 --quiet");
  for (const char* key :
       {"function", "n", "delta", "construction", "layers", "width", "classes", "worst_success", "seconds"}) {
    EXPECT_TRUE(out.contains(key)) << key;
  }
  EXPECT_EQ(out.at("classes"), 7);
  EXPECT_EQ(out.at("construction"), "order");
  const json several = answer("approximate --function edges,planar --n 2 --trials 100 --quiet --construction paper");
  EXPECT_EQ(several.size(), 2u);
  EXPECT_EQ(several[1].at("function"), "planar");
}

TEST_F(Command, ApproximateTakesFunctionsFromFiles) {
  write_file(folder_ / "f.txt", "A_ -2.5\nBw 7\n");
  const json out = answer("approximate --function f.txt --n 3 --trials 300 --per-class --quiet");
  EXPECT_GE(out.at("worst_success"), 0.9);
  for (const json& row : out.at("per_class")) {
    EXPECT_EQ(row.at("value"), row.at("graph6") == "A_" ? -2.5 : row.at("graph6") == "Bw" ? 7 : 0);
  }
}

TEST_F(Command, IndividualiseAndSeparateAnswerInJson) {
  const json out = answer("individualise --n 5 --delta 0.1 --trials 5000");
  EXPECT_EQ(answer("individualize --n 5 --delta 0.1 --trials 5000"), out);  // as 0.2.0 spelled it
  EXPECT_EQ(out.at("colours"), 500);
  EXPECT_LE(out.at("failure_rate"), 0.1);
  const json apart = answer("separate g6:EwCW g6:EhEG --trials 500");
  EXPECT_EQ(apart.at("wl_round"), nullptr);
  EXPECT_EQ(apart.at("true_on_a"), 6);
  EXPECT_EQ(apart.at("separated"), true);
}

TEST_F(Command, TheSeedDecidesAndThreadsDoNot) {
  const std::string line = "individualise --n 4 --delta 0.3 --trials 2000 --one-in 2 --seed ";
  EXPECT_EQ(run(line + "5 --threads 1").text, run(line + "5 --threads 3").text);
  EXPECT_NE(run(line + "5").text, run(line + "6").text);
}

TEST_F(Command, BadInputIsRefusedWithAReason) {
  expect_refused("check 'exists x. (R1(x)' --graph g6:Bw", "column 17: expected ')' for the '(' at column 11");
  expect_refused("check 'E(x,y)' --graph g6:Bw", "x, y are free");
  expect_refused("check 'exists>=0 x. true' --graph g6:Bw", "0 is out of range");
  expect_refused("check 'exists>=1000000 x. true' --graph g6:Bw", "1000000 is out of range");
  expect_refused("check 'R3(x)' --graph g6:Bw", "the formula speaks of R3, but this graph's colours are R1 alone");
  expect_refused("check 'true' --graph g6:?", "at least one node");
  expect_refused("check 'true' --graph 'g6:B!'", "g6:B!");
  expect_refused("compile 'exists x. exists y. exists z. (E(x,y) & E(y,z))'", "the third is z");
  expect_refused("compile 'E(x,y)'", "both free");
  expect_refused("compile 'R2(x)' --graph g6:Bw", "speaks of R2");
  expect_refused("compile 'true' --out absent/n.safetensors", "absent/n.safetensors");
  expect_refused("individualise --n 0", "at least 1");
  expect_refused("individualise --n 1000000", "fit in memory");
  expect_refused("individualise --delta 2", "between 0 and 1");
  expect_refused("approximate --function connected --n 9", "too large for the order construction");
  expect_refused("approximate --function connected --n 4 --construction paper", "too large for the paper construction");
  expect_refused("approximate --function primes", "connected, triangle");
  expect_refused("approximate --function planar --construction clever", "there are paper, order");
  expect_refused("separate g6:Bw g6:Bw", "isomorphic");
  expect_refused("separate g6:Bw", "B is required");
  expect_refused("", "A subcommand is required");
}

TEST_F(Command, EveryCommandHasAnExample) {
  for (const char* name : {"check", "compile", "individualise", "approximate", "separate"}) {
    const test::Ended help = run(std::string(name) + " --help");
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.text, HasSubstr("Example: tyche theory " + std::string(name)));
  }
}

}  // namespace
}  // namespace tyche::theory
