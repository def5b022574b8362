#include "compare/linear.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "graph/sets.hpp"
#include "wl/colour_refinement.hpp"

namespace tyche::compare {

namespace {

constexpr std::size_t kDegrees = 16, kMostTypes = 64;
constexpr std::uint32_t kRounds = 3;
constexpr std::size_t kMostColours = 256;
constexpr int kNewtonSteps = 8;
constexpr double kRidges[] = {1, 0.1, 10, 100};  // of equals the first

/// How often each of the commonest numbers of `of` is in a graph, a column each; the rest is left out.
template <class Numbers>
void append_counts(Table& table, const GraphSet& set, std::size_t most, Numbers of) {
  std::map<std::uint32_t, std::size_t> all;
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    for (const std::uint32_t number : of(g)) ++all[number];
  }
  std::vector<std::pair<std::uint32_t, std::size_t>> order(all.begin(), all.end());
  std::ranges::stable_sort(order, std::ranges::greater(), [](const auto& own) { return own.second; });
  if (order.size() > most) order.resize(most);
  std::map<std::uint32_t, std::size_t> place;
  for (const auto& [number, count] : order) place.emplace(number, place.size());
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    std::map<std::size_t, double> counts;
    for (const std::uint32_t number : of(g)) {
      if (const auto at = place.find(number); at != place.end()) ++counts[table.columns + at->second];
    }
    for (const auto& [column, count] : counts) table.rows[g].push_back({column, count});
  }
  table.columns += order.size();
}

/// Sums over nodes (or edges) of every attribute, and of each of the first `categories` columns how often it has its
/// commonest values.
void append_columns(Table& table, const GraphSet& set, const Ragged<float>& blocks, std::size_t dim,
                    std::size_t categories) {
  for (std::size_t c = 0; c < categories; ++c) {
    append_counts(table, set, kMostTypes, [&](std::size_t g) {
      std::vector<std::uint32_t> own;
      for (std::size_t at = c; at < blocks[g].size(); at += dim)
        own.push_back(static_cast<std::uint32_t>(blocks[g][at]));
      return own;
    });
  }
  for (std::size_t g = 0; g < blocks.size(); ++g) {
    for (std::size_t c = categories; c < dim; ++c) {
      double sum = 0;
      for (std::size_t at = c; at < blocks[g].size(); at += dim) sum += blocks[g][at];
      table.rows[g].push_back({table.columns + c - categories, sum});
    }
  }
  table.columns += dim - categories;
}

void append_attributes(Table& table, const GraphSet& set) {
  append_columns(table, set, set.attributes, set.attribute_dim, set.categories);
  append_columns(table, set, set.edge_attributes, set.edge_attribute_dim, set.edge_categories);
}

/// Solves the symmetric positive definite system in place (Cholesky; the lower triangle of `matrix` is read).
void solve(std::vector<double>& matrix, std::vector<double>& right) {
  const std::size_t n = right.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      double sum = matrix[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= matrix[i * n + k] * matrix[j * n + k];
      matrix[i * n + j] = i == j ? std::sqrt(std::max(sum, 1e-12)) : sum / matrix[j * n + j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) right[i] -= matrix[i * n + k] * right[k];
    right[i] /= matrix[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) right[i] -= matrix[k * n + i] * right[k];
    right[i] /= matrix[i * n + i];
  }
}

/// Rows in units of their columns' deviations in the training part, a 1 behind each; columns that do not vary there are
/// left out. What is mostly there is centred, too; what is mostly 0 stays so, which keeps rows short, and is centred by
/// the weight of the 1 as well (its mean is at most its deviation).
Table standardised(const Table& table, std::span<const std::uint32_t> train) {
  std::vector<double> mean(table.columns, 0.0), square(table.columns, 0.0), there(table.columns, 0.0);
  const auto count = static_cast<double>(train.size());
  for (const std::uint32_t g : train) {
    for (const Cell& cell : table.rows[g]) mean[cell.column] += cell.value / count, ++there[cell.column];
  }
  for (const std::uint32_t g : train) {
    for (const Cell& cell : table.rows[g]) square[cell.column] += std::pow(cell.value - mean[cell.column], 2) / count;
  }
  std::vector<std::size_t> place(table.columns, table.columns);
  Table out;
  std::vector<double> absent;  // what 0 becomes
  for (std::size_t c = 0; c < table.columns; ++c) {
    square[c] += (count - there[c]) * mean[c] * mean[c] / count;
    if (square[c] <= 1e-12) continue;
    place[c] = out.columns++;
    if (2 * there[c] <= count) mean[c] = 0;
    absent.push_back(-mean[c] / std::sqrt(square[c]));
  }
  for (const std::vector<Cell>& from : table.rows) {
    std::vector<double> values = absent;
    for (const Cell& cell : from) {
      if (place[cell.column] < table.columns) values[place[cell.column]] += cell.value / std::sqrt(square[cell.column]);
    }
    std::vector<Cell>& row = out.rows.emplace_back();
    for (std::size_t c = 0; c < values.size(); ++c) {
      if (values[c] != 0) row.push_back({c, values[c]});
    }
    row.push_back({out.columns, 1});
  }
  ++out.columns;
  return out;
}

double product(const std::vector<Cell>& row, const std::vector<double>& weights) {
  double sum = 0;
  for (const Cell& cell : row) sum += cell.value * weights[cell.column];
  return sum;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// Weights of a column of answers; a target that is missing counts nowhere.
std::vector<double> fit(const Table& x, std::span<const std::uint32_t> train, std::span<const double> y, bool logistic,
                        double ridge) {
  const std::size_t n = x.columns;
  std::vector<double> weights(n, 0.0);
  for (int step = 0; step < (logistic ? kNewtonSteps : 1); ++step) {
    std::vector<double> matrix(n * n, 0.0), right(n, 0.0);
    for (std::size_t i = 0; i < train.size(); ++i) {
      if (std::isnan(y[i])) continue;
      const std::vector<Cell>& row = x.rows[train[i]];
      const double at = logistic ? std::clamp(product(row, weights), -30.0, 30.0) : 0, chance = sigmoid(at);
      const double w = logistic ? std::max(chance * (1 - chance), 1e-4) : 1;
      const double wanted = logistic ? at + (y[i] - chance) / w : y[i];
      for (std::size_t a = 0; a < row.size(); ++a) {
        const double value = w * row[a].value;
        right[row[a].column] += wanted * value;
        double* const line = matrix.data() + row[a].column * n;
        for (std::size_t b = 0; b <= a; ++b) line[row[b].column] += value * row[b].value;
      }
    }
    for (std::size_t a = 0; a < n; ++a) matrix[a * n + a] += a + 1 < n ? ridge : 1e-9;
    solve(matrix, right);
    weights = std::move(right);
  }
  return weights;
}

/// The shares of the classes in the training part, or the means of the targets.
std::vector<double> guess(const Truth& truth, std::span<const std::uint32_t> train) {
  std::vector<double> sum(truth.width(), 0.0), count(truth.width(), 0.0);
  for (const std::uint32_t g : train) {
    for (std::size_t c = 0; c < truth.width(); ++c) {
      const double own = truth.classes > 0 ? truth.labels[g] == c : truth.targets[g * truth.columns + c];
      if (!std::isnan(own)) sum[c] += own, ++count[c];
    }
  }
  for (std::size_t c = 0; c < sum.size(); ++c) sum[c] = count[c] > 0 ? sum[c] / count[c] : 0;
  return sum;
}

/// The loss of answers, for choosing: cross-entropy (of binary targets by column), or the squared error.
double loss_of(std::span<const double> answers, const Truth& truth, std::span<const std::uint32_t> asked) {
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto row = answers.subspan(i * truth.width(), truth.width());
    if (truth.classes > 0) {
      sum -= std::log(std::max(row[truth.labels[asked[i]]], 1e-12)), ++count;
      continue;
    }
    for (std::size_t c = 0; c < truth.columns; ++c) {
      const double own = truth.targets[asked[i] * truth.columns + c];
      if (std::isnan(own)) continue;
      sum += truth.binary ? -std::log(std::max(own == 1 ? row[c] : 1 - row[c], 1e-12)) : std::pow(row[c] - own, 2);
      ++count;
    }
  }
  return count > 0 ? sum / count : 0;
}

}  // namespace

Table size_and_degrees(const GraphSet& set) {
  Table table;
  for (const Graph& graph : set.graphs) {
    std::map<std::size_t, double> degrees;
    for (Node v = 0; v < graph.num_nodes(); ++v) ++degrees[2 + std::min<std::size_t>(graph.degree(v), kDegrees)];
    std::vector<Cell>& row = table.rows.emplace_back();
    row = {{0, static_cast<double>(graph.num_nodes())}, {1, static_cast<double>(graph.num_edges())}};
    for (const auto& [column, nodes] : degrees) row.push_back({column, nodes});
  }
  table.columns = 2 + kDegrees + 1;
  append_counts(table, set, kMostTypes, [&](std::size_t g) {
    const Graph graph = set.graphs[g];
    return std::vector<std::uint32_t>(graph.types().begin(), graph.types().end());
  });
  append_counts(table, set, kMostTypes, [&](std::size_t g) {
    const Graph graph = set.graphs[g];
    return std::vector<std::uint32_t>(graph.edge_labels().begin(), graph.edge_labels().end());
  });
  append_attributes(table, set);
  return table;
}

Table colour_counts(const GraphSet& set) {
  GraphSet folded{.name = {}, .graphs = set.graphs, .labels = {}, .attributes = {}};
  if (set.categories + set.edge_categories > 0) {
    folded = set;
    fold_categories(std::array{&folded});
  }
  const wl::Colouring colouring = wl::refine(folded.graphs.all(), {.max_rounds = kRounds, .keep_rounds = true});
  Table table{0, std::vector<std::vector<Cell>>(set.graphs.size())};
  const std::size_t of_round = std::max<std::size_t>(16, kMostColours / colouring.history.size());
  for (const std::vector<wl::Colour>& round : colouring.history) {
    append_counts(table, set, of_round, [&](std::size_t g) {
      return std::span(round).subspan(colouring.first[g], colouring.first[g + 1] - colouring.first[g]);
    });
  }
  append_attributes(table, set);
  return table;
}

std::vector<double> linear_answers(const Table& table, const Truth& truth, const datasets::Fold& fold,
                                   std::span<const std::uint32_t> asked) {
  const std::vector<double> shares = guess(truth, fold.train);
  const Table x = table.columns == 0 ? Table() : standardised(table, fold.train);
  const auto answer = [&](const std::vector<std::vector<double>>& weights, std::span<const std::uint32_t> graphs) {
    std::vector<double> out;
    for (const std::uint32_t g : graphs) {
      std::vector<double> row;
      for (const std::vector<double>& own : weights) {
        const double at = product(x.rows[g], own);
        row.push_back(truth.classes > 0 || truth.binary ? sigmoid(at) : at);
      }
      if (weights.empty()) row = shares;
      if (truth.classes == 2 && weights.size() == 1) row = {1 - row[0], row[0]};
      const double sum = std::accumulate(row.begin(), row.end(), 0.0);
      for (double& own : row) out.push_back(truth.classes > 0 && sum > 0 ? own / sum : own);
    }
    return out;
  };
  if (x.columns <= 1) return answer({}, asked);
  double least = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> chosen;
  for (const double ridge : kRidges) {
    std::vector<std::vector<double>> weights;
    for (std::size_t c = truth.classes == 2 ? 1 : 0; c < truth.width(); ++c) {
      std::vector<double> y;
      for (const std::uint32_t g : fold.train) {
        y.push_back(truth.classes > 0 ? truth.labels[g] == c : truth.targets[g * truth.columns + c]);
      }
      weights.push_back(fit(x, fold.train, y, truth.classes > 0 || truth.binary, ridge));
    }
    const double loss = loss_of(answer(weights, fold.validation), truth, fold.validation);
    if (loss < least) least = loss, chosen = weights;
    if (fold.validation.empty()) break;
  }
  return answer(chosen, asked);
}

}  // namespace tyche::compare
