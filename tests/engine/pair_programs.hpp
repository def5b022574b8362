#pragma once
/// Random networks over pairs, roots and what they read of each other, and what they give by plain loops.
#include <array>
#include <memory>

#include "engine/cases.hpp"
#include "engine/random_program.hpp"
#include "nn/program_builder.hpp"

namespace tyche::engine::pair_programs {

using nn::Link;
using nn::Operation;
using nn::Reduce;
using nn::Space;

/// Draws valid steps, one after another.
class Drawn {
 public:
  Drawn(Stream& stream, const nn::ModelConfig& model, bool kinks) : stream_(stream), kinks_(kinks) {
    const std::size_t node = build_.input(nn::Source::features, Space::node, model.input_features);
    const std::size_t arc = build_.input(nn::Source::edges, Space::arc, model.edge_features);
    nn::Step far{"distance", Operation::input, Space::pair, model.distance_cut + std::size_t{1}};
    far.source = nn::Source::distance;
    far.roots = model.roots;
    far.eval_roots = model.eval_roots;
    values_ = {node, arc, build_.step(std::move(far))};
    made(linear(Space::root, {{values_[2], Link::by_root, Reduce::sum}}));
    made(linear(Space::graph, {{values_[3], Link::whole, Reduce::mean}}));
  }

  nn::Program make() {
    for (std::size_t s = 0, steps = 8 + pick(14); s < steps; ++s) draw();
    std::vector<nn::Term> votes;
    for (const Space from : {Space::node, Space::arc, Space::pair, Space::root}) {
      votes.push_back({any(from), Link::whole, Reduce::mean});
    }
    (void)linear(Space::graph, votes, 3);
    return build_.take();
  }

 private:
  std::size_t pick(std::size_t count) { return stream_.below(count); }
  std::string next() { return "s" + std::to_string(count_++); }
  Reduce reduce() { return static_cast<Reduce>(pick(2)); }
  std::size_t made(std::size_t value) {
    values_.push_back(value);
    return value;
  }
  std::size_t any(Space space) {
    std::vector<std::size_t> all;
    for (const std::size_t value : values_) {
      if (build_.space(value) == space) all.push_back(value);
    }
    return all[std::max(pick(all.size()), pick(all.size()))];
  }
  std::size_t linear(Space space, std::vector<nn::Term> terms, std::size_t columns = 8) {
    nn::Step step{next(), Operation::linear, space, columns};
    for (nn::Term& term : terms) {
      const std::size_t in = build_.columns(term.value);
      term.weight = build_.tensor(step.name + ".w" + std::to_string(&term - terms.data()), {columns, in}, in);
    }
    step.terms = std::move(terms);
    if (pick(2) == 0) step.bias = build_.tensor(step.name + ".b", {columns}, columns);
    return build_.step(std::move(step));
  }
  nn::Term term_to(Space space) {
    if (pick(4) == 0) return {any(space), Link::sized, reduce()};
    switch (space) {
      case Space::node:
        if (pick(3) == 0) return {any(Space::graph), Link::whole, reduce()};
        return pick(2) == 0 ? nn::Term{any(Space::pair), Link::by_node, reduce()}
                            : nn::Term{any(Space::node), Link::neighbours, reduce()};
      case Space::arc:
        return {any(Space::pair), pick(2) == 0 ? Link::straight : Link::turned, Reduce::sum};
      case Space::root:
        return {any(Space::pair), Link::by_root, reduce()};
      case Space::pair:
        if (pick(4) == 0) return {any(Space::graph), Link::whole, reduce()};
        if (pick(3) == 0) return {any(Space::root), Link::by_root, reduce()};
        if (pick(2) == 0) return {any(Space::node), Link::by_node, reduce()};
        return {any(Space::pair), pick(2) == 0 ? Link::second : Link::first, reduce()};
      default:
        return {any(pick(2) == 0 ? Space::pair : Space::root), Link::whole, reduce()};
    }
  }
  std::size_t resized(std::size_t value, std::size_t columns) {
    return build_.columns(value) == columns ? value : made(linear(build_.space(value), {{value}}, columns));
  }
  void draw() {
    constexpr Space kSpaces[] = {Space::node, Space::arc, Space::pair, Space::pair, Space::root, Space::graph};
    const Space space = kSpaces[pick(6)];
    constexpr std::size_t kWidths[] = {1, 3, 8, 16, 17, 40};
    const std::size_t kind = pick(6);
    if (kind <= 1) {
      std::vector<nn::Term> terms = {term_to(space)};
      if (pick(2) == 0) terms.push_back({any(space)});
      made(linear(space, terms, kWidths[pick(6)]));
    } else if (kind == 2) {
      made(build_.normalise(next(), any(space), pick(2) == 0 ? nn::Norm::batch : nn::Norm::layer));
    } else if (kind == 3) {
      made(build_.activate(next(), any(space), static_cast<nn::Activation>(pick(kinks_ ? 3 : 2))));
    } else {
      const nn::Term term =
          kind == 4 ? nn::Term{any(Space::pair), pick(2) == 0 ? Link::second : Link::first, reduce()} : term_to(space);
      const Space to = kind == 4 ? Space::pair : space;
      const std::size_t columns = build_.columns(term.value);
      nn::Step step{"", Operation::aggregate, to, columns, {term}};
      if (nn::along_arcs(term.link) && pick(3) > 0) {
        step.arcs = resized(any(Space::arc), columns);
        step.activation = static_cast<nn::Activation>(pick(kinks_ ? 3 : 2));
      }
      if (pick(2) == 0) step.onto = resized(any(to), columns);
      step.name = next();
      if ((nn::along_arcs(term.link) || step.onto != nn::kNone) && pick(2) == 0) {
        step.epsilon = build_.tensor(step.name + ".eps", {1}, 4);
      }
      made(build_.step(std::move(step)));
    }
  }

  Stream& stream_;
  bool kinks_;
  nn::ProgramBuilder build_;
  std::vector<std::size_t> values_;
  std::size_t count_ = 0;
};

/// All graphs at once, by plain loops.
template <class Real>
struct Together {
  std::vector<Real> logits, gradient;
  double loss = 0;

  Together(const Job& job, const nn::Program& program, std::span<const Real> p, const Draw& draw, bool backward = true)
      : gradient(p.size(), Real(0)) {
    const reference::Interpreter<Real> network(program);
    const Inputs inputs = inputs_of(draw);
    std::vector<std::unique_ptr<reference::GraphScene>> scenes;
    std::vector<const reference::Scene*> views;
    for (std::uint32_t g = 0; g < job.data.graphs.size(); ++g) {
      scenes.push_back(std::make_unique<reference::GraphScene>(job, g, inputs, 0));
      views.push_back(scenes.back().get());
    }
    const auto passes = network.forward(p, views, draw.training);
    const Real scale = Real(1) / static_cast<Real>(views.size());
    std::vector<Real> d, own;
    for (std::size_t g = 0; g < passes.size(); ++g) {
      const auto& z = passes[g].logits();
      loss += double{scale} * plain_cross_entropy<Real>(z, job.data.targets[g].label, scale, own);
      logits.insert(logits.end(), z.begin(), z.end());
      d.insert(d.end(), own.begin(), own.end());
    }
    if (backward) network.backward(p, views, passes, d, gradient);
  }
};

inline nn::ModelConfig model_of(std::size_t round) {
  nn::ModelConfig model;
  model.kind = "local2";
  model.input_features = 3;
  model.edge_features = 2;
  model.classes = 3;
  model.distance_cut = 2;
  model.roots = std::array{0u, 1u, 3u}[round % 3];
  model.eval_roots = std::array{0u, 2u}[round % 2];
  return model;
}

inline std::vector<float> parameters_for(const nn::Program& program, Stream& stream) {
  std::vector<float> out;
  for (const nn::Tensor& tensor : program.parameters.tensors) {
    const bool variance = tensor.running && tensor.start == 1;
    for (std::size_t i = 0; i < tensor.size; ++i) {
      out.push_back(static_cast<float>(variance ? 0.5 + stream.uniform() : 0.8 * stream.uniform() - 0.4));
    }
  }
  return out;
}

}  // namespace tyche::engine::pair_programs
