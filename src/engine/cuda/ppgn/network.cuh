#pragma once
/// PPGN on the device: parameters with Adam's moments, and the forward and backward pass of a batch. Everything is
/// queued on one stream; nothing waits. T is Half (mixed precision: operands and stored tensors in half precision,
/// sums, master weights and moments in fp32) or float.
///
///   PpgnNetwork<Half> network(job, data, rows, batch, graphs, free_memory(), {stream});
///   network.upload(state);
///   network.forward(batch, network.random(key), scale);  network.backward(batch);  network.adam(AdamStep(step, rate),
///   batch.rows);
#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "engine/core/adam.hpp"
#include "engine/core/inputs.hpp"
#include "engine/core/job.hpp"
#include "engine/cuda/ppgn/products.hpp"
#include "engine/cuda/ppgn/readout.cuh"
#include "engine/cuda/runtime/targets.hpp"
#include "engine/sets/set_data.hpp"
#include "nn/model.hpp"
#include "support/random.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

/// Where the parameters of PPGN lie on the device: every layer's weights as out × in with both padded to the groups of
/// channels (a layer on several tensors side by side has each padded), then its bias; the votes last, one slot of
/// gradient being enough for them. What is padding starts as zero and stays zero.
struct PpgnLayout {
  struct Layer {
    std::size_t weight = 0, bias = 0;
    unsigned stride = 0;  ///< padded inputs
  };
  struct Block {
    std::vector<Layer> mlp[2];
    Layer skip;           ///< of the block's input, then the product
    unsigned inputs = 0;  ///< padded channels of the block's input
  };
  /// Numbers that stand side by side in both orders.
  struct Run {
    std::size_t flat, device, count;
  };

  explicit PpgnLayout(const nn::ModelConfig& config)
      : channels(ppgn_padded(config.width)), classes(config.classes), bias_stride(ppgn_padded(classes)) {
    const nn::Layout layout = nn::layout(config);
    flat_size = layout.size;
    for (std::uint32_t b = 0; b < config.layers; ++b) {
      const unsigned before = b == 0 ? 1 + config.node_inputs() : config.width;
      const std::string at = std::to_string(b);
      Block& block = blocks.emplace_back();
      block.inputs = ppgn_padded(before);
      for (unsigned m = 0; m < 2; ++m) {
        for (std::uint32_t l = 0; l < config.mlp_depth; ++l) {
          const std::string name = "mlp" + std::to_string(m + 1) + "." + at + "." + std::to_string(l);
          block.mlp[m].push_back(place(layout, name, {l == 0 ? before : config.width}));
        }
      }
      block.skip = place(layout, "skip." + at, {before, config.width});
    }
    const std::size_t inputs = std::size_t{2} * channels;
    vote_weight = size;
    for (std::uint32_t b = 0; b < config.layers; ++b) {
      place_matrix(layout.at("vote." + std::to_string(b) + ".weight"), inputs, {config.width, config.width});
      size += classes * inputs;
    }
    vote_bias = size;
    for (std::uint32_t b = 0; b < config.layers; ++b) {
      runs.push_back({layout.at("vote." + std::to_string(b) + ".bias").offset, size, classes});
      size += bias_stride;
    }
  }

  /// From nn::layout order to the device's; `device` must be zeros where it is padding.
  void spread(std::span<const float> flat, std::span<float> device) const {
    for (const Run& run : runs) std::copy_n(flat.data() + run.flat, run.count, device.data() + run.device);
  }
  void gather(std::span<const float> device, std::span<float> flat) const {
    for (const Run& run : runs) std::copy_n(device.data() + run.device, run.count, flat.data() + run.flat);
  }

  std::vector<Block> blocks;
  std::vector<Run> runs;
  unsigned channels;  ///< the width, padded
  unsigned classes;
  /// The votes: blocks × classes × 2 · channels weights, then blocks × bias_stride biases.
  std::size_t vote_weight = 0, vote_bias = 0, bias_stride;
  std::size_t size = 0;       ///< floats on the device
  std::size_t flat_size = 0;  ///< floats in nn::layout order

 private:
  /// The next place; `inputs`: of the tensors side by side.
  Layer place(const nn::Layout& layout, const std::string& name, std::initializer_list<unsigned> inputs) {
    Layer layer{.weight = size};
    for (const unsigned count : inputs) layer.stride += ppgn_padded(count);
    place_matrix(layout.at(name + ".weight"), layer.stride, inputs);
    layer.bias = size += std::size_t{channels} * layer.stride;
    const nn::Tensor& bias = layout.at(name + ".bias");
    runs.push_back({bias.offset, size, bias.size});
    size += channels;
    return layer;
  }
  void place_matrix(const nn::Tensor& tensor, std::size_t stride, std::initializer_list<unsigned> inputs) {
    std::size_t flat = tensor.offset, at = size;
    for (const unsigned count : inputs) {
      for (std::size_t r = 0; r < tensor.shape[0]; ++r) {
        runs.push_back({flat + r * tensor.shape[1], at + r * stride, count});
      }
      flat += count;
      at += ppgn_padded(count);
    }
  }
};

/// The graphs, features and targets of a job on the device.
///
/// Classes of pairs are numbered as in wl::PairClasses. The n × n table of a graph's pairs has its nodes in another
/// order: those that are the first of their class before the others. So the first pairs of all classes (marked by
/// kPpgnFirst) are in the table's first `diagonal` rows.
class PpgnGraphs {
 public:
  /// `threads` look for classes; 0: all cores.
  PpgnGraphs(const Job& job, unsigned threads, Stream& stream) : feature_count_(job.model.input_features) {
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
  [[nodiscard]] PpgnData view() const {
    return {classes_.data(), pairs_.data(), nodes_.data(), features_.data(), targets_.view(), loss_, feature_count_};
  }
  /// As part of a batch that has nothing yet.
  [[nodiscard]] const PpgnGraph& graph(std::size_t g) const { return graphs_[g]; }

 private:
  std::vector<PpgnGraph> graphs_;
  DeviceArray<PpgnClass> classes_;
  DeviceArray<std::uint64_t> nodes_;
  DeviceArray<std::uint32_t> pairs_;
  DeviceArray<float> features_;
  DeviceTargets targets_;
  Loss loss_;
  unsigned feature_count_;
};

/// Graphs that go through together; results of the i-th graph go to place `first` + i of the pass's lists.
struct PpgnBatch {
  const PpgnGraph* graphs = nullptr;  ///< on the device
  std::size_t first = 0;
  unsigned count = 0, rows = 0, tiles = 0;
};

/// A pass over some graphs in batches of `size`, in the order given.
struct PpgnPass {
  explicit PpgnPass(std::size_t most_graphs) : device(most_graphs, "list of graphs") {}

  void prepare(const PpgnGraphs& data, std::span<const std::uint32_t> graphs, std::size_t size, Stream& stream) {
    batches.clear();
    list.clear();
    unsigned nodes = 0;
    for (std::size_t first = 0; first < graphs.size(); first += size) {
      PpgnBatch batch{.graphs = device.data() + first, .first = first};
      for (const std::uint32_t g : graphs.subspan(first, std::min(size, graphs.size() - first))) {
        PpgnGraph graph = data.graph(g);
        graph.first_row = batch.rows;
        graph.first_tile = batch.tiles;
        graph.first_node = nodes;
        list.push_back(graph);
        ++batch.count;
        batch.rows += graph.rows;
        nodes += graph.nodes;
        batch.tiles += channel_tiles(graph);
      }
      batches.push_back(batch);
    }
    device.upload(list, stream);
  }

  DeviceArray<PpgnGraph> device;
  std::vector<PpgnGraph> list;
  std::vector<PpgnBatch> batches;
};

/// The rows of the largest batch of `size` of these graphs.
inline unsigned ppgn_most_rows(const PpgnGraphs& data, std::span<const std::uint32_t> graphs, std::size_t size) {
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
class PpgnNetwork {
 public:
  /// For batches of at most `most_rows` rows and `most_graphs` graphs, `most_results` results a pass. Keeps gradients
  /// of all blocks until the weights' are computed at once where `memory` bytes allow it, else block by block: the same
  /// bits, slower. Throws InputError that names batch and width where the device has not enough memory.
  PpgnNetwork(const Job& job, const PpgnGraphs& data, unsigned most_rows, unsigned most_graphs,
              std::size_t most_results, std::size_t memory, const PpgnQueue& queue)
      : config_(job.model),
        layout_(job.model),
        data_(data.view()),
        queue_(queue),
        most_graphs_(most_graphs),
        clip_norm_(static_cast<float>(job.optimiser.clip_norm)) {
    Stream& stream = queue.stream;
    const std::string what = "tensors of ppgn (batch " + std::to_string(job.batch) + ", width " +
                             std::to_string(job.model.width) + ", " + std::to_string(job.model.layers) +
                             " blocks, up to " + std::to_string(most_rows) +
                             " classes of pairs of nodes: reduce batch or width)";
    const std::size_t blocks = job.model.layers, depth = job.model.mlp_depth;
    const bool roomy = bytes(job.model, most_rows) < memory;
    const std::size_t size = layout_.size;
    for (DeviceArray<float>* array : {&state_[0], &state_[1], &state_[2], &kept_[0], &kept_[1], &kept_[2], &sum_}) {
      *array = DeviceArray<float>(size, "parameters of ppgn (reduce width)");
      array->zero(stream);
    }
    if (sizeof(T) == 2) half_ = DeviceArray<Half>(size, "parameters of ppgn (reduce width)");
    host_ = PinnedArray<float>(size, "memory for parameters of ppgn");

    const std::size_t entries = std::size_t{most_rows} * layout_.channels;
    const auto tensor = [&] { return DeviceArray<T>(entries, what.c_str()); };
    input_ = DeviceArray<T>(std::size_t{most_rows} * layout_.blocks[0].inputs, what.c_str());
    sizes_ = DeviceArray<float>(most_rows, what.c_str());
    inverse_sizes_ = DeviceArray<float>(most_rows, what.c_str());
    d_product_ = tensor();
    if (sizeof(T) == 2) residual_ = tensor();
    blocks_.resize(blocks);
    backs_.resize(roomy ? blocks : 1);
    d_outs_.resize(roomy ? blocks : std::min<std::size_t>(blocks, 2));
    const auto fill = [&](Mlps& mlps) {
      for (auto& mlp : mlps) std::generate_n(std::back_inserter(mlp), depth, tensor);
    };
    for (Block& block : blocks_) {
      fill(block.mlp);
      block.product = tensor();
      block.out = tensor();
    }
    for (Mlps& back : backs_) fill(back);
    for (auto& d_out : d_outs_) d_out = tensor();

    // The weights' gradients, block after block.
    std::vector<PpgnWeightTask<T>> tasks;
    const unsigned channels = layout_.channels;
    for (std::size_t b = 0; b < blocks; ++b) {
      const PpgnLayout::Block& block = layout_.blocks[b];
      const auto task = [&](const T* left, const T* right, unsigned inputs, std::size_t weight, unsigned stride,
                            long long bias) {
        tasks.push_back({left, right, channels, inputs, channels, inputs, weight, stride, bias, 0, 0});
      };
      for (unsigned mlp = 0; mlp < 2; ++mlp) {
        for (std::size_t l = 0; l < depth; ++l) {
          const PpgnLayout::Layer& layer = block.mlp[mlp][l];
          task(back(b)[mlp][l].data(), l == 0 ? input_of(b) : blocks_[b].mlp[mlp][l - 1].data(), layer.stride,
               layer.weight, layer.stride, static_cast<long long>(layer.bias));
        }
      }
      task(d_out(b).data(), input_of(b), block.inputs, block.skip.weight, block.skip.stride,
           static_cast<long long>(block.skip.bias));
      task(d_out(b).data(), blocks_[b].product.data(), channels, block.skip.weight + block.inputs, block.skip.stride,
           -1);
    }
    tasks_per_block_ = tasks.size() / blocks;
    plan_ = PpgnWeightPlan<T>(std::move(tasks), stream);
    slots_ = DeviceArray<float>(size * plan_.slots(most_rows), "gradients of ppgn (reduce width)");
    slots_.zero(stream);

    const std::size_t readouts = blocks * most_graphs * 2 * channels, classes = job.model.classes;
    pooled_ = DeviceArray<float>(readouts, "readouts of ppgn (reduce batch)");
    winners_ =
        DeviceArray<int>(job.model.readout == nn::Readout::max ? readouts : 0, "readouts of ppgn (reduce batch)");
    d_logits_ = DeviceArray<float>(most_graphs * classes, "logits");
    logits_ = DeviceArray<float>(most_results * classes, "logits");
    losses_ = DeviceArray<float>(most_results, "losses");
    right_ = DeviceArray<unsigned>(most_results, "results");
    flag_ = DeviceArray<unsigned>(1, "results");
    begin();
  }

  /// Bytes of tensors for a number of rows, with gradients kept.
  [[nodiscard]] static std::size_t bytes(const nn::ModelConfig& config, unsigned rows) {
    const std::size_t tensors = config.layers * (4 * std::size_t{config.mlp_depth} + 3) + 3;
    return tensors * rows * ppgn_padded(config.width) * sizeof(T);
  }

  void set_parameters(std::span<const float> flat) {
    spread(flat, state_[0]);
    narrow();
  }
  void upload(const State& state) {
    set_parameters(state.parameters);
    spread(state.adam_m, state_[1]);
    spread(state.adam_v, state_[2]);
    queue_.stream.sync();
  }
  /// Waits.
  void download(State& state) {
    gather(state_[0], state.parameters);
    gather(state_[1], state.adam_m);
    gather(state_[2], state.adam_v);
  }
  /// Remembers parameters and moments on the device.
  void keep_state() {
    for (int i = 0; i < 3; ++i) kept_[i].copy_from(state_[i], queue_.stream);
  }
  /// Back to what was remembered.
  void restore_state() {
    for (int i = 0; i < 3; ++i) state_[i].copy_from(kept_[i], queue_.stream);
    narrow();
  }

  /// In place of the job's; on the device.
  void set_targets(const Targets& targets) { data_.targets = targets; }

  /// The random features of a pass over some graphs: drawn under a key, or pinned (on the device; as many rows as the
  /// graphs of the pass have nodes).
  [[nodiscard]] PpgnRandom random(Key key, const float* pinned = nullptr) const {
    const bool normal =
        config_.distribution == nn::Distribution::normal || config_.distribution == nn::Distribution::xavier_normal;
    return {config_.random_dims(), make_uint2(key.lo, key.hi), normal, feature_scale(config_), pinned};
  }

  /// Forward, losses, and the gradient of the logits times `scale`.
  void forward(const PpgnBatch& batch, const PpgnRandom& random, float scale) {
    const unsigned channels = layout_.channels;
    queue_.run(ppgn_input_kernel<T>, std::size_t{batch.count} * kPpgnInputBlocks, kThreads, 0, data_, batch.graphs,
               random, layout_.blocks[0].inputs, input_.data(), sizes_.data(), inverse_sizes_.data());
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const PpgnLayout::Block& place = layout_.blocks[b];
      auto& block = blocks_[b];
      for (std::size_t l = 0; l < block.mlp[0].size(); ++l) {
        const auto layer = [&](unsigned k) -> PpgnProduct<T> {
          const PpgnLayout::Layer& own = place.mlp[k][l];
          const T* in = l == 0 ? input_of(b) : block.mlp[k][l - 1].data();
          return {.terms = {{in, weights() + own.weight, own.stride, own.stride, own.stride}},
                  .count = 1,
                  .columns = channels,
                  .out = block.mlp[k][l].data(),
                  .bias = state_[0].data() + own.bias,
                  .relu = true};
        };
        multiply_rows(batch, RightOperand::columns_by_depth, {layer(0), layer(1)});
      }
      multiply_channels(batch, {{block.mlp[0].back().data(), block.mlp[1].back().data(), block.product.data(), nullptr,
                                 nullptr, false, false}});
      const T* weight = weights() + place.skip.weight;
      multiply_rows(batch, RightOperand::columns_by_depth,
                    {{.terms = {{input_of(b), weight, place.inputs, place.skip.stride, place.inputs},
                                {block.product.data(), weight + place.inputs, channels, place.skip.stride, channels}},
                      .count = 2,
                      .columns = channels,
                      .out = block.out.data(),
                      .bias = state_[0].data() + place.skip.bias,
                      .residual = residual_.data()}});
      pool(batch, b);
    }
    queue_.run(ppgn_vote_kernel, batch.count, kPpgnVoteThreads, kPpgnVoteThreads / 32 * 4, votes(), data_, batch.graphs,
               scale, logits_.data() + batch.first * layout_.classes, losses_.data() + batch.first,
               right_.data() + batch.first, d_logits_.data(), flag_.data());
  }

  /// Gradients of the batch's weights, times forward's scale.
  void backward(const PpgnBatch& batch) {
    const unsigned channels = layout_.channels;
    const std::size_t words = std::size_t{batch.rows} * channels * sizeof(T) / sizeof(uint4);
    queue_.run(ppgn_clear_kernel, blocks_for(words), kThreads, 0,
               reinterpret_cast<uint4*>(d_out(blocks_.size() - 1).data()), words);
    for (std::size_t b = blocks_.size(); b-- > 0;) {
      const PpgnLayout::Block& place = layout_.blocks[b];
      auto& block = blocks_[b];
      auto& d_mlp = back(b);
      T* const d_block = d_out(b).data();
      pool_back(batch, b);

      // The product's gradient, entry by entry, then those of its factors, whose classes get the sum again.
      const T* skip = weights() + place.skip.weight;
      multiply_rows(batch, RightOperand::depth_by_columns,
                    {{.terms = {{d_block, skip + place.inputs, channels, place.skip.stride, channels}},
                      .count = 1,
                      .columns = channels,
                      .out = d_product_.data(),
                      .row_scale = inverse_sizes_.data()}});
      const std::size_t last = block.mlp[0].size() - 1;
      const T *a = block.mlp[0][last].data(), *c = block.mlp[1][last].data();
      multiply_channels(batch, {{d_product_.data(), c, d_mlp[0][last].data(), a, sizes_.data(), false, true},
                                {a, d_product_.data(), d_mlp[1][last].data(), c, sizes_.data(), true, false}});
      const auto through = [&](unsigned k, std::size_t l) -> PpgnTerm<T> {
        const PpgnLayout::Layer& layer = place.mlp[k][l];
        return {d_mlp[k][l].data(), weights() + layer.weight, channels, layer.stride, channels};
      };
      for (std::size_t l = last; l > 0; --l) {
        const auto before = [&](unsigned k) -> PpgnProduct<T> {
          return {.terms = {through(k, l)},
                  .count = 1,
                  .columns = channels,
                  .out = d_mlp[k][l - 1].data(),
                  .mask = block.mlp[k][l - 1].data()};
        };
        multiply_rows(batch, RightOperand::depth_by_columns, {before(0), before(1)});
      }
      // The block's input got three gradients; at the first block none is wanted.
      if (b > 0) {
        multiply_rows(batch, RightOperand::depth_by_columns,
                      {{.terms = {{d_block, skip, channels, place.skip.stride, channels}, through(0, 0), through(1, 0)},
                        .count = 3,
                        .columns = place.inputs,
                        .out = d_out(b - 1).data()}});
      }
      // Of this block alone where its gradients are about to be overwritten, else of all at the end.
      if (backs_.size() > 1 && b > 0) continue;
      const std::size_t end = backs_.size() > 1 ? blocks_.size() : b + 1;
      plan_.queue(b * tasks_per_block_, end * tasks_per_block_, batch.rows, slots_.data(), layout_.size, queue_);
    }
    const std::size_t weights_of_votes =
        blocks_.size() * std::max(std::size_t{layout_.classes} * 2 * channels, layout_.bias_stride);
    queue_.run(ppgn_vote_gradient_kernel, blocks_for(weights_of_votes), kThreads, 0, votes(), batch.count,
               d_logits_.data(), slots_.data());
  }

  void adam(const AdamStep& step, unsigned rows, float scale) {
    const std::size_t blocks = blocks_for(layout_.size / 4);
    if (clip_norm_ > 0) {
      if (squares_.size() == 0) {
        squares_ = DeviceArray<float>(blocks, "the gradient's norm");
        clip_ = DeviceArray<float>(1, "the gradient's norm");
      }
      queue_.run(ppgn_squares_kernel, blocks, kThreads, 0, slots_of(rows, scale), squares_.data());
      queue_.run(ppgn_clip_kernel, 1, kClipThreads, 0, squares_.data(), blocks, clip_norm_, clip_.data());
    }
    queue_.run(ppgn_adam_kernel, blocks, kThreads, 0, slots_of(rows, scale), step, clip_.data(), state_[0].data(),
               state_[1].data(), state_[2].data(), half_.data(), flag_.data());
  }

  /// Adds the gradient to the sum.
  void add_gradient(unsigned rows, float scale) {
    queue_.run(ppgn_gradient_kernel, blocks_for(layout_.size / 4), kThreads, 0, slots_of(rows, scale), sum_.data());
  }
  void clear_gradient() { sum_.zero(queue_.stream); }
  /// The sum; waits.
  void gradient(std::vector<float>& flat) { gather(sum_, flat); }

  /// Begins a list of results: nothing has been seen that is not finite.
  void begin() { flag_.zero(queue_.stream); }
  /// Waits. Whether all was finite since begin(); fills what is asked for, as long as the span is.
  [[nodiscard]] bool finish(std::span<float> logits, std::span<float> losses, std::span<unsigned> right) {
    unsigned flag = 0;
    flag_.download({&flag, 1}, queue_.stream);
    logits_.download(logits, queue_.stream);
    losses_.download(losses, queue_.stream);
    right_.download(right, queue_.stream);
    queue_.stream.sync();
    return flag == 0;
  }

 private:
  static constexpr unsigned kThreads = 256;
  static std::size_t blocks_for(std::size_t items) { return up(items, kThreads); }

  /// What both of a block's layers by layers give, or their gradients before the bias was added.
  using Mlps = std::array<std::vector<DeviceArray<T>>, 2>;
  /// What the backward pass needs of a block's forward pass.
  struct Block {
    Mlps mlp;
    DeviceArray<T> product, out;
  };

  const T* weights() const {
    if constexpr (sizeof(T) == 2) {
      return half_.data();
    } else {
      return state_[0].data();
    }
  }
  const T* input_of(std::size_t b) const { return b == 0 ? input_.data() : blocks_[b - 1].out.data(); }
  DeviceArray<T>& d_out(std::size_t b) { return d_outs_[b % d_outs_.size()]; }
  Mlps& back(std::size_t b) { return backs_[b % backs_.size()]; }

  /// Numbers in nn::layout order to the device's, and back (it waits).
  void spread(std::span<const float> flat, DeviceArray<float>& to) {
    queue_.stream.sync();  // whoever used the host's copy is done
    std::fill(host_.span().begin(), host_.span().end(), 0.0f);
    layout_.spread(flat, host_.span());
    to.upload(host_.span(), queue_.stream);
  }
  void gather(const DeviceArray<float>& from, std::vector<float>& flat) {
    from.download(host_.span(), queue_.stream);
    queue_.stream.sync();
    flat.resize(layout_.flat_size);
    layout_.gather(host_.span(), flat);
  }
  void narrow() {
    if constexpr (sizeof(T) == 2) {
      queue_.run(ppgn_narrow_kernel, blocks_for(state_[0].size() / 2), kThreads, 0, state_[0].data(), half_.data(),
                 state_[0].size());
    }
  }
  PpgnSlots slots_of(unsigned rows, float scale) const {
    return {slots_.data(), layout_.size, layout_.vote_weight, plan_.slots(rows), 1 / scale};
  }
  PpgnVotes votes() const {
    return {state_[0].data(),
            layout_.vote_weight,
            layout_.vote_bias,
            layout_.bias_stride,
            pooled_.data(),
            winners_.data(),
            static_cast<unsigned>(layout_.blocks.size()),
            layout_.classes,
            2 * layout_.channels,
            most_graphs_};
  }

  /// A product of a batch's rows, or two.
  void multiply_rows(const PpgnBatch& batch, RightOperand order, std::initializer_list<PpgnProduct<T>> list) {
    PpgnProducts<T> all{};
    for (const PpgnProduct<T>& product : list) all.product[all.count++] = product;
    all.rows = batch.rows;
    all.flag = flag_.data();
    queue_rows(all, order, queue_);
  }
  /// A product channel by channel, or two.
  void multiply_channels(const PpgnBatch& batch, std::initializer_list<PpgnChannelTask<T>> list) {
    PpgnChannelTasks<T> all{};
    for (const PpgnChannelTask<T>& task : list) all.task[all.count++] = task;
    all.pairs = data_.pairs;
    all.graphs = batch.graphs;
    all.graph_count = batch.count;
    all.channels = layout_.channels;
    all.flag = flag_.data();
    queue_channels(all, batch.tiles, queue_);
  }
  /// The readouts of a block's output.
  void pool(const PpgnBatch& batch, std::size_t b) {
    const unsigned channels = layout_.channels;
    const std::size_t at = b * most_graphs_ * 2 * channels;
    const std::size_t count = std::size_t{batch.count} * ((channels + kPpgnPoolChannels - 1) / kPpgnPoolChannels);
    const auto run = [&](auto kernel, unsigned threads, std::size_t shared) {
      queue_.run(kernel, count, threads, shared, blocks_[b].out.data(), residual_.data(), batch.graphs, sizes_.data(),
                 channels, config_.readout == nn::Readout::mean, pooled_.data() + at,
                 winners_.size() == 0 ? nullptr : winners_.data() + at);
    };
    if (config_.readout != nn::Readout::max) return run(ppgn_pool_kernel<T, false>, kPpgnSumThreads, kPpgnSumShared);
    const unsigned threads = batch.rows > 4096 * batch.count ? 1024 : batch.rows > 128 * batch.count ? 256 : 64;
    run(ppgn_pool_kernel<T, true>, threads, kPpgnPoolShared);
  }
  /// Adds their gradient to the block's output.
  void pool_back(const PpgnBatch& batch, std::size_t b) {
    const auto block = static_cast<unsigned>(b);
    if (config_.readout != nn::Readout::max) {
      queue_.run(ppgn_spread_kernel<T>, std::size_t{batch.count} * kPpgnInputBlocks, kThreads, 0, votes(), block,
                 batch.graphs, sizes_.data(), config_.readout == nn::Readout::mean, d_logits_.data(), d_out(b).data(),
                 flag_.data());
      return;
    }
    queue_.run(ppgn_scatter_kernel<T>, blocks_for(std::size_t{batch.count} * 2 * layout_.channels), kThreads, 0,
               votes(), block, batch.graphs, batch.count, d_logits_.data(), d_out(b).data(), flag_.data());
  }

  nn::ModelConfig config_;
  PpgnLayout layout_;
  PpgnData data_;
  PpgnQueue queue_;
  unsigned most_graphs_;
  float clip_norm_;
  DeviceArray<float> state_[3], kept_[3], slots_, sum_;  ///< parameters and moments
  DeviceArray<float> squares_, clip_;                    ///< where gradients are clipped
  DeviceArray<Half> half_;
  DeviceArray<T> input_, d_product_, residual_;
  DeviceArray<float> sizes_, inverse_sizes_;  ///< of the rows' classes
  std::vector<Block> blocks_;
  std::vector<Mlps> backs_;
  std::vector<DeviceArray<T>> d_outs_;
  PpgnWeightPlan<T> plan_;
  std::size_t tasks_per_block_ = 0;
  DeviceArray<float> pooled_, logits_, losses_, d_logits_;
  DeviceArray<int> winners_;
  DeviceArray<unsigned> right_, flag_;
  PinnedArray<float> host_;
};

}  // namespace tyche::engine::TYCHE_CUDA_NS
