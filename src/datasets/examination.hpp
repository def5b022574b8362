#pragma once
/// One pair under examination: checks fill `out` one after another.
#include <cstdint>
#include <string>
#include <utility>

#include "datasets/certificate.hpp"

namespace tyche::datasets {

struct Examination {
  std::uint64_t pair;
  const Graph& sat;
  const Graph& unsat;
  const Expectation& expectation;
  PairCertificate out{};

  void fail(const char* property, std::string detail) { out.failures.push_back({pair, property, std::move(detail)}); }
};

}  // namespace tyche::datasets
