#pragma once
/// Any network in plain loops, step by step: the oracle of the fast engines. Every operation is written out once,
/// forward and backward, and nothing is fused. Templated on the number type, so that finite differences can be taken in
/// double.
///
///   const Interpreter<double> network(nn::program(config));
///   const Pass<double> pass = network.forward(parameters, scene);
///   network.backward(parameters, scene, pass, d_logits, gradient);
///
/// Several graphs are taken step by step together, so that a batch can be normalised.
///
/// Runs of earlier versions go on to the same bits, so the order of every sum counts. A pass backward takes the steps
/// from the last to the first, and within a step row by row: what a row gives to itself comes between what its
/// neighbours before and after it in the list give.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/message_graph.hpp"
#include "engine/reference/scene.hpp"
#include "nn/activation.hpp"
#include "nn/program.hpp"
#include "support/error.hpp"

namespace tyche::engine::reference {

/// Row-major.
template <class Real>
struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<Real> values;

  Matrix() = default;
  Matrix(std::size_t r, std::size_t c) : rows(r), columns(c), values(r * c, Real(0)) {}
  Real& operator()(std::size_t r, std::size_t c) { return values[r * columns + c]; }
  const Real& operator()(std::size_t r, std::size_t c) const { return values[r * columns + c]; }
};

/// Σ_e value_e · h_{column_e} for every row.
template <class Real>
Matrix<Real> multiply(const SparseRows& sparse, const Matrix<Real>& h) {
  Matrix<Real> out(sparse.rows(), h.columns);
  for (std::size_t v = 0; v < sparse.rows(); ++v) {
    for (std::uint64_t e = sparse.offsets[v]; e < sparse.offsets[v + 1]; ++e) {
      const Real weight = sparse.weights.empty() ? Real(1) : Real(sparse.weights[e]);
      for (std::size_t c = 0; c < h.columns; ++c) out(v, c) += weight * h(sparse.columns[e], c);
    }
    if (!sparse.scales.empty()) {
      for (std::size_t c = 0; c < h.columns; ++c) out(v, c) *= Real(sparse.scales[v]);
    }
  }
  return out;
}

/// A forward pass, as the backward pass needs it. One entry per step.
template <class Real>
struct Pass {
  std::vector<Matrix<Real>> values;
  /// Where a step takes maxima: the row that each number of its value is from (the first, if several).
  std::vector<std::vector<std::uint32_t>> winners;
  /// For linear steps: what each term read through its link; nothing where it read rows as they are.
  std::vector<std::vector<Matrix<Real>>> read;
  std::vector<std::vector<float>> factors;  ///< of dropout
  /// Of steps that normalise: a mean and 1/√(variance + ε) per column, or per row. By batch they are those of all
  /// graphs, and training has the running ones as they are after it.
  struct Norm {
    std::vector<Real> mean, scale, running_mean, running_variance;
  };
  std::vector<Norm> norms;

  /// Row after row.
  [[nodiscard]] const std::vector<Real>& logits() const { return values.back().values; }
};

template <class Real>
class Interpreter {
 public:
  /// `inputs`: gradients with respect to inputs are wanted too.
  explicit Interpreter(nn::Program program, bool inputs = false) : program_(std::move(program)) {
    for (const nn::Step& step : program_.steps) {
      // A layer of neighbours is a round; and what comes from no parameter needs no gradient.
      std::size_t round = 0;
      bool learned =
          inputs || step.bias != nn::kNone || step.epsilon != nn::kNone || step.operation == nn::Operation::linear;
      for (const nn::Term& term : step.terms) {
        if (program_.steps[term.value].space == step.space) {
          round = std::max(round, rounds_[term.value] + (term.link == nn::Link::neighbours ? 1 : 0));
        }
        learned = learned || learned_[term.value];
      }
      for (const std::size_t other : {step.arcs, step.onto})
        learned = learned || (other != nn::kNone && learned_[other]);
      rounds_.push_back(round);
      learned_.push_back(learned);
    }
  }

  [[nodiscard]] const nn::Program& program() const { return program_; }
  [[nodiscard]] const nn::Layout& layout() const { return program_.parameters; }

  using Scenes = std::span<const Scene* const>;
  /// A pass per scene. `training`: batches are normalised by themselves.
  [[nodiscard]] std::vector<Pass<Real>> forward(std::span<const Real> parameters, Scenes scenes, bool training) const {
    const std::size_t steps = program_.steps.size();
    std::vector<Pass<Real>> passes(scenes.size());
    for (Pass<Real>& pass : passes) {
      pass.winners.resize(steps);
      pass.read.resize(steps);
      pass.factors.resize(steps);
      pass.norms.resize(steps);
    }
    for (std::size_t s = 0; s < steps; ++s) {
      const nn::Step& step = program_.steps[s];
      for (std::size_t g = 0; g < scenes.size(); ++g) {
        check_rounds(s, *scenes[g]);
        passes[g].values.emplace_back(scenes[g]->rows(step.space, rounds_[s]), step.columns);
        run(s, parameters, *scenes[g], passes[g], passes[g].values.back());
      }
      if (step.operation == nn::Operation::normalise) normalise(s, parameters, passes, training);
    }
    return passes;
  }
  [[nodiscard]] Pass<Real> forward(std::span<const Real> parameters, const Scene& scene) const {
    const Scene* one = &scene;
    return std::move(forward(parameters, Scenes(&one, 1), false).front());
  }

  /// Adds to `gradient` (layout order) what `d_logits`, row after row, brings through these passes. Gives what it
  /// brings to the value of every step.
  std::vector<std::vector<Matrix<Real>>> backward(std::span<const Real> parameters, Scenes scenes,
                                                  std::span<const Pass<Real>> passes, std::span<const Real> d_logits,
                                                  std::span<Real> gradient) const {
    std::vector<std::vector<Matrix<Real>>> d(passes.size());
    for (std::size_t g = 0; g < passes.size(); ++g) {
      for (const Matrix<Real>& value : passes[g].values) d[g].emplace_back(value.rows, value.columns);
      const std::size_t own = d[g].back().values.size();
      std::copy_n(d_logits.begin(), own, d[g].back().values.begin());
      d_logits = d_logits.subspan(own);
    }
    for (std::size_t s = program_.steps.size(); s-- > 0;) {
      if (!learned_[s]) continue;
      if (program_.steps[s].operation == nn::Operation::normalise) {
        normalise_back(s, parameters, passes, d, gradient);
        continue;
      }
      for (std::size_t g = 0; g < passes.size(); ++g) run_back(s, parameters, *scenes[g], passes[g], d[g], gradient);
    }
    return d;
  }
  std::vector<Matrix<Real>> backward(std::span<const Real> parameters, const Scene& scene, const Pass<Real>& pass,
                                     std::span<const Real> d_logits, std::span<Real> gradient) const {
    const Scene* one = &scene;
    return std::move(backward(parameters, Scenes(&one, 1), std::span(&pass, 1), d_logits, gradient).front());
  }

 private:
  using M = Matrix<Real>;

  [[nodiscard]] const SparseRows& link(const Scene& scene, std::size_t s, const nn::Term& term) const {
    const nn::Step& step = program_.steps[s];
    return scene.link(term.link, program_.steps[term.value].space, step.space, term.reduce, rounds_[term.value]);
  }
  /// The row that row r is of, one round before.
  [[nodiscard]] std::span<const std::uint32_t> roots(const Scene& scene, std::size_t s, const nn::Term& term) const {
    if (rounds_[s] == rounds_[term.value]) return {};
    return scene.roots(program_.steps[s].space, rounds_[term.value]);
  }
  /// On classes, rows of two rounds differ, and linear steps alone look for the row that a row was.
  void check_rounds(std::size_t s, const Scene& scene) const {
    const nn::Step& step = program_.steps[s];
    for (const nn::Term& term : step.terms) {
      const bool own =
          step.operation != nn::Operation::linear && (term.link == nn::Link::own || step.epsilon != nn::kNone);
      if (own && step.space != nn::Space::graph && !roots(scene, s, term).empty()) {
        throw InputError("the step " + step.name +
                         " joins rows of before and after a layer: it runs on every set, not on classes of them");
      }
    }
  }
  [[nodiscard]] std::size_t at(std::size_t tensor) const { return program_.parameters.tensors[tensor].offset; }

  void run(std::size_t s, std::span<const Real> parameters, const Scene& scene, Pass<Real>& pass, M& out) const {
    const nn::Step& step = program_.steps[s];
    const auto value = [&](std::size_t i) -> const M& { return pass.values[step.terms[i].value]; };
    switch (step.operation) {
      case nn::Operation::input: {
        const std::vector<float> input = scene.input(step);
        std::copy(input.begin(), input.end(), out.values.begin());
        break;
      }
      case nn::Operation::linear:
        return linear(s, parameters, scene, pass, out);
      case nn::Operation::aggregate:
        return aggregate(s, parameters, scene, pass, out);
      case nn::Operation::product:
        for_products(out.rows, [&, &a = value(0), &b = value(1)](std::size_t to, std::size_t left, std::size_t right) {
          for (std::size_t c = 0; c < out.columns; ++c) out(to, c) += a(left, c) * b(right, c);
        });
        break;
      case nn::Operation::concat:
        for_parts(step, [&](std::size_t i, std::size_t first) {
          for (std::size_t r = 0; r < out.rows; ++r) {
            for (std::size_t c = 0; c < value(i).columns; ++c) out(r, first + c) = value(i)(r, c);
          }
        });
        break;
      case nn::Operation::add:
        for (std::size_t i = 0; i < step.terms.size(); ++i) {
          for (std::size_t k = 0; k < out.values.size(); ++k) out.values[k] += value(i).values[k];
        }
        break;
      case nn::Operation::normalise:
        break;  // of all graphs at once
      case nn::Operation::activate:
        for (std::size_t k = 0; k < out.values.size(); ++k) {
          out.values[k] = nn::activate(step.activation, value(0).values[k]);
        }
        break;
      case nn::Operation::dropout:
        out = value(0);
        pass.factors[s] = scene.dropout(step);
        for (std::size_t k = 0; k < pass.factors[s].size(); ++k) out.values[k] *= Real(pass.factors[s][k]);
        break;
    }
  }

  void run_back(std::size_t s, std::span<const Real> parameters, const Scene& scene, const Pass<Real>& pass,
                std::vector<M>& d, std::span<Real> gradient) const {
    const nn::Step& step = program_.steps[s];
    const M& d_out = d[s];
    const auto value = [&](std::size_t i) -> const M& { return pass.values[step.terms[i].value]; };
    const auto d_value = [&](std::size_t i) -> M& { return d[step.terms[i].value]; };
    switch (step.operation) {
      case nn::Operation::input:
      case nn::Operation::normalise:
        break;
      case nn::Operation::linear:
        return linear_back(s, parameters, scene, pass, d, gradient);
      case nn::Operation::aggregate:
        return aggregate_back(s, parameters, scene, pass, d, gradient);
      case nn::Operation::product:
        for_products(d_out.rows, [&, &a = value(0), &b = value(1), &d_a = d_value(0), &d_b = d_value(1)](
                                     std::size_t to, std::size_t left, std::size_t right) {
          for (std::size_t c = 0; c < d_out.columns; ++c) {
            d_a(left, c) += d_out(to, c) * b(right, c);
            d_b(right, c) += d_out(to, c) * a(left, c);
          }
        });
        break;
      case nn::Operation::concat:
        for_parts(step, [&](std::size_t i, std::size_t first) {
          for (std::size_t r = 0; r < d_out.rows; ++r) {
            for (std::size_t c = 0; c < value(i).columns; ++c) d_value(i)(r, c) += d_out(r, first + c);
          }
        });
        break;
      case nn::Operation::add:
        for (std::size_t i = 0; i < step.terms.size(); ++i) {
          for (std::size_t k = 0; k < d_out.values.size(); ++k) d_value(i).values[k] += d_out.values[k];
        }
        break;
      case nn::Operation::activate:
        for (std::size_t k = 0; k < d_out.values.size(); ++k) {
          d_value(0).values[k] += d_out.values[k] * nn::derivative(step.activation, pass.values[s].values[k]);
        }
        break;
      case nn::Operation::dropout:
        for (std::size_t k = 0; k < d_out.values.size(); ++k) {
          d_value(0).values[k] +=
              pass.factors[s].empty() ? d_out.values[k] : d_out.values[k] * Real(pass.factors[s][k]);
        }
        break;
    }
  }

  // ---- normalise: weight · (x - mean) · scale + bias

  /// Row r of each pass and column c, and what they are normalised by.
  template <class Passes, class Body>
  void for_numbers(std::size_t s, Passes& passes, const Body& body) const {
    const bool by_row = program_.steps[s].norm == nn::Norm::layer;
    for (std::size_t g = 0; g < passes.size(); ++g) {
      const M& x = passes[g].values[program_.steps[s].terms.front().value];
      for (std::size_t r = 0; r < x.rows; ++r) {
        for (std::size_t c = 0; c < x.columns; ++c) body(g, r, c, by_row ? r : c);
      }
    }
  }

  void normalise(std::size_t s, std::span<const Real> parameters, std::vector<Pass<Real>>& passes,
                 bool training) const {
    const nn::Step& step = program_.steps[s];
    const std::size_t value = step.terms.front().value;
    const auto mean_and_scale = [&](const auto& each, std::size_t count, Real& mean, Real& variance) {
      Real sum = 0, squares = 0;
      each([&](Real x) { sum += x; });
      mean = count == 0 ? Real(0) : sum / static_cast<Real>(count);
      each([&](Real x) { squares += (x - mean) * (x - mean); });
      variance = count == 0 ? Real(0) : squares / static_cast<Real>(count);
    };
    typename Pass<Real>::Norm all;
    std::size_t rows = 0;
    for (const Pass<Real>& pass : passes) rows += pass.values[value].rows;
    for (std::size_t c = 0; c < step.columns && step.norm == nn::Norm::batch; ++c) {
      Real mean = parameters[at(step.mean) + c], variance = parameters[at(step.variance) + c];
      const Real old_mean = mean, old_variance = variance;
      if (training && rows > 0) {
        const auto each = [&](const auto& body) {
          for (const Pass<Real>& pass : passes) {
            for (std::size_t r = 0; r < pass.values[value].rows; ++r) body(pass.values[value](r, c));
          }
        };
        mean_and_scale(each, rows, mean, variance);
        const Real unbiased =
            variance * static_cast<Real>(rows) / static_cast<Real>(std::max<std::size_t>(1, rows - 1));
        all.running_mean.push_back(Real(0.9) * old_mean + Real(0.1) * mean);
        all.running_variance.push_back(Real(0.9) * old_variance + Real(0.1) * unbiased);
      }
      all.mean.push_back(mean);
      all.scale.push_back(1 / std::sqrt(variance + Real(nn::kNormEpsilon)));
    }
    for (Pass<Real>& pass : passes) {
      pass.norms[s] = all;
      const M& x = pass.values[value];
      for (std::size_t r = 0; r < x.rows && step.norm == nn::Norm::layer; ++r) {
        Real mean = 0, variance = 0;
        const auto each = [&](const auto& body) {
          for (std::size_t c = 0; c < x.columns; ++c) body(x(r, c));
        };
        mean_and_scale(each, x.columns, mean, variance);
        pass.norms[s].mean.push_back(mean);
        pass.norms[s].scale.push_back(1 / std::sqrt(variance + Real(nn::kNormEpsilon)));
      }
    }
    for_numbers(s, passes, [&](std::size_t g, std::size_t r, std::size_t c, std::size_t i) {
      const auto& norm = passes[g].norms[s];
      passes[g].values[s](r, c) = parameters[at(step.terms.front().weight) + c] *
                                      ((passes[g].values[value](r, c) - norm.mean[i]) * norm.scale[i]) +
                                  parameters[at(step.bias) + c];
    });
  }

  void normalise_back(std::size_t s, std::span<const Real> parameters, std::span<const Pass<Real>> passes,
                      std::vector<std::vector<M>>& d, std::span<Real> gradient) const {
    const nn::Step& step = program_.steps[s];
    const std::size_t value = step.terms.front().value, weight = at(step.terms.front().weight);
    const auto hat = [&](std::size_t g, std::size_t r, std::size_t c, std::size_t i) {
      return (passes[g].values[value](r, c) - passes[g].norms[s].mean[i]) * passes[g].norms[s].scale[i];
    };
    // Sums over what shares a mean: of the gradient times the weight, and of that times the normalised number.
    const bool by_row = step.norm == nn::Norm::layer;
    const bool moves = by_row || (!passes.empty() && !passes.front().norms[s].running_mean.empty());
    std::vector<std::vector<Real>> sums(passes.size()), products(passes.size());
    std::size_t rows = 0;
    for (std::size_t g = 0; g < passes.size(); ++g) {
      rows += d[g][s].rows;
      sums[g].assign(by_row ? d[g][s].rows : step.columns, Real(0));
      products[g] = sums[g];
    }
    for_numbers(s, passes, [&](std::size_t g, std::size_t r, std::size_t c, std::size_t i) {
      const Real own = d[g][s](r, c), x = hat(g, r, c, i);
      gradient[at(step.bias) + c] += own;
      gradient[weight + c] += own * x;
      const std::size_t to = by_row ? g : 0;
      sums[to][i] += own * parameters[weight + c];
      products[to][i] += own * parameters[weight + c] * x;
    });
    const Real count = static_cast<Real>(by_row ? step.columns : rows);
    for_numbers(s, passes, [&](std::size_t g, std::size_t r, std::size_t c, std::size_t i) {
      const std::size_t of = by_row ? g : 0;
      Real one = d[g][s](r, c) * parameters[weight + c];
      if (moves) one -= sums[of][i] / count + hat(g, r, c, i) * products[of][i] / count;
      d[g][value](r, c) += one * passes[g].norms[s].scale[i];
    });
  }

  /// Pairs (i, j), (i, k), (k, j) of n² rows, in this order.
  template <class Body>
  static void for_products(std::size_t rows, const Body& body) {
    std::size_t n = 0;
    while (n * n < rows) ++n;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = 0; k < n; ++k) body(i * n + j, i * n + k, k * n + j);
      }
    }
  }
  /// The values of a concat and their first columns.
  template <class Body>
  void for_parts(const nn::Step& step, const Body& body) const {
    std::size_t first = 0;
    for (std::size_t i = 0; i < step.terms.size(); ++i) {
      body(i, first);
      first += program_.steps[step.terms[i].value].columns;
    }
  }

  // ---- linear: z = b + Σ over columns of Σ over terms of weight · what was read

  /// A term as it is read: row r of `rows`, or of the roots.
  struct Reading {
    const M* rows;
    std::span<const std::uint32_t> roots;
    std::size_t weight;
    [[nodiscard]] std::size_t row(std::size_t r) const { return roots.empty() ? r : roots[r]; }
    [[nodiscard]] const Real* at(std::size_t r) const { return rows->values.data() + row(r) * rows->columns; }
  };
  [[nodiscard]] std::vector<Reading> readings(std::size_t s, const Scene& scene, const Pass<Real>& pass) const {
    const nn::Step& step = program_.steps[s];
    std::vector<Reading> out;
    for (std::size_t i = 0; i < step.terms.size(); ++i) {
      const nn::Term& term = step.terms[i];
      const bool own = term.link == nn::Link::own;
      out.push_back({own ? &pass.values[term.value] : &pass.read[s][i],
                     own ? roots(scene, s, term) : std::span<const std::uint32_t>(), at(term.weight)});
    }
    return out;
  }

  void linear(std::size_t s, std::span<const Real> parameters, const Scene& scene, Pass<Real>& pass, M& out) const {
    const nn::Step& step = program_.steps[s];
    for (const nn::Term& term : step.terms) {
      pass.read[s].push_back(term.link == nn::Link::own ? M()
                                                        : reduced(term, link(scene, s, term), pass.values[term.value]));
    }
    const std::vector<Reading> terms = readings(s, scene, pass);
    // A column of all terms is one number of the sum: sums[k] is Σ over terms of weight · column k.
    std::size_t most = 0;
    for (const Reading& term : terms) most = std::max(most, term.rows->columns);
    std::vector<Real> sums(most);
    for (std::size_t r = 0; r < out.rows; ++r) {
      for (std::size_t j = 0; j < out.columns; ++j) {
        for (std::size_t i = 0; i < terms.size(); ++i) {
          const std::size_t columns = terms[i].rows->columns;
          const Real *x = terms[i].at(r), *weight = parameters.data() + terms[i].weight + j * columns;
          if (i == 0) std::fill(sums.begin() + static_cast<std::ptrdiff_t>(columns), sums.end(), Real(0));
          for (std::size_t k = 0; k < columns; ++k) sums[k] = i == 0 ? weight[k] * x[k] : sums[k] + weight[k] * x[k];
        }
        Real z = step.bias == nn::kNone ? Real(0) : parameters[at(step.bias) + j];
        for (const Real sum : sums) z += sum;
        out(r, j) = z;
      }
    }
  }

  void linear_back(std::size_t s, std::span<const Real> parameters, const Scene& scene, const Pass<Real>& pass,
                   std::vector<M>& d, std::span<Real> gradient) const {
    const nn::Step& step = program_.steps[s];
    const M& d_out = d[s];
    const std::vector<Reading> terms = readings(s, scene, pass);
    std::vector<std::vector<Real>> d_read(terms.size());
    std::vector<const SparseRows*> links;  // null: the row itself
    for (const nn::Term& term : step.terms) {
      links.push_back(term.link == nn::Link::own ? nullptr : &link(scene, s, term));
    }
    for (std::size_t r = 0; r < d_out.rows; ++r) {
      for (std::size_t i = 0; i < terms.size(); ++i) d_read[i].assign(terms[i].rows->columns, Real(0));
      for (std::size_t j = 0; j < d_out.columns; ++j) {
        const Real d_z = d_out(r, j);
        if (step.bias != nn::kNone) gradient[at(step.bias) + j] += d_z;
        for (std::size_t i = 0; i < terms.size(); ++i) {
          // Where there are several terms, the row's own adds to its gradient as it goes.
          const bool at_once = terms.size() > 1 && links[i] == nullptr;
          const std::size_t columns = terms[i].rows->columns, first = terms[i].weight + j * columns;
          const Real *x = terms[i].at(r), *weight = parameters.data() + first;
          Real* d_weight = gradient.data() + first;
          Real* to = at_once ? d[step.terms[i].value].values.data() + terms[i].row(r) * columns : d_read[i].data();
          for (std::size_t k = 0; k < columns; ++k) {
            d_weight[k] += d_z * x[k];
            to[k] += d_z * weight[k];
          }
        }
      }
      for (std::size_t i = 0; i < terms.size(); ++i) {
        M& d_in = d[step.terms[i].value];
        if (!learned_[step.terms[i].value]) continue;
        if (links[i] == nullptr) {
          for (std::size_t k = 0; k < d_in.columns && terms.size() == 1; ++k) d_in(terms[i].row(r), k) += d_read[i][k];
          continue;
        }
        const SparseRows& rows = *links[i];
        const Real sum = divides(step.terms[i], rows) ? total(rows, r) : Real(1);
        for (std::uint64_t e = rows.offsets[r]; e < rows.offsets[r + 1]; ++e) {
          const Real weight = rows.value(r, e) / sum;
          for (std::size_t k = 0; k < d_in.columns; ++k) d_in(rows.columns[e], k) += weight * d_read[i][k];
        }
      }
    }
  }

  // ---- aggregate

  /// Whether a mean divides by the sum of the weights: where the link does not hold the mean itself.
  [[nodiscard]] static bool divides(const nn::Term& term, const SparseRows& rows) {
    return term.reduce == nn::Reduce::mean && rows.scales.empty();
  }
  [[nodiscard]] static Real total(const SparseRows& rows, std::size_t r) {
    Real sum = 0;
    for (std::uint64_t e = rows.offsets[r]; e < rows.offsets[r + 1]; ++e) {
      sum += rows.weights.empty() ? Real(1) : Real(rows.weights[e]);
    }
    return sum;
  }
  [[nodiscard]] static M reduced(const nn::Term& term, const SparseRows& rows, const M& h) {
    M out = multiply(rows, h);
    for (std::size_t r = 0; r < out.rows && divides(term, rows); ++r) {
      const Real sum = total(rows, r);
      for (std::size_t c = 0; c < out.columns && sum > 0; ++c) out(r, c) /= sum;
    }
    return out;
  }

  void aggregate(std::size_t s, std::span<const Real> parameters, const Scene& scene, Pass<Real>& pass, M& out) const {
    const nn::Step& step = program_.steps[s];
    const nn::Term& term = step.terms.front();
    const M& h = pass.values[term.value];
    const SparseRows& rows = link(scene, s, term);
    if (term.reduce == nn::Reduce::max) return maximum(rows, h, pass.winners[s], out);
    if (step.onto != nn::kNone || step.arcs != nn::kNone) {
      const std::span<const std::uint32_t> arcs = scene.arcs_of(term.link);
      if (step.onto != nn::kNone) out = pass.values[step.onto];
      for (std::size_t k = 0; k < out.values.size() && step.onto != nn::kNone && step.epsilon != nn::kNone; ++k) {
        out.values[k] *= 1 + parameters[at(step.epsilon)];
      }
      for (std::size_t r = 0; r < out.rows; ++r) {
        const Real sum = divides(term, rows) ? total(rows, r) : Real(1);
        for (std::uint64_t e = rows.offsets[r]; e < rows.offsets[r + 1]; ++e) {
          for (std::size_t c = 0; c < out.columns; ++c)
            out(r, c) += Real(rows.value(r, e)) / sum * message(step, pass, h, rows, arcs, e, c);
        }
      }
    } else {
      out = reduced(term, rows, h);
    }
    if (step.epsilon == nn::kNone || step.onto != nn::kNone) return;
    for (std::size_t k = 0; k < out.values.size(); ++k)
      out.values[k] += (1 + parameters[at(step.epsilon)]) * h.values[k];
  }

  /// Column c of what entry e brings.
  static Real message(const nn::Step& step, const Pass<Real>& pass, const M& h, const SparseRows& rows,
                      std::span<const std::uint32_t> arcs, std::uint64_t e, std::size_t c) {
    const Real own = h(rows.columns[e], c);
    if (step.arcs == nn::kNone) return own;
    return nn::activate(step.activation, pass.values[step.arcs](arcs.empty() ? e : arcs[e], c) + own);
  }

  static void maximum(const SparseRows& rows, const M& h, std::vector<std::uint32_t>& winners, M& out) {
    winners.assign(out.values.size(), 0);  // of no rows the maximum is 0, and nobody's
    for (std::size_t r = 0; r < out.rows; ++r) {
      for (std::uint64_t e = rows.offsets[r]; e < rows.offsets[r + 1]; ++e) {
        for (std::size_t c = 0; c < out.columns; ++c) {
          const Real own = h(rows.columns[e], c);
          if (e != rows.offsets[r] && !(own > out(r, c))) continue;
          out(r, c) = own;
          winners[r * out.columns + c] = rows.columns[e];
        }
      }
    }
  }

  void aggregate_back(std::size_t s, std::span<const Real> parameters, const Scene& scene, const Pass<Real>& pass,
                      std::vector<M>& d, std::span<Real> gradient) const {
    const nn::Step& step = program_.steps[s];
    const nn::Term& term = step.terms.front();
    const M& h = pass.values[term.value];
    const SparseRows& rows = link(scene, s, term);
    const M& d_out = d[s];
    M& d_h = d[term.value];
    const bool divided = divides(term, rows);
    const std::span<const std::uint32_t> arcs = scene.arcs_of(term.link);
    const std::size_t times = step.onto == nn::kNone ? term.value : step.onto;  // what 1 + ε multiplies
    for (std::size_t r = 0; r < d_out.rows; ++r) {
      const std::uint64_t first = rows.offsets[r], last = rows.offsets[r + 1];
      for (std::size_t c = 0; c < d_out.columns && step.onto != nn::kNone && step.epsilon == nn::kNone; ++c) {
        d[step.onto](r, c) += d_out(r, c);
      }
      for (std::size_t c = 0; c < d_out.columns && step.epsilon != nn::kNone; ++c) {
        gradient[at(step.epsilon)] += d_out(r, c) * pass.values[times](r, c);
        d[times](r, c) += (1 + parameters[at(step.epsilon)]) * d_out(r, c);
      }
      if (term.reduce == nn::Reduce::max) {
        for (std::size_t c = 0; c < d_out.columns && first < last; ++c) {
          d_h(pass.winners[s][r * d_out.columns + c], c) += d_out(r, c);
        }
        continue;
      }
      const Real sum = divided ? total(rows, r) : Real(1);
      for (std::uint64_t e = first; e < last; ++e) {
        for (std::size_t c = 0; c < d_out.columns; ++c) {
          Real one = d_out(r, c);
          if (divided && rows.weights.empty()) {
            one /= sum;
          } else {
            one = 1 / sum * Real(rows.value(r, e)) * one;
          }
          if (step.arcs != nn::kNone) {
            one *= nn::derivative(step.activation, message(step, pass, h, rows, arcs, e, c));
            d[step.arcs](arcs.empty() ? e : arcs[e], c) += one;
          }
          d_h(rows.columns[e], c) += one;
        }
      }
    }
  }

  nn::Program program_;
  std::vector<std::size_t> rounds_;  ///< of every value
  std::vector<bool> learned_;        ///< whether any parameter is behind it
};

}  // namespace tyche::engine::reference
