#include "engine/cpu/set_layer.hpp"

#include <algorithm>
#include <limits>

#include "engine/cpu/trainer.hpp"

namespace tyche::engine::cpu {

namespace {

constexpr std::size_t kForwardChunk = 48;
constexpr std::size_t kBackwardChunk = 96;
constexpr std::size_t kTask = 1024;  // rows a task
constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();

// Chunk buffers of a thread: three matrices.
View chunk_buffer(std::size_t which, std::size_t stride) {
  thread_local Rows buffers[3];
  return buffers[which].reserve(kBackwardChunk, stride);
}

std::size_t tasks(std::size_t rows) { return (rows + kTask - 1) / kTask; }

// Calls body(first, last) on the chunks of a task.
template <class Body>
void for_chunks(std::size_t rows, std::size_t task, std::size_t chunk, const Body& body) {
  const std::size_t end = std::min(rows, (task + 1) * kTask);
  for (std::size_t first = task * kTask; first < end; first += chunk) body(first, std::min(end, first + chunk));
}

void copy_rows(const std::uint32_t* rows, std::size_t count, View from, std::size_t columns, View to) {
  for (std::size_t i = 0; i < count; ++i) std::copy_n(from.row(rows[i]), columns, to.row(i));
}

}  // namespace

Backwards transposed(const MessageGraph& messages) {
  Backwards out;
  out.scatter = transpose(messages.gather, messages.rows_in);
  if (messages.roots.empty()) return out;
  out.root_scatter.offsets.assign(messages.rows_in + 1, 0);
  for (const std::uint32_t root : messages.roots) ++out.root_scatter.offsets[root + 1];
  for (std::size_t r = 0; r < messages.rows_in; ++r) out.root_scatter.offsets[r + 1] += out.root_scatter.offsets[r];
  std::vector<std::uint64_t> next(out.root_scatter.offsets.begin(), out.root_scatter.offsets.end() - 1);
  out.root_scatter.columns.resize(messages.roots.size());
  for (std::size_t v = 0; v < messages.roots.size(); ++v) {
    out.root_scatter.columns[next[messages.roots[v]]++] = static_cast<std::uint32_t>(v);
  }
  return out;
}

void SetLayer::forward(const Parameters& parameters, const MessageGraph& messages, View in, View out,
                       const Crew& crew) {
  if (3 * messages.rows_in < 2 * messages.rows_out) {
    multiply_first(parameters, messages, in, out, crew);
  } else {
    gather_first(parameters, messages, in, out, crew);
  }
}

void SetLayer::gather_first(const Parameters& parameters, const MessageGraph& messages, View in, View out,
                            const Crew& crew) {
  const Kernels& kernels = model_.kernels();
  const std::size_t columns = model_.padded(layer_.in);
  crew(tasks(messages.rows_out), [&](std::size_t task) {
    const FlushDenormals flush;
    const View gathered = chunk_buffer(0, columns), rooted = chunk_buffer(1, columns);
    for_chunks(messages.rows_out, task, kForwardChunk, [&](std::size_t first, std::size_t last) {
      kernels.gather_rows({&messages.gather, first, last, in, columns, gathered});
      View roots = in.from(first);
      if (!messages.roots.empty()) {
        copy_rows(messages.roots.data() + first, last - first, in, columns, rooted);
        roots = rooted;
      }
      kernels.rows_product({.rows = last - first,
                            .depth = layer_.in,
                            .terms = 2,
                            .left = {roots, gathered},
                            .right = layer_.forward.in(parameters.packed),
                            .out = out.from(first),
                            .finish = Finish::activate,
                            .activation = model_.config().activation,
                            .bias = parameters.packed + layer_.bias});
    });
  });
}

void SetLayer::multiply_first(const Parameters& parameters, const MessageGraph& messages, View in, View out,
                              const Crew& crew) {
  const Kernels& kernels = model_.kernels();
  const std::size_t columns = model_.padded(layer_.out);
  const View projected[2] = {projected_[0].reserve(messages.rows_in, columns),
                             projected_[1].reserve(messages.rows_in, columns)};
  crew(2 * tasks(messages.rows_in), [&](std::size_t task) {
    const FlushDenormals flush;
    for_chunks(messages.rows_in, task / 2, kForwardChunk, [&](std::size_t first, std::size_t last) {
      Panels weights = layer_.forward.in(parameters.packed);
      weights.data += task % 2 * layer_.in * layer_.forward.row_stride;
      kernels.rows_product({.rows = last - first,
                            .depth = layer_.in,
                            .left = {in.from(first)},
                            .right = weights,
                            .out = projected[task % 2].from(first)});
    });
  });
  crew(tasks(messages.rows_out), [&](std::size_t task) {
    const FlushDenormals flush;
    for_chunks(messages.rows_out, task, kForwardChunk, [&](std::size_t first, std::size_t last) {
      const View to = out.from(first);
      kernels.gather_rows({&messages.gather, first, last, projected[1], columns, to});
      for (std::size_t v = first; v < last; ++v) {
        const std::size_t root = messages.roots.empty() ? v : messages.roots[v];
        kernels.add_scaled(1, projected[0].row(root), out.row(v), columns);
      }
      kernels.activate(model_.config().activation, parameters.packed + layer_.bias, to, last - first, columns);
    });
  });
}

const Backwards& SetLayer::restrict_to(const MessageGraph& messages, const Active& active, Active& active_in) {
  // 1. Which input rows the active outputs read.
  place_.assign(messages.rows_in, kAbsent);
  active_in.rows.clear();
  const auto reach = [&](std::uint32_t row) {
    if (place_[row] != kAbsent) return;
    place_[row] = 0;
    active_in.rows.push_back(row);
  };
  for (const std::uint32_t v : active.rows) {
    reach(messages.roots.empty() ? v : messages.roots[v]);
    for (std::uint64_t e = messages.gather.offsets[v]; e < messages.gather.offsets[v + 1]; ++e) {
      reach(messages.gather.columns[e]);
    }
  }
  std::sort(active_in.rows.begin(), active_in.rows.end());
  active_in.all = false;
  active_in.count = active_in.rows.size();
  for (std::size_t i = 0; i < active_in.count; ++i) place_[active_in.rows[i]] = static_cast<std::uint32_t>(i);

  // 2. The transposes between the two, as counting sorts.
  SparseRows &scatter = restricted_.scatter, &roots = restricted_.root_scatter;
  scatter.offsets.assign(active_in.count + 1, 0);
  roots.offsets.assign(active_in.count + 1, 0);
  for (const std::uint32_t v : active.rows) {
    ++roots.offsets[place_[messages.roots.empty() ? v : messages.roots[v]] + 1];
    for (std::uint64_t e = messages.gather.offsets[v]; e < messages.gather.offsets[v + 1]; ++e) {
      ++scatter.offsets[place_[messages.gather.columns[e]] + 1];
    }
  }
  for (std::size_t i = 0; i < active_in.count; ++i) {
    scatter.offsets[i + 1] += scatter.offsets[i];
    roots.offsets[i + 1] += roots.offsets[i];
  }
  scatter.columns.resize(scatter.offsets.back());
  scatter.weights.resize(scatter.offsets.back());
  roots.columns.resize(roots.offsets.back());
  std::vector<std::uint64_t> next(scatter.offsets.begin(), scatter.offsets.end() - 1);
  std::vector<std::uint64_t> next_root(roots.offsets.begin(), roots.offsets.end() - 1);
  for (std::size_t i = 0; i < active.count; ++i) {
    const std::uint32_t v = active.rows[i];
    roots.columns[next_root[place_[messages.roots.empty() ? v : messages.roots[v]]]++] = static_cast<std::uint32_t>(i);
    for (std::uint64_t e = messages.gather.offsets[v]; e < messages.gather.offsets[v + 1]; ++e) {
      const std::uint64_t to = next[place_[messages.gather.columns[e]]]++;
      scatter.columns[to] = static_cast<std::uint32_t>(i);
      scatter.weights[to] = messages.gather.value(v, e);
    }
  }
  return restricted_;
}

void SetLayer::backward(const Parameters& parameters, const MessageGraph& messages, const Backwards* full, View in,
                        const Active& active, View d_out, Active& active_in, View d_in, bool raw, const Crew& crew,
                        float* gradient) {
  const Kernels& kernels = model_.kernels();
  const std::size_t columns = model_.padded(layer_.out), in_columns = model_.padded(layer_.in);
  if (active.all) active_in = {true, messages.rows_in, {}};
  const Backwards& back = active.all ? *full : restrict_to(messages, active, active_in);

  // Every task sums its part of the gradient on its own; the sums are added up in order.
  const std::size_t size = layer_.end - layer_.begin, count = tasks(active_in.count);
  const View partial = partial_.reserve(count, size);
  crew(count, [&](std::size_t task) {
    const FlushDenormals flush;
    const View gathered = chunk_buffer(0, columns), rooted = chunk_buffer(1, columns);
    const View inputs = chunk_buffer(2, in_columns);
    float* sums = partial.row(task);
    for_chunks(active_in.count, task, kBackwardChunk, [&](std::size_t first, std::size_t last) {
      const bool begins = first == task * kTask;
      kernels.gather_rows({&back.scatter, first, last, d_out, columns, gathered});
      View roots = d_out.from(first);
      if (back.root_scatter.rows() > 0) {
        kernels.gather_rows({&back.root_scatter, first, last, d_out, columns, rooted});
        roots = rooted;
      }
      View h = in.from(first);
      if (!active_in.all) {
        copy_rows(active_in.rows.data() + first, last - first, in, in_columns, inputs);
        h = inputs;
      }
      kernels.column_sums(roots, last - first, columns, nullptr, !begins, sums + (layer_.bias - layer_.begin));
      const View right[2] = {roots, gathered};
      float* const weights = sums + (layer_.forward.offset - layer_.begin);
      weight_gradient(kernels, layer_, last - first, h, right, {}, begins ? nullptr : weights, nullptr, weights);
      if (layer_.needed == 0) return;
      kernels.rows_product({.rows = last - first,
                            .depth = layer_.out,
                            .terms = 2,
                            .left = {roots, gathered},
                            .right = layer_.backward.in(parameters.derived),
                            .out = d_in.from(first),
                            .finish = raw ? Finish::store : Finish::derive,
                            .activation = model_.config().activation,
                            .outputs = h});
    });
  });
  for (std::size_t task = 0; task < count; ++task)
    kernels.add_scaled(1, partial.row(task), gradient + layer_.begin, size);
}

}  // namespace tyche::engine::cpu
