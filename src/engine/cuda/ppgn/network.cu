#include <algorithm>
#include <limits>
#include <string>

#include "engine/core/inputs.hpp"
#include "engine/cuda/ppgn/network.hpp"
#include "engine/cuda/ppgn/products.hpp"
#include "engine/cuda/ppgn/readout.cuh"
#include "engine/sets/set_data.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

namespace {

constexpr unsigned kThreads = 256;
std::size_t blocks_for(std::size_t items) { return (items + kThreads - 1) / kThreads; }

}  // namespace

PpgnGraphs::PpgnGraphs(const Job& job, unsigned threads, Stream& stream) : feature_count_(job.model.input_features) {
  const std::vector<wl::PairClasses> found = pair_rows(job, threads);
  std::vector<PpgnClass> classes;
  std::vector<std::uint64_t> nodes{0};
  std::vector<std::uint32_t> pairs;
  std::vector<float> features;
  for (std::size_t g = 0; g < found.size(); ++g) {
    const auto& graph = job.data.graphs[g];
    const unsigned n = graph.num_nodes();
    const auto rows = static_cast<unsigned>(found[g].classes.size());
    graphs_.push_back(
        {static_cast<unsigned>(g), n, rows, found[g].diagonal, 0, 0, 0, std::uint64_t{classes.size()}, pairs.size()});
    std::vector<Node> order;
    std::vector<char> first(n, 0);
    for (const auto& own : found[g].classes) {
      classes.push_back({own.x, own.y, graph.has_edge(own.x, own.y) ? 1u : 0u, static_cast<float>(own.size)});
      if (own.x != own.y) continue;
      order.push_back(own.x);
      first[own.x] = 1;
    }
    for (Node v = 0; v < n; ++v) {
      if (first[v] == 0) order.push_back(v);
    }
    for (const Node x : order) {
      for (const Node y : order) {
        const std::uint32_t own = found[g].of[std::size_t{x} * n + y];
        const auto& which = found[g].classes[own];
        pairs.push_back(own | (which.x == x && which.y == y ? kPpgnFirst : 0u));
      }
    }
    nodes.push_back(nodes.back() + n);
    const std::vector<float> own = job.data.features[g];
    features.insert(features.end(), own.begin(), own.end());
  }
  classes_ = DeviceArray<PpgnClass>::from(classes, "pairs of nodes", stream);
  nodes_ = DeviceArray<std::uint64_t>::from(nodes, "nodes of the graphs", stream);
  pairs_ = DeviceArray<std::uint32_t>::from(pairs, "pairs of nodes", stream);
  features_ = DeviceArray<float>::from(features, "features of the graphs", stream);
  targets_ = DeviceTargets(job.data.targets, stream);
  loss_ = job.loss;
}

PpgnData PpgnGraphs::view() const {
  return {classes_.data(), pairs_.data(), nodes_.data(), features_.data(), targets_.view(), loss_, feature_count_};
}

std::vector<PpgnBatch> ppgn_batches(const PpgnGraphs& data, std::span<const std::uint32_t> graphs, std::size_t size,
                                    const PpgnGraph* device, std::vector<PpgnGraph>& list) {
  std::vector<PpgnBatch> batches;
  unsigned nodes = 0;
  list.clear();
  for (std::size_t first = 0; first < graphs.size(); first += size) {
    PpgnBatch batch;
    batch.graphs = device + first;
    batch.first = first;
    batch.count = static_cast<unsigned>(std::min(size, graphs.size() - first));
    for (unsigned i = 0; i < batch.count; ++i) {
      PpgnGraph graph = data.graph(graphs[first + i]);
      graph.first_row = batch.rows;
      graph.first_tile = batch.tiles;
      graph.first_node = nodes;
      list.push_back(graph);
      batch.rows += graph.rows;
      nodes += graph.nodes;
      batch.tiles += channel_tiles(graph);
    }
    batches.push_back(batch);
  }
  return batches;
}

unsigned ppgn_most_rows(const PpgnGraphs& data, std::span<const std::uint32_t> graphs, std::size_t size) {
  std::vector<std::uint64_t> rows;
  for (const std::uint32_t graph : graphs) rows.push_back(data.graph(graph).rows);
  std::sort(rows.rbegin(), rows.rend());
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < std::min(size, rows.size()); ++i) sum += rows[i];
  if (sum > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) {
    throw InputError(
        "ppgn: a batch of " + std::to_string(size) + " graphs can have " + std::to_string(sum) +
        " classes of pairs of nodes, which is too many: reduce the batch, or leave the largest graphs out");
  }
  return static_cast<unsigned>(sum);
}

template <class T>
struct PpgnNetwork<T>::Memory {
  /// What the backward pass needs of a block's forward pass.
  struct Block {
    std::vector<DeviceArray<T>> mlp[2];
    DeviceArray<T> product, out;
  };
  /// Gradients of a block's layers before their bias was added.
  struct Back {
    std::vector<DeviceArray<T>> mlp[2];
  };

  Memory(const Job& job, const PpgnGraphs& graphs, const PpgnQueue& on)
      : config(job.model), layout(job.model), data(graphs.view()), queue(on), stream(on.stream) {}

  const T* weights() const {
    if constexpr (sizeof(T) == 2) {
      return half.data();
    } else {
      return p.data();
    }
  }
  const T* input_of(std::size_t b) const { return b == 0 ? input.data() : blocks[b - 1].out.data(); }
  DeviceArray<T>& d_out(std::size_t b) { return d_outs[b % d_outs.size()]; }
  Back& back(std::size_t b) { return backs[b % backs.size()]; }

  /// Numbers in nn::layout order to the device's, and back (it waits).
  void spread(std::span<const float> flat, DeviceArray<float>& to) {
    stream.sync();  // whoever used the host's copy is done
    std::fill(host.span().begin(), host.span().end(), 0.0f);
    layout.spread(flat, host.span());
    to.upload(host.span(), stream);
  }
  void gather(const DeviceArray<float>& from, std::vector<float>& flat) {
    from.download(host.span(), stream);
    stream.sync();
    flat.resize(layout.flat_size());
    layout.gather(host.span(), flat);
  }
  void narrow() {
    if constexpr (sizeof(T) == 2) {
      queue.run(ppgn_narrow_kernel, blocks_for(p.size() / 2), kThreads, 0, p.data(), half.data(), p.size());
    }
  }
  PpgnSlots slots_of(unsigned rows, float scale) const {
    return {slots.data(), layout.size(), layout.vote_weight(), plan.slots(rows), 1 / scale};
  }
  PpgnVotes votes() const {
    return {p.data(),
            layout.vote_weight(),
            layout.vote_bias(),
            layout.bias_stride(),
            pooled.data(),
            winners.data(),
            static_cast<unsigned>(layout.blocks().size()),
            layout.classes(),
            2 * layout.channels(),
            most_graphs};
  }

  PpgnRandom random_of(const PpgnDraw& draw) const {
    const bool normal =
        config.distribution == nn::Distribution::normal || config.distribution == nn::Distribution::xavier_normal;
    return {config.random_dims(), make_uint2(draw.key.lo, draw.key.hi), normal, feature_scale(config), draw.pinned};
  }
  /// A product of a batch's rows, or two.
  void rows(const PpgnBatch& batch, RightOperand order, std::initializer_list<PpgnProduct<T>> list) {
    PpgnProducts<T> all{};
    for (const PpgnProduct<T>& product : list) all.product[all.count++] = product;
    all.rows = batch.rows;
    all.flag = flag.data();
    queue_rows(all, order, queue);
  }
  /// A product channel by channel, or two.
  void channels(const PpgnBatch& batch, std::initializer_list<PpgnChannelTask<T>> list) {
    PpgnChannelTasks<T> all{};
    for (const PpgnChannelTask<T>& task : list) all.task[all.count++] = task;
    all.pairs = data.pairs;
    all.graphs = batch.graphs;
    all.graph_count = batch.count;
    all.channels = layout.channels();
    all.flag = flag.data();
    queue_channels(all, batch.tiles, queue);
  }
  /// The readouts of a block's output.
  void pool(const PpgnBatch& batch, std::size_t b) {
    const unsigned channels = layout.channels();
    const std::size_t at = b * most_graphs * 2 * channels;
    const std::size_t count = std::size_t{batch.count} * ((channels + kPpgnPoolChannels - 1) / kPpgnPoolChannels);
    const auto run = [&](auto kernel, unsigned threads, std::size_t shared) {
      queue.run(kernel, count, threads, shared, blocks[b].out.data(), residual.data(), batch.graphs, sizes.data(),
                channels, config.readout == nn::Readout::mean, pooled.data() + at,
                winners.size() == 0 ? nullptr : winners.data() + at);
    };
    if (config.readout != nn::Readout::max) return run(ppgn_pool_kernel<T, false>, kPpgnSumThreads, kPpgnSumShared);
    const unsigned threads = batch.rows > 4096 * batch.count ? 1024 : batch.rows > 128 * batch.count ? 256 : 64;
    run(ppgn_pool_kernel<T, true>, threads, kPpgnPoolShared);
  }
  /// Adds their gradient to the block's output.
  void pool_back(const PpgnBatch& batch, std::size_t b) {
    const auto block = static_cast<unsigned>(b);
    if (config.readout != nn::Readout::max) {
      queue.run(ppgn_spread_kernel<T>, std::size_t{batch.count} * kPpgnInputBlocks, kThreads, 0, votes(), block,
                batch.graphs, sizes.data(), config.readout == nn::Readout::mean, d_logits.data(), d_out(b).data(),
                flag.data());
      return;
    }
    queue.run(ppgn_scatter_kernel<T>, blocks_for(std::size_t{batch.count} * 2 * layout.channels()), kThreads, 0,
              votes(), block, batch.graphs, batch.count, d_logits.data(), d_out(b).data(), flag.data());
  }

  nn::ModelConfig config;
  PpgnLayout layout;
  PpgnData data;
  PpgnQueue queue;
  Stream& stream;
  unsigned most_graphs = 0;
  DeviceArray<float> p, m, v, kept_p, kept_m, kept_v, slots, sum;
  float clip_norm = 0;
  DeviceArray<float> squares, clip;  // where gradients are clipped
  DeviceArray<Half> half;
  DeviceArray<T> input, d_product, residual;
  DeviceArray<float> sizes, inverse_sizes;  ///< of the rows' classes
  std::vector<Block> blocks;
  std::vector<Back> backs;
  std::vector<DeviceArray<T>> d_outs;
  PpgnWeightPlan<T> plan;
  std::size_t tasks_per_block = 0;
  DeviceArray<float> pooled, logits, losses, d_logits;
  DeviceArray<int> winners;
  DeviceArray<unsigned> right, flag;
  PinnedArray<float> host;
};

template <class T>
std::size_t PpgnNetwork<T>::bytes(const nn::ModelConfig& config, unsigned rows) {
  const std::size_t tensors = config.layers * (4 * std::size_t{config.mlp_depth} + 3) + 3;
  return tensors * rows * ppgn_padded(config.width) * sizeof(T);
}

template <class T>
PpgnNetwork<T>::PpgnNetwork(const Job& job, const PpgnGraphs& data, unsigned most_rows, unsigned most_graphs,
                            std::size_t most_results, std::size_t memory, const PpgnQueue& queue)
    : m_(std::make_unique<Memory>(job, data, queue)) {
  Stream& stream = queue.stream;
  const std::string what = "tensors of ppgn (batch " + std::to_string(job.batch) + ", width " +
                           std::to_string(job.model.width) + ", " + std::to_string(job.model.layers) +
                           " blocks, up to " + std::to_string(most_rows) +
                           " classes of pairs of nodes: reduce batch or width)";
  const std::size_t blocks = job.model.layers, depth = job.model.mlp_depth;
  const bool roomy = bytes(job.model, most_rows) < memory;
  Memory& m = *m_;
  m.most_graphs = most_graphs;
  m.clip_norm = static_cast<float>(job.optimiser.clip_norm);
  const std::size_t size = m.layout.size();
  for (DeviceArray<float>* array : {&m.p, &m.m, &m.v, &m.kept_p, &m.kept_m, &m.kept_v, &m.sum}) {
    *array = DeviceArray<float>(size, "parameters of ppgn (reduce width)");
    array->zero(stream);
  }
  if (sizeof(T) == 2) m.half = DeviceArray<Half>(size, "parameters of ppgn (reduce width)");
  m.host = PinnedArray<float>(size, "memory for parameters of ppgn");

  const std::size_t entries = std::size_t{most_rows} * m.layout.channels();
  const auto tensor = [&] { return DeviceArray<T>(entries, what.c_str()); };
  m.input = DeviceArray<T>(std::size_t{most_rows} * m.layout.blocks()[0].inputs, what.c_str());
  m.sizes = DeviceArray<float>(most_rows, what.c_str());
  m.inverse_sizes = DeviceArray<float>(most_rows, what.c_str());
  m.d_product = tensor();
  if (sizeof(T) == 2) m.residual = tensor();
  m.blocks.resize(blocks);
  m.backs.resize(roomy ? blocks : 1);
  m.d_outs.resize(roomy ? blocks : std::min<std::size_t>(blocks, 2));
  for (auto& block : m.blocks) {
    for (auto& mlp : block.mlp) {
      for (std::size_t l = 0; l < depth; ++l) mlp.push_back(tensor());
    }
    block.product = tensor();
    block.out = tensor();
  }
  for (auto& back : m.backs) {
    for (auto& mlp : back.mlp) {
      for (std::size_t l = 0; l < depth; ++l) mlp.push_back(tensor());
    }
  }
  for (auto& d_out : m.d_outs) d_out = tensor();

  // The weights' gradients, block after block.
  std::vector<PpgnWeightTask<T>> tasks;
  const unsigned channels = m.layout.channels();
  for (std::size_t b = 0; b < blocks; ++b) {
    const PpgnLayout::Block& block = m.layout.blocks()[b];
    const auto task = [&](const T* left, const T* right, unsigned inputs, std::size_t weight, unsigned stride,
                          long long bias) {
      tasks.push_back({left, right, channels, inputs, channels, inputs, weight, stride, bias, 0, 0});
    };
    for (unsigned mlp = 0; mlp < 2; ++mlp) {
      for (std::size_t l = 0; l < depth; ++l) {
        const PpgnLayout::Layer& layer = block.mlp[mlp][l];
        task(m.back(b).mlp[mlp][l].data(), l == 0 ? m.input_of(b) : m.blocks[b].mlp[mlp][l - 1].data(), layer.stride,
             layer.weight, layer.stride, static_cast<long long>(layer.bias));
      }
    }
    task(m.d_out(b).data(), m.input_of(b), block.inputs, block.skip.weight, block.skip.stride,
         static_cast<long long>(block.skip.bias));
    task(m.d_out(b).data(), m.blocks[b].product.data(), channels, block.skip.weight + block.inputs, block.skip.stride,
         -1);
  }
  m.tasks_per_block = tasks.size() / blocks;
  m.plan = PpgnWeightPlan<T>(std::move(tasks), stream);
  m.slots = DeviceArray<float>(size * m.plan.slots(most_rows), "gradients of ppgn (reduce width)");
  m.slots.zero(stream);

  const std::size_t readouts = blocks * most_graphs * 2 * channels, classes = job.model.classes;
  m.pooled = DeviceArray<float>(readouts, "readouts of ppgn (reduce batch)");
  m.winners = DeviceArray<int>(job.model.readout == nn::Readout::max ? readouts : 0, "readouts of ppgn (reduce batch)");
  m.d_logits = DeviceArray<float>(most_graphs * classes, "logits");
  m.logits = DeviceArray<float>(most_results * classes, "logits");
  m.losses = DeviceArray<float>(most_results, "losses");
  m.right = DeviceArray<unsigned>(most_results, "results");
  m.flag = DeviceArray<unsigned>(1, "results");
  begin();
}

template <class T>
PpgnNetwork<T>::~PpgnNetwork() = default;

template <class T>
void PpgnNetwork<T>::set_parameters(std::span<const float> flat) {
  m_->spread(flat, m_->p);
  m_->narrow();
}

template <class T>
void PpgnNetwork<T>::upload(const State& state) {
  set_parameters(state.parameters);
  m_->spread(state.adam_m, m_->m);
  m_->spread(state.adam_v, m_->v);
  m_->stream.sync();
}

template <class T>
void PpgnNetwork<T>::download(State& state) {
  m_->gather(m_->p, state.parameters);
  m_->gather(m_->m, state.adam_m);
  m_->gather(m_->v, state.adam_v);
}

template <class T>
void PpgnNetwork<T>::keep_state() {
  Memory& m = *m_;
  m.kept_p.copy_from(m.p, m.stream);
  m.kept_m.copy_from(m.m, m.stream);
  m.kept_v.copy_from(m.v, m.stream);
}

template <class T>
void PpgnNetwork<T>::restore_state() {
  Memory& m = *m_;
  m.p.copy_from(m.kept_p, m.stream);
  m.m.copy_from(m.kept_m, m.stream);
  m.v.copy_from(m.kept_v, m.stream);
  m.narrow();
}

template <class T>
void PpgnNetwork<T>::set_targets(const Targets& targets) {
  m_->data.targets = targets;
}

template <class T>
void PpgnNetwork<T>::forward(const PpgnBatch& batch, const PpgnDraw& draw, float scale) {
  Memory& m = *m_;
  const unsigned channels = m.layout.channels();
  m.queue.run(ppgn_input_kernel<T>, std::size_t{batch.count} * kPpgnInputBlocks, kThreads, 0, m.data, batch.graphs,
              m.random_of(draw), m.layout.blocks()[0].inputs, m.input.data(), m.sizes.data(), m.inverse_sizes.data());
  for (std::size_t b = 0; b < m.blocks.size(); ++b) {
    const PpgnLayout::Block& place = m.layout.blocks()[b];
    auto& block = m.blocks[b];
    for (std::size_t l = 0; l < block.mlp[0].size(); ++l) {
      const auto layer = [&](unsigned k) -> PpgnProduct<T> {
        const PpgnLayout::Layer& own = place.mlp[k][l];
        const T* in = l == 0 ? m.input_of(b) : block.mlp[k][l - 1].data();
        return {.terms = {{in, m.weights() + own.weight, own.stride, own.stride, own.stride}},
                .count = 1,
                .columns = channels,
                .out = block.mlp[k][l].data(),
                .bias = m.p.data() + own.bias,
                .relu = true};
      };
      m.rows(batch, RightOperand::columns_by_depth, {layer(0), layer(1)});
    }
    m.channels(batch, {{block.mlp[0].back().data(), block.mlp[1].back().data(), block.product.data(), nullptr, nullptr,
                        false, false}});
    const T* weight = m.weights() + place.skip.weight;
    m.rows(batch, RightOperand::columns_by_depth,
           {{.terms = {{m.input_of(b), weight, place.inputs, place.skip.stride, place.inputs},
                       {block.product.data(), weight + place.inputs, channels, place.skip.stride, channels}},
             .count = 2,
             .columns = channels,
             .out = block.out.data(),
             .bias = m.p.data() + place.skip.bias,
             .residual = m.residual.data()}});
    m.pool(batch, b);
  }
  m.queue.run(ppgn_vote_kernel, batch.count, kPpgnVoteThreads, kPpgnVoteThreads / 32 * 4, m.votes(), m.data,
              batch.graphs, scale, m.logits.data() + batch.first * m.layout.classes(), m.losses.data() + batch.first,
              m.right.data() + batch.first, m.d_logits.data(), m.flag.data());
}

template <class T>
void PpgnNetwork<T>::backward(const PpgnBatch& batch) {
  Memory& m = *m_;
  const unsigned channels = m.layout.channels();
  const std::size_t words = std::size_t{batch.rows} * channels * sizeof(T) / sizeof(uint4);
  m.queue.run(ppgn_clear_kernel, blocks_for(words), kThreads, 0,
              reinterpret_cast<uint4*>(m.d_out(m.blocks.size() - 1).data()), words);
  for (std::size_t b = m.blocks.size(); b-- > 0;) {
    const PpgnLayout::Block& place = m.layout.blocks()[b];
    auto& block = m.blocks[b];
    auto& back = m.back(b);
    T* const d_out = m.d_out(b).data();
    m.pool_back(batch, b);

    // The product's gradient, entry by entry, then those of its factors, whose classes get the sum again.
    const T* skip = m.weights() + place.skip.weight;
    m.rows(batch, RightOperand::depth_by_columns,
           {{.terms = {{d_out, skip + place.inputs, channels, place.skip.stride, channels}},
             .count = 1,
             .columns = channels,
             .out = m.d_product.data(),
             .row_scale = m.inverse_sizes.data()}});
    const std::size_t last = block.mlp[0].size() - 1;
    const T *a = block.mlp[0][last].data(), *c = block.mlp[1][last].data();
    m.channels(batch, {{m.d_product.data(), c, back.mlp[0][last].data(), a, m.sizes.data(), false, true},
                       {a, m.d_product.data(), back.mlp[1][last].data(), c, m.sizes.data(), true, false}});
    const auto through = [&](unsigned k, std::size_t l) -> PpgnTerm<T> {
      const PpgnLayout::Layer& layer = place.mlp[k][l];
      return {back.mlp[k][l].data(), m.weights() + layer.weight, channels, layer.stride, channels};
    };
    for (std::size_t l = last; l > 0; --l) {
      const auto before = [&](unsigned k) -> PpgnProduct<T> {
        return {.terms = {through(k, l)},
                .count = 1,
                .columns = channels,
                .out = back.mlp[k][l - 1].data(),
                .mask = block.mlp[k][l - 1].data()};
      };
      m.rows(batch, RightOperand::depth_by_columns, {before(0), before(1)});
    }
    // The block's input got three gradients; at the first block none is wanted.
    if (b > 0) {
      m.rows(batch, RightOperand::depth_by_columns,
             {{.terms = {{d_out, skip, channels, place.skip.stride, channels}, through(0, 0), through(1, 0)},
               .count = 3,
               .columns = place.inputs,
               .out = m.d_out(b - 1).data()}});
    }
    if (m.backs.size() == 1) {
      m.plan.queue(b * m.tasks_per_block, (b + 1) * m.tasks_per_block, batch.rows, m.slots.data(), m.layout.size(),
                   m.queue);
    }
  }
  if (m.backs.size() > 1) {
    m.plan.queue(0, m.blocks.size() * m.tasks_per_block, batch.rows, m.slots.data(), m.layout.size(), m.queue);
  }
  const std::size_t votes =
      m.blocks.size() * std::max(std::size_t{m.layout.classes()} * 2 * channels, m.layout.bias_stride());
  m.queue.run(ppgn_vote_gradient_kernel, blocks_for(votes), kThreads, 0, m.votes(), batch.count, m.d_logits.data(),
              m.slots.data());
}

template <class T>
void PpgnNetwork<T>::adam(const AdamStep& step, unsigned rows, float scale) {
  Memory& m = *m_;
  const std::size_t blocks = blocks_for(m.layout.size() / 4);
  if (m.clip_norm > 0) {
    if (m.squares.size() == 0) {
      m.squares = DeviceArray<float>(blocks, "the gradient's norm");
      m.clip = DeviceArray<float>(1, "the gradient's norm");
    }
    m.queue.run(ppgn_squares_kernel, blocks, kThreads, 0, m.slots_of(rows, scale), m.squares.data());
    m.queue.run(ppgn_clip_kernel, 1, kClipThreads, 0, m.squares.data(), blocks, m.clip_norm, m.clip.data());
  }
  m.queue.run(ppgn_adam_kernel, blocks, kThreads, 0, m.slots_of(rows, scale), step, m.clip.data(), m.p.data(),
              m.m.data(), m.v.data(), m.half.data(), m.flag.data());
}

template <class T>
void PpgnNetwork<T>::add_gradient(unsigned rows, float scale) {
  Memory& m = *m_;
  m.queue.run(ppgn_gradient_kernel, blocks_for(m.layout.size() / 4), kThreads, 0, m.slots_of(rows, scale),
              m.sum.data());
}

template <class T>
void PpgnNetwork<T>::clear_gradient() {
  m_->sum.zero(m_->stream);
}

template <class T>
void PpgnNetwork<T>::gradient(std::vector<float>& flat) {
  m_->gather(m_->sum, flat);
}

template <class T>
void PpgnNetwork<T>::begin() {
  m_->flag.zero(m_->stream);
}

template <class T>
bool PpgnNetwork<T>::finish(std::span<float> logits, std::span<float> losses, std::span<unsigned> right) {
  Memory& m = *m_;
  unsigned flag = 0;
  m.flag.download({&flag, 1}, m.stream);
  m.logits.download(logits, m.stream);
  m.losses.download(losses, m.stream);
  m.right.download(right, m.stream);
  m.stream.sync();
  return flag == 0;
}

template class PpgnNetwork<Half>;
template class PpgnNetwork<float>;

}  // namespace tyche::engine::TYCHE_CUDA_NS
