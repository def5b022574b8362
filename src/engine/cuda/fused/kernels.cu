#include "engine/cuda/fused/head.cuh"
#include "engine/cuda/runtime/adam.cuh"

namespace tyche::engine::TYCHE_CUDA_NS::fused {

namespace {

// ---- one unit from its graphs to the gradient of all parameters, in shared memory alone

/// Random feature k of a node, for what the fast way of fill_random() does not cover.
__device__ __forceinline__ float random_feature(const Args& a, uint2 key, int k, int node, unsigned graph,
                                                unsigned place) {
  if (a.pinned != nullptr) {
    return a.pinned[static_cast<std::size_t>(a.pinned_first[place] + static_cast<unsigned>(node)) *
                        static_cast<unsigned>(a.model.random) +
                    static_cast<unsigned>(k)];
  }
  const float4 block = feature_block<true>(key, static_cast<unsigned>(k) / 4, static_cast<unsigned>(node), graph,
                                           a.model.normal, a.model.feature_scale);
  return k % 4 == 0 ? block.x : k % 4 == 1 ? block.y : k % 4 == 2 ? block.z : block.w;
}

/// The columns from model.fixed on of the mixed input: random features, zeros in what is padding.
template <int W>
__device__ __forceinline__ void fill_random(const Args& a, char* sm, const Members& members, const Unit& unit,
                                            uint2 key) {
  const Model& model = a.model;
  const unsigned to = static_cast<unsigned>(model.pre * a.shared.buffer);
  const int tid = static_cast<int>(threadIdx.x), first_chunk = model.fixed / 8, chunks = W / 8 - first_chunk;
  const bool whole = model.fixed % 8 == 0 && model.width == W && a.pinned == nullptr;
#pragma unroll 1
  for (int q = tid; q < members.padded * chunks; q += kThreads) {
    const int row = chunks == W / 8 ? q / (W / 8) : q / chunks;
    const int chunk = first_chunk + q - row * chunks;
    const bool second = row >= members.second;
    const int node = second ? row - members.second : row;
    const unsigned graph = second ? unit.graph[1] : unit.graph[0];
    char* at = sm + to + chunk_place<W>(static_cast<unsigned>(row), static_cast<unsigned>(chunk));
    if (whole) {
      uint4 out = make_uint4(0, 0, 0, 0);
      if (row < members.rows) {
        const auto block = static_cast<unsigned>(chunk - first_chunk) * 2;
        const float4 x =
            feature_block<true>(key, block, static_cast<unsigned>(node), graph, model.normal, model.feature_scale);
        const float4 y =
            feature_block<true>(key, block + 1, static_cast<unsigned>(node), graph, model.normal, model.feature_scale);
        out = make_uint4(pack2(x.x, x.y), pack2(x.z, x.w), pack2(y.x, y.y), pack2(y.z, y.w));
      }
      *reinterpret_cast<uint4*>(at) = out;
    } else {
#pragma unroll 1
      for (int i = 0; i < 8; ++i) {
        const int k = chunk * 8 + i - model.fixed;
        if (k < 0) continue;  // the pre-convolutions' column
        float x = 0;
        if (k < model.random && row < members.rows) {
          x = random_feature(a, key, k, node, graph, second ? unit.place[1] : unit.place[0]);
        }
        reinterpret_cast<Half*>(at)[i] = to_half(x);
      }
    }
  }
}

/// The node features and the drawn columns behind them, then zeros. `places`: see Args.
template <int W>
__device__ __forceinline__ void fill_features(const Args& a, char* sm, const Members& members, const Unit& unit,
                                              const GraphEntry& one, const GraphEntry& two, const unsigned* places) {
  const int columns = a.model.features, all = columns + static_cast<int>(a.drawn.columns);
#pragma unroll 1
  for (int q = static_cast<int>(threadIdx.x); q < members.padded * (W / 8); q += kThreads) {
    const int row = q / (W / 8), chunk = q % (W / 8);
    const bool second = row >= members.second;
    // A graph has one row offset more than nodes.
    const int node = second ? two.first_offset - static_cast<int>(unit.graph[1]) + row - members.second
                            : one.first_offset - static_cast<int>(unit.graph[0]) + row;
    char* at = sm + chunk_place<W>(static_cast<unsigned>(row), static_cast<unsigned>(chunk));
    *reinterpret_cast<uint4*>(at) = make_uint4(0, 0, 0, 0);
    if (row < members.rows) {
      for (int c = chunk * 8; c < columns && c < chunk * 8 + 8; ++c) {
        reinterpret_cast<Half*>(at)[c - chunk * 8] = to_half(a.features[static_cast<std::size_t>(node) * columns + c]);
      }
      if (all > columns && chunk * 8 < all) {
        const unsigned place = places[second ? unit.place[1] : unit.place[0]];
        const int own = second ? row - members.second : row;
        for (int c = chunk * 8 > columns ? chunk * 8 : columns; c < all && c < chunk * 8 + 8; ++c) {
          reinterpret_cast<Half*>(at)[c - chunk * 8] =
              to_half(drawn_value(a.drawn, place, static_cast<unsigned>(own), static_cast<unsigned>(c - columns)));
        }
      }
    }
  }
}

/// Graphs and inputs of a unit, and `names` (targets are added) into shared memory: nothing that an earlier kernel of
/// the same epoch writes. `places`: of the drawn rows, by the unit's places.
template <int W>
__device__ __forceinline__ Members prepare(const Args& a, char* sm, const Unit& unit, uint2 key, const unsigned* places,
                                           Names names) {
  const int tid = static_cast<int>(threadIdx.x);
  const GraphEntry one = a.graphs[unit.graph[0]];
  GraphEntry two = {0, 0, 0, 0};
  if (unit.graph[1] != kNone) two = a.graphs[unit.graph[1]];
  Members members;
  members.graphs = unit.graph[1] != kNone ? 2 : 1;
  members.wide = (one.wide | two.wide) != 0;
  members.second = one.nodes;
  members.rows = one.nodes + two.nodes;
  members.padded = members.rows > 0 ? (members.rows + 15) & ~15 : 16;
  if (tid == 0) {
    const Targets targets = a.targets.of_trial(static_cast<std::size_t>(names.trial));
    names.target[0] = targets[unit.graph[0]];
    if (members.graphs == 2) names.target[1] = targets[unit.graph[1]];
    *reinterpret_cast<Names*>(sm + a.shared.names) = names;
  }

  // Half of the threads per graph. The first loads fly while the random numbers are made.
  const bool second = tid >= kThreads / 2;
  const int own = tid % (kThreads / 2);
  const int nodes = second ? two.nodes : one.nodes, base = second ? members.second : 0;
  const unsigned short* offsets = a.row_offsets + (second ? two.first_offset : one.first_offset);
  const unsigned short* neighbours = a.neighbours + (second ? two.first_edge : one.first_edge);
  const int edges_before = second ? a.row_offsets[one.first_offset + one.nodes] : 0;
  const int edges = nodes > 0 ? offsets[nodes] : 0;
  int begin = 0, end = 0, neighbour = 0;
  if (own < nodes) begin = offsets[own], end = offsets[own + 1];
  if (own < edges) neighbour = neighbours[own];

  if (a.model.pre > 0) fill_features<W>(a, sm, members, unit, one, two, places);
  fill_random<W>(a, sm, members, unit, key);

  auto* inverse = reinterpret_cast<float*>(sm + a.shared.inverse);
  auto* shared_offsets = reinterpret_cast<unsigned short*>(sm + a.shared.offsets);
  auto* shared_neighbours = reinterpret_cast<unsigned short*>(sm + a.shared.neighbours);
  for (int v = own; v < nodes; v += kThreads / 2) {
    if (v != own) begin = offsets[v], end = offsets[v + 1];
    const int degree = end - begin;
    shared_offsets[base + v] = static_cast<unsigned short>(edges_before + begin);
    inverse[base + v] = degree == 0 ? 0.0f : a.model.sum_aggregation ? 1.0f : 1.0f / static_cast<float>(degree);
  }
  if (second && own == 0) shared_offsets[members.rows] = static_cast<unsigned short>(edges_before + edges);
  for (int e = own; e < edges; e += kThreads / 2) {
    if (e != own) neighbour = neighbours[e];
    shared_neighbours[edges_before + e] = static_cast<unsigned short>(neighbour + base);
  }
  if (tid < members.padded - members.rows) inverse[members.rows + tid] = 0;
  __syncthreads();
  return members;
}

/// Zeros in the columns from `columns` on of the values a warp's products have left in `to`; own: the lane's first
/// place there.
template <int W>
__device__ __forceinline__ void clear_columns(char* to, int columns, int tiles, unsigned own, int warp, int lane) {
  using T = Team<W>;
#pragma unroll 1
  for (int tile = warp / T::kColumnGroups; tile < tiles; tile += T::kRowGroups, to += T::kRowGroups * T::kTileBytes) {
#pragma unroll 1
    for (int i = 0; i < 8; ++i) {
      const int n = i / 4, column = warp % T::kColumnGroups * 16 + n * 8 + 2 * (lane & 3) + i % 2;
      const unsigned at = (own ^ static_cast<unsigned>(n) << 4) + static_cast<unsigned>(i / 2 % 2 * 16 * W + i % 2 * 2);
      if (column >= columns) *reinterpret_cast<Half*>(to + at) = 0;
    }
  }
}

/// What a thread is in the products of a pass, and where it works.
template <int W>
struct PassWork {
  using T = Team<W>;
  const Args& a;
  char* sm;
  const Members& members;
  const Share& share;
  const Model& model = a.model;
  int lane = static_cast<int>(threadIdx.x) & 31;
  int warp = shfl(static_cast<int>(threadIdx.x) >> 5, 0);  ///< the same in all lanes, and the compiler knows
  int group = warp % T::kColumnGroups, eighth = lane >> 2, pair = lane & 3;
  int tiles = members.padded / 16, row = warp / T::kColumnGroups * 16 + eighth;
  unsigned buffer = static_cast<unsigned>(a.shared.buffer), scratch = static_cast<unsigned>(a.shared.scratch);
  unsigned last = static_cast<unsigned>(model.layers) * buffer;  ///< where the last layer's output is
  unsigned operand = 0;  ///< the lane's place in the warp's first tile as operand of ldmatrix
  /// The place of the lane's two values in row `eighth` of a result; those of the next 8 columns have another bit 4.
  unsigned result = 0;

  /// Not before they are needed: registers are short.
  __device__ __forceinline__ void find_places() {
    operand = computed_here(lane_rows<W>(warp, lane));
    result = computed_here(chunk_place<W>(static_cast<unsigned>(row), static_cast<unsigned>(group * 2)) +
                           4 * static_cast<unsigned>(pair));
  }
  /// The place of values n (0 or 1) of a result.
  __device__ __forceinline__ unsigned place(int n) const { return result ^ static_cast<unsigned>(n) << 4; }
};

/// How a layer's output is kept. Mixed: in half precision, but for the columns from model.fixed on, which are random
/// and stand there already.
enum class Stored : int { half, fp32, mixed };

/// Puts the two values of a lane's eight columns into a layer's output at `out`, a tile `offset` further on.
template <int W>
__device__ __forceinline__ void store_output(const PassWork<W>& p, const float (&z)[2][4], unsigned out,
                                             unsigned offset, Stored as) {
  if (as == Stored::half) {
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      char* to = p.sm + (out + offset + p.place(n));
      *reinterpret_cast<unsigned*>(to) = pack2(z[n][0], z[n][1]);
      *reinterpret_cast<unsigned*>(to + 16 * W) = pack2(z[n][2], z[n][3]);
    }
    return;
  }
#pragma unroll
  for (int n = 0; n < 2; ++n) {
    const int column = p.group * 16 + n * 8 + 2 * p.pair;
    if (as == Stored::fp32) {
      auto* to = reinterpret_cast<float*>(p.sm + (out + 2 * offset)) + p.row * W + (column ^ ((p.eighth & 3) << 3));
      *reinterpret_cast<float2*>(to) = make_float2(z[n][0], z[n][1]);
      *reinterpret_cast<float2*>(to + 8 * W) = make_float2(z[n][2], z[n][3]);
    } else {
      char* to = p.sm + (out + offset + p.place(n));
      if (column + 1 < p.model.fixed) {
        *reinterpret_cast<unsigned*>(to) = pack2(z[n][0], z[n][1]);
        *reinterpret_cast<unsigned*>(to + 16 * W) = pack2(z[n][2], z[n][3]);
      } else if (column < p.model.fixed) {
        *reinterpret_cast<Half*>(to) = to_half(z[n][0]);
        *reinterpret_cast<Half*>(to + 16 * W) = to_half(z[n][2]);
      }
    }
  }
}

/// All layers, from buffer 0 to p.last.
template <int W, bool kElu>
__device__ __forceinline__ void layers_forward(PassWork<W>& p, int trial) {
  using T = Team<W>;
  const Args& a = p.a;
  const Model& model = p.model;
  Weights<W> weights;
  const uint4* from = lane_weights<W>(a.forward_w + static_cast<std::size_t>(trial) * model.weights, p.group, p.lane);
  const float* bias = a.w + static_cast<std::size_t>(trial) * model.stride + model.weights + p.group * 16 + 2 * p.pair;
  float2 start[2];
  const auto load_bias = [&] {
#pragma unroll
    for (int n = 0; n < 2; ++n) start[n] = *reinterpret_cast<const float2*>(bias + n * 8);
  };
  if constexpr (T::kMatrices == 2) load_weights<W>(weights, from);
  load_bias();
  p.find_places();

  unsigned in = 0;
#pragma unroll 1
  for (int l = 0; l < model.layers; ++l) {
    gather<W, true>(a, p.sm, in, p.members.rows, p.members.padded, p.members.wide, p.share);
    __syncthreads();
    const auto as = static_cast<Stored>(
        computed_here(static_cast<int>(l == model.layers - 1 && model.readout == nn::Readout::max ? Stored::fp32
                                       : l + 1 == model.pre                                       ? Stored::mixed
                                                                                                  : Stored::half)));
    const unsigned out = in + p.buffer;
    layer_product<W>(p.sm, in, p.scratch, p.tiles, p.operand, start, weights, from, p.warp,
                     [&](float(&z)[2][4], unsigned offset) {
#pragma unroll
                       for (int n = 0; n < 2; ++n) activate<kElu>(model.activation, z[n]);
                       store_output<W>(p, z, out, offset, as);
                     });
    in += p.buffer;
    if (l + 1 < model.layers) {
      from += 2 * kMatrixWords<W>;
      bias += W;
      if constexpr (T::kMatrices == 2) load_weights<W>(weights, from);
      load_bias();
    }
    __syncthreads();
  }
}

/// From the gradient at p.last to that of all layers' parameters, into the unit's slots.
template <int W, bool kElu>
__device__ __forceinline__ void layers_backward(const PassWork<W>& p) {
  using T = Team<W>;
  const Args& a = p.a;
  const Model& model = p.model;
  char* const sm = p.sm;
  const Names& names = names_of(a, sm);
  Weights<W> weights;
  const uint4* from =
      lane_weights<W>(a.backward_w + static_cast<std::size_t>(names.trial) * model.weights, p.group, p.lane) +
      (model.layers - 1) * (2 * kMatrixWords<W>);
  const std::size_t slot = static_cast<std::size_t>(names.trial) * a.units_most + names.unit;
  Piece<W> piece = piece_of<W>(p.warp, p.lane, a.slots + slot * model.weights + (model.layers - 1) * (2 * W * W),
                               a.bias_slots + (slot * model.layers + model.layers - 1) * W);
  piece.right = computed_here(piece.right);
  float2 start[2];
  start[0] = start[1] = make_float2(0, 0);
  unsigned in = p.last, dz = p.last, next = p.last + p.buffer;
  if constexpr (T::kMatrices == 2) load_weights<W>(weights, from);
#pragma unroll 1
  for (int l = model.layers - 1; l >= 0; --l) {
    in -= p.buffer;
    gather<W, false>(a, sm, dz, p.members.rows, p.members.padded, p.members.wide, p.share);
    __syncthreads();
    if (l > 0) {
      layer_product<W>(
          sm, dz, p.scratch, p.tiles, p.operand, start, weights, from, p.warp, [&](float(&d)[2][4], unsigned offset) {
            // All values before the first gradient is stored: the compiler cannot know that they are elsewhere.
            unsigned h[2][2];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
              h[i / 2][i % 2] =
                  *reinterpret_cast<const unsigned*>(sm + (in + offset + p.place(i / 2) + i % 2 * (16 * W)));
            }
#pragma unroll
            for (int i = 0; i < 4; ++i) {
              *reinterpret_cast<unsigned*>(sm + (next + offset + p.place(i / 2) + i % 2 * (16 * W))) =
                  times_slope<kElu>(model.activation, d[i / 2][i % 2 * 2], d[i / 2][i % 2 * 2 + 1], h[i / 2][i % 2]);
            }
          });
      // Nothing flows back into random columns.
      if (l == model.pre) clear_columns<W>(sm + next, model.fixed, p.tiles, p.result, p.warp, p.lane);
    }
    weight_gradient<W>(sm, in, dz, p.scratch, p.tiles, piece, p.warp, p.lane);
    piece.slot -= 2 * kMatrixWords<W>;
    piece.bias_slot -= W / 2;
    from -= 2 * kMatrixWords<W>;
    if (l > 1) {
      if constexpr (T::kMatrices == 2) load_weights<W>(weights, from);
    }
    __syncthreads();
    const unsigned used = dz;
    dz = next;
    next = used;
  }
}

/// Forward, and in training backward: the gradient goes into the unit's slots.
template <int W, bool kTrain, bool kElu>
__device__ __forceinline__ void pass(const Args& a, char* sm, const Members& members, const Share& share, int trial) {
  PassWork<W> p{a, sm, members, share};
  layers_forward<W, kElu>(p, trial);
  head<W, kTrain>(a, sm, p.last, members, p.warp, p.lane);
  if constexpr (kTrain) layers_backward<W, kElu>(p);
}

// ---- the update: sums the gradients of a batch's units in the order of the units and takes Adam's step; writes the
// half copies of the weights in both orientations. Some blocks of a trial have the layers' weights, 256 per warp, the
// others the small parameters.

struct StepConstants {
  float gradient_scale;  ///< 1 / graphs of the batch, or what they count as; less where the gradient is clipped
  float step_size;
  float correction;  ///< 1 / sqrt(1 - beta2^step)
  float keep, beta2, one_minus_beta2, epsilon;
  bool gradient_alone;
};

/// From the squares that the blocks of the measuring kernel left. All lanes of a warp must ask.
__device__ __forceinline__ float clip_of_trial(const Args& a, int trial, float gradient_scale) {
  const int blocks = update_parts(a.model), lane = static_cast<int>(threadIdx.x) & 31;
  const float* squares = a.squares + static_cast<std::size_t>(trial) * blocks;
  float sum = 0;
  for (int b = lane; b < blocks; b += 32) sum += load_cg(squares + b);
  return clip_factor(gradient_scale * sqrtf(warp_sum(sum)), a.clip);
}

__device__ __forceinline__ StepConstants constants_of(const Args& a, const StepEntry& entry, int trial) {
  float scale = 1.0f / (a.gradient_alone ? 1.0f : entry.divisor);
  if (a.squares != nullptr) scale *= clip_of_trial(a, trial, scale);
  return {scale,     entry.step_size, 1.0f / entry.correction2_sqrt, entry.keep, a.beta2, a.one_minus_beta2,
          a.epsilon, a.gradient_alone};
}

__device__ __forceinline__ void adam(float& w, float& m, float& v, float g, const StepConstants& by) {
  g *= by.gradient_scale;
  if (by.gradient_alone) {
    m += g;
    return;
  }
  adam_move(g, by, w, m, v, [&](float mean, float root) { return fast_div(mean, root * by.correction + by.epsilon); });
}

/// Eight weights of a lane.
struct Eight {
  float4 w[2], m[2], v[2];
};
__device__ __forceinline__ void load_eight(Eight& to, const Args& a, std::size_t first) {
  const auto *w = reinterpret_cast<const float4*>(a.w + first), *m = reinterpret_cast<const float4*>(a.m + first),
             *v = reinterpret_cast<const float4*>(a.v + first);
#pragma unroll
  for (int h = 0; h < 2; ++h) to.w[h] = w[h], to.m[h] = m[h], to.v[h] = v[h];
}
__device__ __forceinline__ void store_eight(const Eight& from, const Args& a, std::size_t first) {
  auto *w = reinterpret_cast<float4*>(a.w + first), *m = reinterpret_cast<float4*>(a.m + first),
       *v = reinterpret_cast<float4*>(a.v + first);
#pragma unroll
  for (int h = 0; h < 2; ++h) w[h] = from.w[h], m[h] = from.m[h], v[h] = from.v[h];
}

__device__ __forceinline__ void add_halves(float (&sum)[8], uint4 x, float scale) {
  const float2 a = unpack2(x.x), b = unpack2(x.y), c = unpack2(x.z), d = unpack2(x.w);
  sum[0] += scale * a.x, sum[1] += scale * a.y, sum[2] += scale * b.x, sum[3] += scale * b.y;
  sum[4] += scale * c.x, sum[5] += scale * c.y, sum[6] += scale * d.x, sum[7] += scale * d.y;
}

/// What a block has to know of its step. The pass before this kernel has waited for the epoch's number; plans do not
/// change within a chunk.
struct Now {
  int epoch;
  StepEntry entry;
};
__device__ __forceinline__ Now now_of(const Args& a, int trial, int step) {
  const int epoch = load_cg(a.epoch);
  return {epoch, a.plan[(static_cast<std::size_t>(epoch) * a.trials + trial) * a.steps + step]};
}
__device__ __forceinline__ void report(const Args& a, int trial, int epoch, bool bad) {
  if (bad && a.bad_epoch[trial] == 0) a.bad_epoch[trial] = epoch + 1;
}

/// Weights of the layers. A warp's piece is 8 inputs by 32 outputs. In the other orientation its four 8 × 8 blocks fall
/// into four pieces, and those of the next three pieces below it stand beside them: four warps change them in shared
/// memory, and write whole words.
template <int W, bool kMeasure>
__device__ __forceinline__ void update_weights(const Args& a, char* sm, int step, int trial, int rank) {
  constexpr int kPiece = 256, kWide = W / 32;
  const Model& model = a.model;
  const int tid = static_cast<int>(threadIdx.x), lane = tid & 31;
  const int warp = shfl(tid >> 5, 0), below = warp % 4;
  const int four = rank * (kUpdateWarps / 4) + warp / 4;  // of four pieces
  const int out_group = four % kWide, in_group = four / kWide % kWide, matrix = four / (kWide * kWide);
  const int piece = matrix * (W * W / kPiece) + (in_group * 4 + below) * kWide + out_group;
  const bool mine = four * (4 * kPiece) < model.weights;
  const int place = piece * kPiece + lane * 8;
  const std::size_t at = static_cast<std::size_t>(trial) * model.stride + static_cast<std::size_t>(place);
  Eight eight;
  if (mine && !kMeasure) load_eight(eight, a, at);
  const Now now = now_of(a, trial, step);
  pdl_trigger();
  pdl_wait();
  if (now.entry.units == 0) return;
  auto* turned = reinterpret_cast<unsigned*>(sm + kUpdateWarps * a.staged_slots * 512);
  const std::size_t copies = static_cast<std::size_t>(trial) * model.weights;
  bool bad = false;
  [[maybe_unused]] float squares = 0;
  if (mine) {
    char* area = sm + warp * a.staged_slots * 512 + lane * 16;
    const Half* slots = a.slots + static_cast<std::size_t>(trial) * a.units_most * model.weights + place;
    const float* scales = a.slot_scales + static_cast<std::size_t>(trial) * a.units_most;
    float g[8] = {0, 0, 0, 0, 0, 0, 0, 0};
#pragma unroll 1
    for (int from = 0; from < now.entry.units; from += a.staged_slots) {
      const int count = least(a.staged_slots, now.entry.units - from);
      const Half* next = slots + static_cast<std::size_t>(from) * model.weights;
#pragma unroll
      for (int s = 0; s < kMostStaged; ++s) {
        if (s < count) cp_async16(area + s * 512, next);
        next += model.weights;
      }
      const float scale = lane < count ? load_cg(scales + from + lane) : 0.0f;  // of slot `lane`
      cp_async_commit();
      cp_async_wait<0>();
#pragma unroll
      for (int s = 0; s < kMostStaged; ++s) {
        const float by = shfl(scale, s);
        if (s < count) add_halves(g, *reinterpret_cast<const uint4*>(area + s * 512), by);
      }
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) bad = bad || !finite(g[i]);
    if constexpr (kMeasure) {
#pragma unroll
      for (int i = 0; i < 8; ++i) squares += g[i] * g[i];
    } else {
      const StepConstants constants = constants_of(a, now.entry, trial);
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float4 &w = eight.w[h], &m = eight.m[h], &v = eight.v[h];
        adam(w.x, m.x, v.x, g[h * 4], constants);
        adam(w.y, m.y, v.y, g[h * 4 + 1], constants);
        adam(w.z, m.z, v.z, g[h * 4 + 2], constants);
        adam(w.w, m.w, v.w, g[h * 4 + 3], constants);
      }
      store_eight(eight, a, at);
      const unsigned halves[4] = {pack2(eight.w[0].x, eight.w[0].y), pack2(eight.w[0].z, eight.w[0].w),
                                  pack2(eight.w[1].x, eight.w[1].y), pack2(eight.w[1].z, eight.w[1].w)};
      *reinterpret_cast<uint4*>(a.backward_w + copies + place) = make_uint4(halves[0], halves[1], halves[2], halves[3]);
#pragma unroll
      for (int c = 0; c < 4; ++c) turned[((warp / 4 * 4 + c) * 32 + lane) * 4 + below] = movmatrix(halves[c]);
    }
  }
  if constexpr (kMeasure) {
    const float sum = block_sum(squares, reinterpret_cast<float*>(sm));
    if (tid == 0) a.squares[static_cast<std::size_t>(trial) * update_parts(model) + rank] = sum;
    return;
  }
  __syncthreads();
  if (mine) {
    auto* to = reinterpret_cast<uint4*>(a.forward_w + copies) + matrix * (W * W / 8);
    to[((out_group * 4 + below) * kWide + in_group) * 32 + lane] =
        reinterpret_cast<const uint4*>(turned)[warp * 32 + lane];
  }
  report(a, trial, now.epoch, bad);
}

/// Small parameters: biases of the layers from slots, the head from products of factors.
template <bool kMeasure>
__device__ __forceinline__ void update_small(const Args& a, char* sm, int step, int trial, int rank, int biases) {
  const Model& model = a.model;
  const int tid = static_cast<int>(threadIdx.x), first = rank * (kSmallEach * kUpdateThreads) + tid;
  const std::size_t at = static_cast<std::size_t>(trial) * model.stride + static_cast<std::size_t>(model.weights);
  float w[kSmallEach], m[kSmallEach], v[kSmallEach], g[kSmallEach];
  unsigned pairs[kSmallEach];
#pragma unroll
  for (int p = 0; p < kSmallEach; ++p) {
    const int i = first + p * kUpdateThreads;
    w[p] = m[p] = v[p] = g[p] = 0;
    pairs[p] = 0;
    if (i < model.small) w[p] = a.w[at + i], m[p] = a.m[at + i], v[p] = a.v[at + i];
    if (i >= biases && i < model.small) pairs[p] = a.factor_pairs[i - biases];
  }
  const Now now = now_of(a, trial, step);
  pdl_trigger();
  pdl_wait();
  if (now.entry.units == 0) return;
  const float* all_factors = a.factor_slots + static_cast<std::size_t>(trial) * a.batch * model.factors;
  auto* staged = reinterpret_cast<float*>(sm);
  const auto stage_factors = [&](int from) {
    const int count = least(a.staged_graphs, now.entry.graphs - from) * model.factors;
#pragma unroll 4
    for (int i = tid * 4; i < count; i += kUpdateThreads * 4) {
      cp_async16(staged + i, all_factors + static_cast<std::size_t>(from) * model.factors + i);
    }
    cp_async_commit();
  };
  stage_factors(0);
  const float* scales = a.slot_scales + static_cast<std::size_t>(trial) * a.units_most;
#pragma unroll
  for (int p = 0; p < kSmallEach; ++p) {
    const int i = first + p * kUpdateThreads;
    if (i >= biases) continue;
    const float* from = a.bias_slots + static_cast<std::size_t>(trial) * a.units_most * biases + i;
#pragma unroll 1
    for (int s = 0; s < now.entry.units; s += 10) {
      float x[10];
#pragma unroll
      for (int k = 0; k < 10; ++k) {
        x[k] = s + k < now.entry.units ? load_cg(from + (s + k) * biases) * load_cg(scales + s + k) : 0.0f;
      }
#pragma unroll
      for (int k = 0; k < 10; ++k) g[p] += x[k];
    }
  }
#pragma unroll 1
  for (int from = 0; from < now.entry.graphs; from += a.staged_graphs) {
    if (from > 0) {
      __syncthreads();
      stage_factors(from);
    }
    cp_async_wait<0>();
    __syncthreads();
    const int count = least(a.staged_graphs, now.entry.graphs - from);
#pragma unroll
    for (int p = 0; p < kSmallEach; ++p) {
      if (first + p * kUpdateThreads < biases) continue;
      const float *x = staged + (pairs[p] & 0xffffu), *y = staged + (pairs[p] >> 16);
#pragma unroll 4
      for (int s = 0; s < count; ++s) g[p] += x[s * model.factors] * y[s * model.factors];
    }
  }
  if constexpr (kMeasure) {
    float squares = 0;
#pragma unroll
    for (int p = 0; p < kSmallEach; ++p) squares += first + p * kUpdateThreads < model.small ? g[p] * g[p] : 0.0f;
    const float sum = block_sum(squares, reinterpret_cast<float*>(sm));
    if (tid == 0) a.squares[static_cast<std::size_t>(trial) * update_parts(model) + weight_blocks(model) + rank] = sum;
    return;
  }
  const StepConstants constants = constants_of(a, now.entry, trial);
  bool bad = false;
#pragma unroll
  for (int p = 0; p < kSmallEach; ++p) {
    const int i = first + p * kUpdateThreads;
    if (i >= model.small) continue;
    bad = bad || !finite(g[p]);
    adam(w[p], m[p], v[p], g[p], constants);
    a.w[at + i] = w[p], a.m[at + i] = m[p], a.v[at + i] = v[p];
  }
  report(a, trial, now.epoch, bad);
}

// ---- the kernels of a padded width

/// A block per unit: forward and backward of one step. In the first step of an epoch the epoch's number must be waited
/// for; in later ones the graphs and random numbers are made ready while the step before still runs, for its update's
/// blocks let this kernel begin before they wait themselves.
template <int W, bool kElu>
__global__ void __launch_bounds__(kThreads, 1) train_kernel(const __grid_constant__ Args a, int step) {
  char* sm = dynamic_shared();
  const int block = static_cast<int>(blockIdx.x), trial = block / a.units_most, index = block % a.units_most;
  if (step == 0) pdl_wait();
  const std::size_t epoch = static_cast<std::size_t>(load_cg(a.epoch)) * a.trials + trial, row = epoch * a.steps + step;
  if (index >= a.plan[row].units) {
    if (step > 0) pdl_wait();
    pdl_trigger();
    return;
  }
  const EpochKeys keys = a.keys[epoch];
  const Unit unit = a.units[row * a.units_stride + index];
  const Names names = {
      {unit.graph[0], unit.graph[1]}, {unit.place[0], unit.place[1]}, {}, trial, index, keys.dropout, row};
  const unsigned* places = a.places == nullptr ? nullptr : a.places + row * a.batch;
  const Members members = prepare<W>(a, sm, unit, keys.features, places, names);
  const Share share = share_of<W>(a, sm, members.rows, members.padded, members.wide);
  if (step > 0) pdl_wait();
  pdl_trigger();
  pass<W, true, kElu>(a, sm, members, share, trial);
}

/// A block per unit of the test graphs: logits of one draw.
template <int W, bool kElu>
__global__ void __launch_bounds__(kThreads, 1) test_kernel(const __grid_constant__ Args a, int draw) {
  char* sm = dynamic_shared();
  const int trial = static_cast<int>(blockIdx.x) / a.test_units_most;
  const int index = static_cast<int>(blockIdx.x) % a.test_units_most;
  const std::size_t epoch = static_cast<std::size_t>(load_cg(a.epoch)) * a.trials + trial, row = epoch * a.draws + draw;
  if (index >= a.test_counts[trial] || a.test_due[epoch] == 0) return;
  const Unit unit = a.test_units[static_cast<std::size_t>(trial) * a.test_units_most + index];
  const Names names = {{unit.graph[0], unit.graph[1]}, {unit.place[0], unit.place[1]}, {}, trial, index, uint2{}, row};
  const unsigned* places = a.test_places == nullptr ? nullptr : a.test_places + row * a.tests_most;
  const Members members = prepare<W>(a, sm, unit, a.test_keys[row], places, names);
  const Share share = share_of<W>(a, sm, members.rows, members.padded, members.wide);
  pass<W, false, kElu>(a, sm, members, share, trial);
}

/// The weights' blocks come first: the small parameters' fill what they leave.
template <int W, bool kMeasure>
__global__ void __launch_bounds__(kUpdateThreads, 1024 / kUpdateThreads)
    update_kernel(const __grid_constant__ Args a, int step) {
  const int block = static_cast<int>(blockIdx.x), weights = weight_blocks(a.model), small = small_blocks(a.model);
  const int rest = block - a.trials * weights;
  if (rest < 0) {
    update_weights<W, kMeasure>(a, dynamic_shared(), step, block / weights, block % weights);
  } else {
    update_small<kMeasure>(a, dynamic_shared(), step, rest / small, rest % small, a.model.layers * W);
  }
}

template <int W>
constexpr Kernels kKernels = {{train_kernel<W, false>, train_kernel<W, true>},
                              {test_kernel<W, false>, test_kernel<W, true>},
                              update_kernel<W, true>,
                              update_kernel<W, false>};

}  // namespace

const Kernels& kernels_of(int width) { return width == 32 ? kKernels<32> : width == 64 ? kKernels<64> : kKernels<128>; }

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused
