#pragma once
/// The units of a network under construction: σ of an integer combination of earlier units at the node itself, summed
/// over its neighbours, and summed over all nodes. Equal units are one unit; each stands in the first layer it can.
/// Internal to compile.cpp.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/intern.hpp"
#include "theory/acr.hpp"

namespace tyche::theory {

using UnitId = std::uint32_t;

struct Term {
  UnitId unit;
  std::int32_t weight;
  friend bool operator==(const Term&, const Term&) = default;
};

/// bias + Σ weight · unit at one node. Truth values are such sums: not u is 1 - u.
struct Affine {
  std::int32_t bias = 0;
  std::vector<Term> terms;  ///< ascending units, weights other than 0

  static Affine constant(std::int32_t value) { return {value, {}}; }
  static Affine unit(UnitId u) { return {0, {{u, 1}}}; }
  [[nodiscard]] bool is_constant() const { return terms.empty(); }
  [[nodiscard]] Affine complement() const;
};

/// left + factor · right.
[[nodiscard]] Affine add(const Affine& left, const Affine& right, std::int32_t factor = 1);

/// The sum of many, one after another.
class Sum {
 public:
  void add(const Affine& part);
  [[nodiscard]] Affine finish();

 private:
  Affine all_;
};

class Units {
 public:
  /// Units 0 … inputs-1 are the inputs.
  Units(std::uint32_t inputs, std::uint64_t max_units);

  /// σ(self at the node + neighbour over the neighbours + readout over all nodes). The value must be 0 or 1 wherever
  /// the units are; a sum that is a constant or one unit is passed through.
  Affine sigma(const Affine& self, const Affine& neighbour = {}, const Affine& readout = {});

  [[nodiscard]] std::size_t size() const { return records_.size(); }

  /// The network whose outputs are these sums. Units nothing needs are left out; one that is needed later is handed on
  /// by σ(1 · u). `positions`, where given, gets the unit at each place of each layer (0: the inputs).
  [[nodiscard]] AcrNetwork assemble(std::span<const Affine> outputs,
                                    std::vector<std::vector<UnitId>>* positions = nullptr) const;

 private:
  struct Record {
    std::uint64_t first = 0;  ///< into terms_: self, then neighbour, then readout
    std::uint32_t self = 0, neighbour = 0, readout = 0;
    std::int32_t bias = 0;
    std::uint32_t layer = 0;
  };

  std::uint32_t inputs_;
  std::uint64_t max_units_;
  std::vector<Record> records_;
  std::vector<Term> terms_;
  InternTable table_;
};

}  // namespace tyche::theory
