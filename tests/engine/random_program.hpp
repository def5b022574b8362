#pragma once
/// Networks that nobody named: random steps over nodes, arcs, graphs and pairs, and what they give in double.
///
///   const nn::Program program = RandomProgram(stream, true, true).make();
///   const Plain<double> exact(job, program, parameters, draw);
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "engine/cases.hpp"
#include "engine/reference/interpreter.hpp"
#include "engine/reference_cases.hpp"
#include "nn/program_builder.hpp"

namespace tyche::engine {

/// Data that these networks run on.
struct RandomProgramData {
  static constexpr std::size_t kFeatures = 3, kEdges = 2, kRandom = 4;
  static nn::ModelConfig model() {
    nn::ModelConfig model;
    model.kind = "gin";
    model.width = 2 * kRandom;
    model.rni = 0.5;
    model.input_features = kFeatures;
    model.edge_features = kEdges;
    model.classes = 3;
    return model;
  }
};

/// Draws valid steps, one after another.
class RandomProgram : RandomProgramData {
  using Link = nn::Link;
  using Operation = nn::Operation;
  using Reduce = nn::Reduce;
  using Space = nn::Space;

 public:
  /// `pairs`: with values over pairs; `kinks`: with maxima and ReLUs, on whose side rounding may decide.
  RandomProgram(Stream& stream, bool pairs, bool kinks) : stream_(stream), pairs_(pairs), kinks_(kinks) {}

  nn::Program make() {
    build_.input(nn::Source::features, Space::node, kFeatures);
    build_.input(nn::Source::random, Space::node, kRandom);
    build_.input(nn::Source::edges, Space::arc, kEdges);
    spaces_ = {Space::node, Space::node, Space::arc};
    if (pairs_) made(build_.input(nn::Source::adjacency, Space::pair, 1));
    for (std::size_t s = 0, steps = 6 + stream_.below(14); s < steps; ++s) draw_step();
    std::vector<nn::Term> votes;
    for (const Space from : {Space::node, Space::arc, Space::pair, Space::node}) {
      if (from != Space::pair || pairs_) votes.push_back(to_graph(any(from)));
    }
    nn::Step last{"logits", Operation::linear, Space::graph, 3, votes};
    build_.step(std::move(last));
    return build_.take();
  }

 private:
  std::size_t pick(std::size_t count) { return stream_.below(count); }
  std::string next() { return "s" + std::to_string(spaces_.size()); }
  Reduce reduce(bool max = true) { return static_cast<Reduce>(pick(max && kinks_ ? 3 : 2)); }
  nn::Activation activation() { return static_cast<nn::Activation>(pick(kinks_ ? 3 : 2)); }
  std::size_t width() {
    constexpr std::size_t kWidths[] = {1, 3, 8, 16, 17, 32, 40, 64};
    return kWidths[pick(8)];
  }

  std::size_t made(std::size_t step) {
    spaces_.push_back(build_.space(step));
    return step;
  }
  std::size_t any(Space space) {
    std::vector<std::size_t> all;
    for (std::size_t v = 0; v < spaces_.size(); ++v) {
      if (spaces_[v] == space) all.push_back(v);
    }
    // Later ones more often, so that networks grow deep.
    return all[std::max(pick(all.size()), pick(all.size()))];
  }
  std::size_t resized(std::size_t value, std::size_t columns) {
    return build_.columns(value) == columns ? value : made(build_.linear(next(), value, columns));
  }
  nn::Term weighted(nn::Term term, std::size_t columns) {
    const std::size_t in = build_.columns(term.value);
    term.weight = build_.tensor("w" + std::to_string(weights_++), {columns, in}, in);
    return term;
  }
  nn::Term to_graph(std::size_t value) {
    Link link = Link::whole;
    if (build_.space(value) == Space::pair) link = static_cast<Link>(static_cast<int>(Link::whole) + pick(3));
    return weighted({value, link, reduce(false)}, 3);
  }
  Space any_space() { return spaces_[pick(spaces_.size())]; }

  void linear(Space space) {
    const std::size_t columns = width();
    nn::Step step{next(), Operation::linear, space, columns};
    for (std::size_t t = 0, terms = 1 + pick(3); t < terms; ++t) {
      nn::Term term{any(space), Link::own, Reduce::sum};
      if (space == Space::node && pick(3) == 0) term = {any(Space::node), Link::neighbours, reduce(false)};
      if (space == Space::node && pick(5) == 0) term = {any(Space::arc), Link::arcs, reduce(false)};
      step.terms.push_back(weighted(term, columns));
    }
    if (pick(4) > 0) step.bias = build_.tensor("b" + std::to_string(weights_++), {columns}, columns);
    made(build_.step(std::move(step)));
  }

  void aggregate() {
    std::size_t kind = pick(6);
    if (kind == 2 && !pairs_) kind = 3;
    std::size_t value = any(kind == 1 ? Space::arc : Space::node);
    if (kind >= 4) value = any(any_space());
    nn::Step step{
        "", Operation::aggregate, Space::node, 0, {{value, kind == 1 ? Link::arcs : Link::neighbours, reduce()}}};
    if (kind == 2) {
      step.space = Space::pair;
      step.terms[0].link = Link::on_diagonal;
    } else if (kind >= 4) {
      if (build_.space(value) == Space::graph) return;
      step.space = Space::graph;
      step.terms[0].link = Link::whole;
      if (build_.space(value) == Space::pair)
        step.terms[0].link = static_cast<Link>(static_cast<int>(Link::whole) + pick(3));
    }
    if (kind == 3) {
      step.terms[0].reduce = reduce(false);
      if (pick(2) == 0) step.epsilon = build_.tensor("e" + std::to_string(weights_++), {1}, 4);
      if (pick(2) == 0) {
        step.arcs = resized(any(Space::arc), build_.columns(value));
        step.activation = activation();
      }
    }
    // With both at once there are networks in pair_programs.hpp.
    if (step.terms[0].reduce != Reduce::max && pick(3) == 0 && step.epsilon == nn::kNone) {
      if (std::find(spaces_.begin(), spaces_.end(), step.space) != spaces_.end()) {
        step.onto = resized(any(step.space), build_.columns(value));
      }
    }
    step.name = next();
    step.columns = build_.columns(value);
    made(build_.step(std::move(step)));
  }

  void draw_step() {
    const std::size_t kind = pick(pairs_ ? 8 : 7);
    const Space space = any_space();
    const std::size_t value = any(space);
    if (kind <= 1) return linear(space);
    if (kind <= 3) return aggregate();
    if (kind == 4) {
      made(build_.activate(next(), value, activation()));
    } else if (kind == 5) {
      std::vector<std::size_t> parts = {value};
      for (std::size_t i = 0; i <= pick(3); ++i) parts.push_back(any(space));
      made(build_.concat(next(), parts));
    } else if (kind == 6) {
      const std::size_t other = resized(any(space), build_.columns(value));
      nn::Step sum{next(), Operation::add, space, build_.columns(value), {{value}, {other}}};
      if (pick(2) == 0) sum.terms.push_back({value});
      made(build_.step(std::move(sum)));
    } else {
      const std::size_t columns = width();
      const std::size_t left = resized(any(Space::pair), columns), right = resized(any(Space::pair), columns);
      const std::size_t product =
          made(build_.step({next(), Operation::product, Space::pair, columns, {{left}, {right}}}));
      made(build_.activate(next(), product, nn::Activation::tanh));
    }
  }

  Stream& stream_;
  bool pairs_, kinks_;
  nn::ProgramBuilder build_;
  std::vector<Space> spaces_;  ///< of every step
  std::size_t weights_ = 0;
};

inline std::string text_of(const nn::Program& program) {
  std::string text;
  for (const nn::Step& step : program.steps) {
    text += step.name + ": " + nn::describe(step) + " over " + std::string(nn::name(step.space)) + " x " +
            std::to_string(step.columns) + " of";
    for (const nn::Term& term : step.terms) text += " " + program.steps[term.value].name;
    for (const std::size_t more : {step.arcs, step.onto}) {
      if (more != nn::kNone) text += " and " + program.steps[more].name;
    }
    text += "\n";
  }
  return text;
}

/// Logits, loss and gradient by plain loops.
template <class Real>
struct Plain {
  std::vector<Real> logits, gradient;
  double loss = 0;

  Plain(const Job& job, const nn::Program& program, std::span<const float> parameters, const Draw& draw)
      : gradient(parameters.size(), Real(0)) {
    const reference::Interpreter<Real> network(program);
    const std::vector<Real> p(parameters.begin(), parameters.end());
    const Inputs inputs = inputs_of(draw);
    const Real scale = Real(1) / static_cast<Real>(job.data.graphs.size());
    for (std::uint32_t g = 0; g < job.data.graphs.size(); ++g) {
      const reference::GraphScene scene(job, g, inputs, 0);
      const auto pass = network.forward(p, scene);
      std::vector<Real> d_logits;
      loss += double{scale} * plain_cross_entropy<Real>(pass.logits(), job.data.targets[g].label, scale, d_logits);
      network.backward(p, scene, pass, d_logits, gradient);
      logits.insert(logits.end(), pass.logits().begin(), pass.logits().end());
    }
  }
};

inline double largest(std::span<const double> values) {
  double out = 0;
  for (const double v : values) out = std::max(out, std::fabs(v));
  return out;
}

/// What rounding may cost: a share of the largest number, and some times what plain loops in float lose.
struct Rounding {
  double relative, lost;
};

/// `plain`: what plain loops in float make of it; how much they lose shows how much there is to lose.
inline void expect_as_exact(std::span<const float> actual, std::span<const double> exact, std::span<const float> plain,
                            const Rounding& may, const std::string& what) {
  ASSERT_EQ(actual.size(), exact.size());
  double lost = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) lost = std::max(lost, std::fabs(plain[i] - exact[i]));
  const double allowed = may.relative * std::max(1e-6, largest(exact)) + may.lost * lost;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    ASSERT_LE(std::fabs(actual[i] - exact[i]), allowed) << what << ", number " << i << " of " << exact.size();
  }
}

}  // namespace tyche::engine
