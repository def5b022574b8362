#pragma once
/// The units of a network under construction: σ of an integer combination of earlier units at the node itself, summed
/// over its neighbours, and summed over all nodes. Equal units are one unit; each stands in the first layer it can.
/// Internal to compile.cpp.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/error.hpp"
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
  [[nodiscard]] Affine complement() const {
    Affine out = *this;
    out.bias = 1 - out.bias;
    for (Term& term : out.terms) term.weight = -term.weight;
    return out;
  }
};

/// left + factor · right.
[[nodiscard]] inline Affine add(const Affine& left, const Affine& right, std::int32_t factor = 1) {
  Affine out;
  out.bias = left.bias + factor * right.bias;
  out.terms.reserve(left.terms.size() + right.terms.size());
  auto a = left.terms.begin();
  auto b = right.terms.begin();
  while (a != left.terms.end() || b != right.terms.end()) {
    if (b == right.terms.end() || (a != left.terms.end() && a->unit < b->unit)) {
      out.terms.push_back(*a++);
    } else if (a == left.terms.end() || b->unit < a->unit) {
      out.terms.push_back({b->unit, factor * b->weight});
      ++b;
    } else {
      const std::int32_t weight = a->weight + factor * b->weight;
      if (weight != 0) out.terms.push_back({a->unit, weight});
      ++a;
      ++b;
    }
  }
  return out;
}

/// The sum of many, one after another.
class Sum {
 public:
  void add(const Affine& part) {
    all_.bias += part.bias;
    all_.terms.insert(all_.terms.end(), part.terms.begin(), part.terms.end());
  }
  [[nodiscard]] Affine finish() {
    auto& terms = all_.terms;
    std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.unit < b.unit; });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < terms.size();) {
      Term term = terms[i++];
      for (; i < terms.size() && terms[i].unit == term.unit; ++i) term.weight += terms[i].weight;
      if (term.weight != 0) terms[kept++] = term;
    }
    terms.resize(kept);
    return std::move(all_);
  }

 private:
  Affine all_;
};

class Units {
 public:
  /// Units 0 … inputs-1 are the inputs.
  Units(std::uint32_t inputs, std::uint64_t max_units) : inputs_(inputs), max_units_(max_units), records_(inputs) {}

  /// σ(self at the node + neighbour over the neighbours + readout over all nodes). The value must be 0 or 1 wherever
  /// the units are; a sum that is a constant or one unit is passed through.
  Affine sigma(const Affine& self, const Affine& neighbour = {}, const Affine& readout = {}) {
    // Constants under a sum over nodes count nodes, so they need a unit that is 1 everywhere.
    Affine around = neighbour, all = readout;
    const bool wants_one = around.bias != 0 || all.bias != 0;
    if (!wants_one && around.terms.empty() && all.terms.empty()) {
      if (self.is_constant()) return Affine::constant(std::clamp(self.bias, 0, 1));
      if (self.bias == 0 && self.terms.size() == 1 && self.terms[0].weight == 1) return self;
    }
    const auto intern = [&](const Affine& s, const Affine& a, const Affine& r) {
      std::uint64_t hash = mix(static_cast<std::uint32_t>(s.bias) ^ s.terms.size());
      hash = mix(hash ^ a.terms.size());
      for (const Affine* part : {&s, &a, &r}) {
        for (const Term& term : part->terms) {
          hash = mix(hash ^ (std::uint64_t{term.unit} << 32 | static_cast<std::uint32_t>(term.weight)));
        }
      }
      const auto equals = [&](std::uint32_t other) {
        const Record& o = records_[other];
        const Term* at = terms_.data() + o.first;
        return o.bias == s.bias && o.self == s.terms.size() && o.neighbour == a.terms.size() &&
               o.readout == r.terms.size() && std::equal(s.terms.begin(), s.terms.end(), at) &&
               std::equal(a.terms.begin(), a.terms.end(), at + o.self) &&
               std::equal(r.terms.begin(), r.terms.end(), at + o.self + o.neighbour);
      };
      return table_.find_or_add(hash, equals, [&] {
        if (records_.size() >= max_units_) {
          throw InputError("the network would need more than {} units", max_units_);
        }
        Record record;
        record.first = terms_.size();
        record.self = static_cast<std::uint32_t>(s.terms.size());
        record.neighbour = static_cast<std::uint32_t>(a.terms.size());
        record.readout = static_cast<std::uint32_t>(r.terms.size());
        record.bias = s.bias;
        for (const Affine* part : {&s, &a, &r}) {
          for (const Term& term : part->terms) record.layer = std::max(record.layer, records_[term.unit].layer);
          terms_.insert(terms_.end(), part->terms.begin(), part->terms.end());
        }
        ++record.layer;
        records_.push_back(record);
        return static_cast<std::uint32_t>(records_.size() - 1);
      });
    };
    if (wants_one) {
      const UnitId one = intern(Affine::constant(1), {}, {});
      for (Affine* part : {&around, &all}) {
        if (part->bias == 0) continue;
        Affine ones{0, {{one, part->bias}}};
        part->bias = 0;
        *part = add(*part, ones);
      }
    }
    return Affine::unit(intern(self, around, all));
  }

  [[nodiscard]] std::size_t size() const { return records_.size(); }

  /// The network whose outputs are these sums. Units nothing needs are left out; one that is needed later is handed on
  /// by σ(1 · u). `positions`, where given, gets the unit at each place of each layer (0: the inputs).
  [[nodiscard]] AcrNetwork assemble(std::span<const Affine> outputs,
                                    std::vector<std::vector<UnitId>>* positions = nullptr) const {
    // Units only use smaller numbers. until[u]: the last layer whose state must hold u.
    constexpr std::uint32_t kNever = 0xffffffffu;
    std::vector<std::uint32_t> until(records_.size(), kNever);
    const auto need = [&](UnitId u, std::uint32_t layer) {
      until[u] = until[u] == kNever ? layer : std::max(until[u], layer);
    };
    std::uint32_t depth = 0;
    for (const Affine& output : outputs) {
      for (const Term& term : output.terms) depth = std::max(depth, records_[term.unit].layer);
    }
    for (const Affine& output : outputs) {
      for (const Term& term : output.terms) need(term.unit, depth);
    }
    for (UnitId u = static_cast<UnitId>(records_.size()); u-- > inputs_;) {
      if (until[u] == kNever) continue;
      const Record& r = records_[u];
      for (std::uint64_t t = 0; t < r.self + r.neighbour + r.readout; ++t) need(terms_[r.first + t].unit, r.layer - 1);
    }

    AcrNetwork net;
    net.inputs = inputs_;
    std::vector<std::vector<UnitId>> fresh(depth + 1);
    for (UnitId u = inputs_; u < records_.size(); ++u) {
      if (until[u] != kNever) fresh[records_[u].layer].push_back(u);
    }
    std::vector<std::uint32_t> place(records_.size(), 0);
    const auto placed = [&](std::span<const Term> terms) {
      AcrTerms out;
      for (const Term& term : terms) out.emplace_back(place[term.unit], term.weight);
      return out;
    };
    std::vector<UnitId> current(inputs_);
    for (std::uint32_t i = 0; i < inputs_; ++i) current[i] = place[i] = i;
    if (positions) *positions = {current};
    for (std::uint32_t l = 1; l <= depth; ++l) {
      AcrLayer layer;
      std::vector<UnitId> next;
      for (const UnitId u : current) {  // handed on
        if (until[u] == kNever || until[u] < l) continue;
        layer.add({{place[u], 1}});
        next.push_back(u);
      }
      for (const UnitId u : fresh[l]) {
        const Record& r = records_[u];
        const std::span<const Term> own = std::span(terms_).subspan(r.first, r.self + r.neighbour + r.readout);
        layer.add(placed(own.first(r.self)), r.bias, placed(own.subspan(r.self, r.neighbour)),
                  placed(own.last(r.readout)));
        next.push_back(u);
      }
      for (std::uint32_t i = 0; i < next.size(); ++i) place[next[i]] = i;
      current = std::move(next);
      if (positions) positions->push_back(current);
      net.layers.push_back(std::move(layer));
    }
    for (const Affine& output : outputs) {
      net.head.add_row(placed(output.terms));
      net.head_bias.push_back(output.bias);
    }
    return net;
  }

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
