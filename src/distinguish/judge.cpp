#include "distinguish/judge.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "support/statistics.hpp"

namespace tyche::distinguish {

namespace {
// Outputs are floats: what is below this share of a column's variance is their rounding.
constexpr double kRegular = 1e-10;
}  // namespace

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

namespace {

/// Beyond a tie: logits so close that rounding decides are the same answer for both graphs, "not the first".
bool calls_first(std::span<const float> z) {
  const double size = 1.0 + std::abs(z[0]) + std::abs(z[1]);
  return static_cast<double>(z[0]) - z[1] > kRounding * size;
}

std::optional<double> hotelling_of(std::span<const float> outputs, std::size_t columns) {
  const std::size_t half = outputs.size() / 2;
  std::vector<double> differences(half);
  for (std::size_t i = 0; i < half; ++i) differences[i] = static_cast<double>(outputs[i]) - outputs[half + i];
  return hotelling(differences, columns);
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

}  // namespace

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

Copies::Copies(const FeaturedGraph& a, const FeaturedGraph& b, std::uint32_t of_each, bool in_turn, Stream stream)
    : labels(2 * std::size_t{of_each}, 0), numbers(2 * std::size_t{of_each}) {
  std::iota(numbers.begin(), numbers.end(), 0u);
  for (const std::uint32_t i : numbers) {
    const bool first = in_turn ? i % 2 == 0 : i < of_each;
    FeaturedGraph copy = renumbered(first ? a : b, stream);
    graphs.push_back(std::move(copy.graph));
    features.push_back(std::move(copy.features));
  }
}

Verdict judge_random(std::span<const float> outputs, std::size_t columns, double level) {
  const auto draws = static_cast<std::uint32_t>(outputs.size() / columns / 2);
  Verdict verdict;
  for (std::uint32_t i = 0; i < draws; ++i) {
    verdict.first_a += calls_first(outputs.subspan(i * columns, columns)) ? 1 : 0;
    verdict.first_b += calls_first(outputs.subspan((draws + i) * columns, columns)) ? 1 : 0;
  }
  verdict.p = fisher_greater(verdict.first_a, draws, verdict.first_b, draws);
  verdict.told_apart = verdict.p <= level;
  verdict.hotelling = hotelling_of(outputs, columns);
  return verdict;
}

Verdict judge_fixed(std::span<const float> outputs, std::size_t columns) {
  const std::size_t half = outputs.size() / 2;
  Verdict verdict;
  for (std::size_t c = 0; c < columns; ++c) {
    const Range a = range_of(outputs.first(half), columns, c), b = range_of(outputs.subspan(half), columns, c);
    const double spread = std::max(a.high - a.low, b.high - b.low);
    const double size = 1 + std::max({std::abs(a.low), std::abs(a.high), std::abs(b.low), std::abs(b.high)});
    const double gap = std::max(a.low - b.high, b.low - a.high);
    verdict.told_apart = verdict.told_apart || gap > kSpreads * spread + kRounding * size;
  }
  verdict.p = verdict.told_apart ? 0 : 1;
  for (std::size_t i = 0; i < half; i += columns) {
    verdict.first_a += calls_first(outputs.subspan(i, columns)) ? 1 : 0;
    verdict.first_b += calls_first(outputs.subspan(half + i, columns)) ? 1 : 0;
  }
  return verdict;  // the covariance is rounding: no T²
}

Verdict judge(engine::Engine& engine, const engine::Job& job, std::span<const float> parameters, const FeaturedGraph& a,
              const FeaturedGraph& b, const engine::Draw& draw, std::uint32_t draws, double level) {
  const bool random = job.model.draws();
  const std::uint32_t copies = random ? draws : fixed_copies(job.model);
  const Copies shown(a, b, copies, false, Stream(derive_key(draw.seed, Purpose::distinguish, draw.fold, 1)));
  engine::Job own = job;
  own.data = {shown.graphs, shown.labels, shown.features};
  own.sets = nullptr;
  const engine::Logits logits = engine.predict(own, parameters, shown.numbers, draw);
  return random ? judge_random(logits.values, job.model.classes, level) : judge_fixed(logits.values, job.model.classes);
}

}  // namespace tyche::distinguish
