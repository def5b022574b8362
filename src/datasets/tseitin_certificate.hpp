#pragma once
/// The certificate of a pair of the ladder (tseitin.hpp), from its two graphs alone.
#include "datasets/certificate.hpp"

namespace tyche::datasets {

/// One pair under examination: checks fill `out` one after another.
struct Examination {
  std::uint64_t pair;
  const Graph& sat;
  const Graph& unsat;
  const Expectation& expectation;
  PairCertificate out{};

  void fail(const char* property, std::string detail) { out.failures.push_back({pair, property, std::move(detail)}); }
};

/// Whether a component of the graph encodes a Tseitin formula over a connected simple cubic graph.
[[nodiscard]] bool has_tseitin_core(const Graph& graph);

/// The certificate of the graph labelled 1 and the one labelled 0. Labels are checked by parity (the charges read back
/// from the graph; for the satisfiable one an assignment is evaluated) and by CaDiCaL, which is not asked over base
/// graphs of more than 40 nodes: refuting a Tseitin formula takes a solver time exponential in the width of the base
/// graph. Nor is bliss then, for which these graphs are the hard ones; that one formula is satisfiable and the other is
/// not says that their graphs are not isomorphic.
[[nodiscard]] PairCertificate certify_tseitin(std::uint64_t pair, const Graph& sat, const Graph& unsat,
                                              const Expectation& expectation);

}  // namespace tyche::datasets
