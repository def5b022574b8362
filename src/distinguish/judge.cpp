#include "distinguish/judge.hpp"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "distinguish/runner.hpp"
#include "distinguish/settings.hpp"
#include "engine/core/adam.hpp"
#include "support/statistics.hpp"
#include "support/symmetric_eigen.hpp"

namespace tyche::distinguish {

namespace {

// Outputs are floats: what is below this share of a column's variance is their rounding.
constexpr double kRegular = 1e-10;

/// Of rows of `columns` numbers each, row-major: their mean, and their sample covariance (of q rows, with q - 1).
struct Moments {
  std::vector<double> mean, covariance;
};
Moments moments(std::span<const double> rows, std::size_t columns) {
  const std::size_t d = columns, q = rows.size() / d;
  Moments out{std::vector<double>(d, 0.0), std::vector<double>(d * d, 0.0)};
  for (std::size_t i = 0; i < rows.size(); ++i) out.mean[i % d] += rows[i] / static_cast<double>(q);
  for (std::size_t i = 0; i < q; ++i) {
    for (std::size_t a = 0; a < d; ++a) {
      for (std::size_t b = 0; b < d; ++b) {
        out.covariance[a * d + b] +=
            (rows[i * d + a] - out.mean[a]) * (rows[i * d + b] - out.mean[b]) / static_cast<double>(q - 1);
      }
    }
  }
  return out;
}

/// Beyond a tie: logits so close that rounding decides are the same answer for both graphs, "not the first".
bool calls_first(std::span<const float> z) {
  const double size = 1.0 + std::abs(z[0]) + std::abs(z[1]);
  return static_cast<double>(z[0]) - z[1] > kRounding * size;
}

struct Range {
  double low, high;
};
Range range_of(std::span<const float> outputs, std::size_t columns, std::size_t column) {
  Range range{outputs[column], outputs[column]};
  for (std::size_t i = column; i < outputs.size(); i += columns) {
    range.low = std::min<double>(range.low, outputs[i]);
    range.high = std::max<double>(range.high, outputs[i]);
  }
  return range;
}

/// Renumbered copies of two graphs with what an engine needs of them: first those of a, then those of b; or in turn.
struct Copies {
  Copies(const FeaturedGraph& a, const FeaturedGraph& b, std::uint32_t of_each, bool in_turn, Key key)
      : labels(2 * std::size_t{of_each}, 0), numbers(2 * std::size_t{of_each}) {
    Stream stream(key);
    std::iota(numbers.begin(), numbers.end(), 0u);
    for (const std::uint32_t i : numbers) {
      const bool first = in_turn ? i % 2 == 0 : i < of_each;
      FeaturedGraph copy = renumbered(first ? a : b, stream);
      graphs.push_back(std::move(copy.graph));
      features.push_back(std::move(copy.features));
    }
  }

  std::vector<Graph> graphs;
  std::vector<std::vector<float>> features;
  std::vector<std::uint32_t> labels;   ///< all 0
  std::vector<std::uint32_t> numbers;  ///< 0, 1, 2, …
};

/// How often graphs were called the first: of the first half of the rows, which are of one graph, and of the second.
Verdict count_calls(std::span<const float> outputs, std::size_t columns) {
  const std::size_t half = outputs.size() / 2;
  Verdict verdict;
  for (std::size_t i = 0; i < half; i += columns) {
    verdict.first_a += calls_first(outputs.subspan(i, columns)) ? 1 : 0;
    verdict.first_b += calls_first(outputs.subspan(half + i, columns)) ? 1 : 0;
  }
  return verdict;
}

}  // namespace

std::optional<double> hotelling(std::span<const double> differences, std::size_t columns) {
  const std::size_t d = columns, q = d == 0 ? 0 : differences.size() / d;
  if (q <= d) return std::nullopt;
  auto [mean, s] = moments(differences, d);
  // Cholesky, S = L Lᵀ: T² is q |L⁻¹ D̄|². A pivot is what is left of a column's variance when the columns before it are
  // known.
  double sum = 0;
  std::vector<double> y(d, 0.0);
  for (std::size_t a = 0; a < d; ++a) {
    const double variance = s[a * d + a];
    for (std::size_t b = 0; b <= a; ++b) {
      double left = s[a * d + b];
      for (std::size_t c = 0; c < b; ++c) left -= s[a * d + c] * s[b * d + c];
      if (b < a) {
        s[a * d + b] = left / s[b * d + b];
      } else {
        if (!(left > kRegular * std::max(variance, mean[a] * mean[a]))) return std::nullopt;
        s[a * d + a] = std::sqrt(left);
      }
    }
    y[a] = mean[a];
    for (std::size_t b = 0; b < a; ++b) y[a] -= s[a * d + b] * y[b];
    y[a] /= s[a * d + a];
    sum += y[a] * y[a];
  }
  return static_cast<double>(q) * sum;
}

FeaturedGraph renumbered(const FeaturedGraph& sample, Stream& stream) {
  std::vector<Node> to(sample.graph.num_nodes());
  std::iota(to.begin(), to.end(), 0u);
  shuffle(to, stream);
  FeaturedGraph out{sample.graph.relabelled(to), std::vector<float>(sample.features.size())};
  const std::size_t columns = to.empty() ? 0 : sample.features.size() / to.size();
  for (std::size_t v = 0; v < to.size(); ++v) {
    std::copy_n(sample.features.begin() + static_cast<std::ptrdiff_t>(v * columns), columns,
                out.features.begin() + static_cast<std::ptrdiff_t>(to[v] * columns));
  }
  return out;
}

Verdict judge_random(std::span<const float> outputs, std::size_t columns, double level) {
  const auto draws = static_cast<std::uint32_t>(outputs.size() / columns / 2);
  Verdict verdict = count_calls(outputs, columns);
  verdict.p = fisher_greater(verdict.first_a, draws, verdict.first_b, draws);
  verdict.told_apart = verdict.p <= level;
  const std::size_t half = outputs.size() / 2;
  std::vector<double> differences(half);
  for (std::size_t i = 0; i < half; ++i) differences[i] = static_cast<double>(outputs[i]) - outputs[half + i];
  verdict.hotelling = hotelling(differences, columns);
  return verdict;
}

Verdict judge_fixed(std::span<const float> outputs, std::size_t columns) {
  const std::size_t half = outputs.size() / 2;
  Verdict verdict = count_calls(outputs, columns);
  for (std::size_t c = 0; c < columns; ++c) {
    const Range a = range_of(outputs.first(half), columns, c), b = range_of(outputs.subspan(half), columns, c);
    const double spread = std::max(a.high - a.low, b.high - b.low);
    const double size = 1 + std::max({std::abs(a.low), std::abs(a.high), std::abs(b.low), std::abs(b.high)});
    const double gap = std::max(a.low - b.high, b.low - a.high);
    verdict.told_apart = verdict.told_apart || gap > kSpreads * spread + kRounding * size;
  }
  verdict.p = verdict.told_apart ? 0 : 1;
  return verdict;  // the covariance is rounding: no T²
}

Verdict judge(engine::Engine& engine, const engine::Job& job, std::span<const float> parameters, const FeaturedGraph& a,
              const FeaturedGraph& b, const engine::Draw& draw, std::uint32_t draws, double level) {
  const bool random = job.model.draws();
  const std::uint32_t copies = random ? draws : fixed_copies(job.model);
  const Copies shown(a, b, copies, false, derive_key(draw.seed, Purpose::distinguish, draw.fold, 1));
  engine::Job own = job;
  own.data = {shown.graphs, shown.labels, shown.features};
  own.sets = nullptr;
  const engine::Logits logits = engine.predict(own, parameters, shown.numbers, draw);
  return random ? judge_random(logits.values, job.model.classes, level) : judge_fixed(logits.values, job.model.classes);
}

// ---- BREC's own protocol

namespace {

/// Graphs first … first + count - 1 of the copies as a job of their own.
engine::Job job_of(const Settings& settings, const Copies& copies, std::size_t first, std::size_t count) {
  engine::Job job;
  job.model = settings.config.model;
  job.compress = false;  // as copies would run elsewhere
  job.data = {std::span(copies.graphs).subspan(first, count), std::span(copies.labels).subspan(first, count),
              std::span(copies.features).subspan(first, count)};
  return job;
}

std::vector<float> outputs_of(engine::Engine& engine, const Settings& settings, const engine::State& state,
                              const Copies& copies, const engine::Draw& draw) {
  const engine::Job job = job_of(settings, copies, 0, copies.graphs.size());
  return engine.predict(job, state.parameters, copies.numbers, draw).values;
}

/// Returns the mean loss of the epoch.
double train_epoch(engine::Engine& engine, const Settings& settings, const Copies& copies, double rate,
                   engine::Draw draw, engine::State& state) {
  double sum = 0;
  std::vector<float> gradient;
  engine::Logits again;
  for (std::size_t first = 0; first < copies.graphs.size(); first += kReleasedBatch) {
    engine::Job job = job_of(settings, copies, first, kReleasedBatch);
    const std::span all(copies.numbers.data(), kReleasedBatch);
    draw.index = static_cast<std::uint32_t>(first / kReleasedBatch);
    const engine::Logits outputs = engine.predict(job, state.parameters, all, draw);
    std::vector<float> by_outputs(outputs.values.size());
    sum += cosine_loss(outputs.values, job.model.classes, by_outputs) * kReleasedBatch / 2;
    // The engine's loss is a mean over graphs.
    for (float& g : by_outputs) g *= static_cast<float>(kReleasedBatch);
    job.loss = engine::Loss::given;
    job.given = by_outputs;
    (void)engine.gradient(job, state.parameters, all, draw, gradient, again);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] += static_cast<float>(kReleasedRate) * state.parameters[i];  // weight decay, as torch.optim.Adam
    }
    engine::adam_step(state, gradient, rate);
  }
  return sum / kReleasedCopies;
}

/// Largest size of an entry.
double size_of(std::span<const double> values) {
  double most = 0;
  for (const double v : values) most = std::max(most, std::abs(v));
  return most;
}

}  // namespace

double cosine_loss(std::span<const float> outputs, std::size_t columns, std::span<float> gradient) {
  const std::size_t pairs = outputs.size() / columns / 2;
  double sum = 0;
  std::fill(gradient.begin(), gradient.end(), 0.0f);
  for (std::size_t i = 0; i < pairs; ++i) {
    const auto x = outputs.subspan(2 * i * columns, columns), y = outputs.subspan((2 * i + 1) * columns, columns);
    constexpr double kEps = 1e-12;  // PyTorch's, in the squared lengths
    double xx = kEps, yy = kEps, xy = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      xx += double{x[c]} * x[c];
      yy += double{y[c]} * y[c];
      xy += double{x[c]} * y[c];
    }
    const double lengths = std::sqrt(xx * yy), cosine = xy / lengths;
    if (cosine <= 0) continue;
    sum += cosine;
    for (std::size_t c = 0; c < columns; ++c) {
      const double scale = 1 / static_cast<double>(pairs);
      gradient[2 * i * columns + c] = static_cast<float>(scale * (y[c] / lengths - cosine * x[c] / xx));
      gradient[(2 * i + 1) * columns + c] = static_cast<float>(scale * (x[c] / lengths - cosine * y[c] / yy));
    }
  }
  return sum / static_cast<double>(pairs);
}

double released_statistic(std::span<const double> differences, std::size_t columns) {
  const std::size_t d = columns;
  const auto [mean, covariance] = moments(differences, d);
  const SymmetricEigen eigen = symmetric_eigen(covariance, d);
  const double most = size_of(eigen.values);
  double sum = 0;
  for (std::size_t k = 0; k < d; ++k) {
    if (!(std::abs(eigen.values[k]) > most * static_cast<double>(d) * 0x1p-23)) continue;
    double along = 0;
    for (std::size_t a = 0; a < d; ++a) along += eigen.vectors[k * d + a] * mean[a];
    sum += along * along / eigen.values[k];
  }
  return sum;
}

Verdict judge_outputs(std::span<const float> outputs, std::size_t columns) {
  const std::size_t q = outputs.size() / columns / 2;
  std::vector<double> differences(q * columns), centred(q * columns);
  double size = 1;
  for (std::size_t i = 0; i < q * columns; ++i) {
    const std::size_t row = i / columns, c = i % columns;
    const double x = outputs[2 * row * columns + c], y = outputs[(2 * row + 1) * columns + c];
    differences[i] = x - y;
    size = std::max({size, std::abs(x), std::abs(y)});
  }
  const std::vector<double> mean = moments(differences, columns).mean;
  for (std::size_t i = 0; i < centred.size(); ++i) centred[i] = differences[i] - mean[i % columns];
  Verdict verdict;
  if (size_of(centred) <= kReleasedRounding * size) {
    verdict.singular = true;
    verdict.told_apart = size_of(mean) > kSpreads * kReleasedRounding * size;
    verdict.p = verdict.told_apart ? 0 : 1;
    return verdict;
  }
  const double t = released_statistic(differences, columns);
  verdict.hotelling = t;
  verdict.told_apart = t > kReleasedThreshold;
  // P(F > f) with d and q - d degrees of freedom, of q T².
  const double d = static_cast<double>(columns), n = static_cast<double>(q);
  const double f = n * t * (n - d) / (d * (n - 1));
  verdict.p = std::isfinite(f) && f > 0 ? boost::math::ibeta((n - d) / 2, d / 2, (n - d) / (n - d + d * f)) : 1;
  return verdict;
}

PairResult judge_released(engine::Engine& engine, const Settings& settings, const FeaturedGraph& a,
                          const FeaturedGraph& b, std::uint64_t seed, std::uint32_t pair) {
  const auto key = [&](std::uint32_t use) { return derive_key(seed, Purpose::distinguish, pair, use); };
  const Copies both(a, b, kReleasedCopies, true, key(3)), alone(a, a, kReleasedCopies, true, key(4));
  engine::State state = engine::fresh_state(settings.config.model, seed, pair);
  engine::Draw draw{.seed = seed, .index = 0, .fold = pair, .epoch = 0, .pinned = {}};
  engine::Plateau plateau{.rate = settings.config.training.learning_rate};
  PairResult result{seed, pair, 0, {}, {}};
  while (result.epochs < settings.config.training.epochs) {
    stop_if_asked();
    draw.epoch = ++result.epochs;
    const double loss = train_epoch(engine, settings, both, plateau.rate, draw, state);
    if (loss < kReleasedStop) break;
    plateau.step(loss);
  }
  draw.epoch = settings.config.training.epochs + 1;
  draw.index = 0;
  result.verdict = judge_outputs(outputs_of(engine, settings, state, both, draw), settings.config.model.classes);
  draw.index = 1;
  result.control = judge_outputs(outputs_of(engine, settings, state, alone, draw), settings.config.model.classes);
  return result;
}

}  // namespace tyche::distinguish
