#pragma once
/// Values made number by number, as kernels: inputs, values side by side or added, an activation, the mean over a set's
/// nodes, dropout; and how their gradients come back.
#include "engine/core/targets.hpp"
#include "engine/cuda/layerwise/links.cuh"
#include "engine/cuda/runtime/drawn.cuh"
#include "engine/cuda/runtime/philox.cuh"
#include "nn/program.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

/// Inputs in the order of nn::Source, and others.
enum class PartKind { features, drawn, random, arc_features, types, adjacency, distance, copy, edge_sums, members };

__device__ __forceinline__ uint2 words_of(Key key) { return make_uint2(key.lo, key.hi); }

/// What a forward pass is besides its graphs.
struct PassInputs {
  Key features;                      ///< of the random columns
  const float* pinned = nullptr;     ///< instead of them: rows × random columns
  DrawnColumns drawn{};              ///< marks or colours, where the model has them
  const uint32_t* places = nullptr;  ///< of their rows: one per graph
  const uint32_t* roots = nullptr;   ///< nodes that pairs begin with, graph after graph; null: all
  bool by_batch = false;             ///< batches are normalised by themselves
  Targets targets{};                 ///< training: by the ids of graphs, or where those of their nodes or edges begin
  const uint8_t* counts = nullptr;   ///< training: by target of nodes or edges, whether it has a loss; null: all have
  double divisor = 1;                ///< training: of the sum of losses (core/outcome.hpp)
  bool dropout = false;
  Key dropout_key;
  float* logits = nullptr;    ///< graphs (nodes, edges) × classes
  float* losses = nullptr;    ///< training: one each; null: no losses and gradients follow
  uint32_t* right = nullptr;  ///< training: one each, 1 where the class was right
};

/// What dropout multiplies a number with: 0 where its word is below, else `keep`.
struct Drop {
  uint64_t threshold = 0;
  float keep = 1;
};
/// The same of the rows of a space, where it is on.
struct Dropping {
  bool on;
  Key key;
  const uint32_t* graph_numbers;  ///< of the data set, by id
  Drop drop;
};
__device__ __forceinline__ float dropped(const Dropping& dropping, uint32_t id, uint32_t local, uint32_t columns,
                                         uint32_t column) {
  if (!dropping.on) return 1;
  return dropout_factor(words_of(dropping.key), local * columns + column, dropping.graph_numbers[id],
                        dropping.drop.threshold, dropping.drop.keep);
}

/// Some columns of a value, and where they come from.
struct RowsPart {
  PartKind kind;
  uint32_t first, columns;
  bool vectors;               ///< copy: 16 bytes at a time
  AnyRows from;               ///< copy, members: the value
  const uint32_t* from_base;  ///< members: of its rows
  uint32_t nodes;             ///< members: of a set
  nn::Reduce reduce;          ///< members
};

inline constexpr uint32_t kMostParts = 8;

struct RowsArguments {
  BatchRows rows;
  uint32_t tile_rows;
  Ground ground;
  const LevelEnds* ends;
  PassInputs pass;
  bool normal;         ///< random columns: else they are uniform
  float random_scale;  ///< what they are multiplied with
  bool add;            ///< parts are added; false: they stand side by side
  bool keep;           ///< adds to what is there
  Slope slope;         ///< what becomes of a number
  Dropping dropping;
  uint32_t parts;
  RowsPart part[kMostParts];
};

/// Where a row is.
struct RowPlace {
  const LevelEnds* ends;
  uint32_t graph, row, local;
};

template <class P>
__device__ __forceinline__ float part_value(const RowsArguments& a, const RowsPart& part, const RowPlace& at,
                                            uint32_t column) {
  switch (part.kind) {
    case PartKind::copy:
      return read<P>(part.from, at.row, column);
    case PartKind::features:
      return at.ends->features[size_t{at.local} * part.columns + column];
    case PartKind::drawn:
      return drawn_value(a.pass.drawn, a.pass.places[at.graph], at.local, column);
    case PartKind::types:
      return at.ends->types[at.local] == column ? 1.0f : 0.0f;
    case PartKind::arc_features:
      return at.ends->arc_features[size_t{at.local} * part.columns + column];
    case PartKind::edge_sums:
      return at.ends->edge_sums[size_t{at.local} * part.columns + column];
    case PartKind::adjacency:
    case PartKind::distance: {
      const uint32_t n = a.ground.nodes(at.graph), u = a.ground.root(at.graph, at.local / n), v = at.local % n;
      if (part.kind == PartKind::distance) return at.ends->distances[size_t{u} * n + v] == column ? 1.0f : 0.0f;
      const Link& link = a.ground.links[a.rows.ids[at.graph]];
      const uint32_t begin = link.offsets[u], count = link.offsets[u + 1] - begin;
      return place_in(link.columns + begin, count, v) < count ? 1.0f : 0.0f;
    }
    default:
      break;  // members
  }
  float value = 0;
  for (uint32_t j = 0; j < part.nodes; ++j) {
    const size_t node = part.from_base[at.graph] + at.ends->nodes[size_t{at.local} * part.nodes + j];
    const float own = read<P>(part.from, node, column);
    if (part.reduce != nn::Reduce::max) {
      value += own;
    } else if (j == 0 || own > value) {
      value = own;
    }
  }
  return part.reduce == nn::Reduce::mean ? value * (1 / static_cast<float>(part.nodes)) : value;
}

/// A copy, or a sum of copies: 16 bytes of a row and of all that are added at a time.
template <class P>
__device__ __forceinline__ void copy_vectors(const RowsArguments& a, uint32_t p, const Tile& tile,
                                             const RowPlace* places, const Rows<typename P::Element>& out) {
  const RowsPart& part = a.part[p];
  const uint32_t vectors = (part.columns + P::kVector - 1) / P::kVector, count = a.add ? a.parts : 1;
  for (uint32_t q = threadIdx.x; q < tile.rows * vectors; q += kThreads) {
    const uint32_t r = q / vectors, column = q % vectors * P::kVector;
    typename P::Element* to = out.data + (size_t{tile.first} + r) * out.stride + part.first + column;
    float sum[P::kVector] = {}, own[P::kVector] = {};
    if (a.keep) P::unpack(*reinterpret_cast<const uint4*>(to), own);
    for (uint32_t first = 0; first < count; first += kFlight) {
      uint4 words[kFlight];
      unrolled<kFlight>([&](unsigned i) {
        words[i] = make_uint4(0, 0, 0, 0);
        if (first + i >= count) return;
        const AnyRows& from = a.part[p + first + i].from;
        const auto* data = static_cast<const typename P::Element*>(from.data);
        words[i] =
            load_read_only(reinterpret_cast<const uint4*>(data + (size_t{tile.first} + r) * from.stride + column));
      });
      unrolled<kFlight>([&](unsigned i) {
        float value[P::kVector];
        P::unpack(words[i], value);
        unrolled<P::kVector>([&](unsigned c) { sum[c] += value[c]; });
      });
    }
    unrolled<P::kVector>([&](unsigned c) {
      sum[c] += own[c];
      if (a.dropping.on) {
        const RowPlace& at = places[r];
        sum[c] *= dropped(a.dropping, a.rows.ids[at.graph], at.local, part.columns, column + c);
      }
      if (a.slope.activated) sum[c] = activated<P::kFast>(a.slope.activation, sum[c]);
      if (column + c >= part.columns) sum[c] = 0;
    });
    *reinterpret_cast<uint4*>(to) = P::pack(sum);
  }
}

/// Random columns, of which a thread has four at a time; nothing is added to them.
template <class P>
__device__ __forceinline__ void random_columns(const RowsArguments& a, const RowsPart& part, const Tile& tile,
                                               const RowPlace* places, const Rows<typename P::Element>& out) {
  const uint32_t blocks = (part.columns + 3) / 4;
  for (uint32_t q = threadIdx.x; q < tile.rows * blocks; q += kThreads) {
    const RowPlace& at = places[q / blocks];
    const uint32_t column = q % blocks * 4, columns = part.columns - column < 4 ? part.columns - column : 4;
    const float* pinned = a.pass.pinned == nullptr ? nullptr : a.pass.pinned + size_t{at.row} * part.columns + column;
    float4 drawn = make_float4(0, 0, 0, 0);
    if (pinned == nullptr) {
      const uint32_t number = a.dropping.graph_numbers[a.rows.ids[at.graph]];
      drawn =
          feature_block<P::kFast>(words_of(a.pass.features), column / 4, at.local, number, a.normal, a.random_scale);
    }
    const float v[4] = {drawn.x, drawn.y, drawn.z, drawn.w};
    typename P::Element* to = out.data + size_t{at.row} * out.stride + part.first + column;
    unrolled<4>([&](unsigned i) {
      if (i < columns) to[i] = P::element(pinned == nullptr ? v[i] : pinned[i]);
    });
  }
}

/// A block takes a tile of rows.
template <class P>
__global__ void __launch_bounds__(kThreads, 4) rows_kernel(RowsArguments a, Rows<typename P::Element> out) {
  __shared__ uint32_t graph[kTile];
  __shared__ RowPlace places[kTile];
  const Tile tile = tile_of(a.rows, a.tile_rows, blockIdx.x);
  bool placed = a.dropping.on;
  for (uint32_t p = 0; p < a.parts; ++p) placed = placed || !a.part[p].vectors;
  if (placed) {
    find_graphs(a.rows, tile, graph);
    if (threadIdx.x < tile.rows) {
      const uint32_t row = tile.first + threadIdx.x, b = graph[threadIdx.x];
      places[threadIdx.x] = {a.ends + a.rows.ids[b], b, row, row - a.rows.base[b]};
    }
    __syncthreads();
  }
  for (uint32_t p = 0; p < (a.add ? 1 : a.parts); ++p) {
    const RowsPart& part = a.part[p];
    if (part.vectors) {
      copy_vectors<P>(a, p, tile, places, out);
      continue;
    }
    if (part.kind == PartKind::random) {
      random_columns<P>(a, part, tile, places, out);
      continue;
    }
    for (uint32_t q = threadIdx.x; q < tile.rows * part.columns; q += kThreads) {
      const uint32_t r = q / part.columns, column = q % part.columns;
      typename P::Element* to = out.data + (size_t{tile.first} + r) * out.stride + part.first + column;
      float value = part_value<P>(a, part, places[r], column);
      for (uint32_t other = 1; a.add && other < a.parts; ++other) {
        value += part_value<P>(a, a.part[other], places[r], column);
      }
      if (a.keep) value += P::value(*to);
      if (a.dropping.on)
        value *= dropped(a.dropping, a.rows.ids[places[r].graph], places[r].local, part.columns, column);
      *to = P::element(a.slope.activated ? activated<P::kFast>(a.slope.activation, value) : value);
    }
  }
}

// ---- back onto rows

enum class From : uint32_t { copy, members, whole };

/// Whether a readout takes a row of a graph: all (whole), or of pairs (v, v) (diagonal) or the others (rest).
__device__ __forceinline__ bool is_pooled(nn::Link which, const uint32_t* node_base, uint32_t b, uint32_t local) {
  if (which == nn::Link::whole) return true;
  return (local % (node_base[b + 1] - node_base[b] + 1) == 0) == (which == nn::Link::diagonal);
}

template <class P>
struct SpreadArguments {
  BatchRows rows;  ///< of the value
  uint32_t tile_rows;
  const LevelEnds* ends;  ///< members: of the sets; whole: of the value's level, or null: every row counts once
  AnyRows values;
  Leaving<P> d_in;
  Dropping dropping;  ///< copy
  // copy, members
  Rows<const typename P::Element> d;
  bool vectors;              ///< whether that is read 16 bytes at a time
  const uint32_t* out_base;  ///< members
  uint32_t nodes;            ///< members: of a set
  // members, whole
  nn::Reduce reduce;
  nn::Link which;  ///< whole: of the readout
  const uint32_t* node_base;
  const float* d_pooled;    ///< whole: graphs × pooled_size
  const uint32_t* winners;  ///< whole, max
  uint32_t pooled_size;
};

/// What comes back to 16 bytes of a value, zeros from its last column on. `share`: whole: of what was pooled.
template <class P, From kFrom>
__device__ __forceinline__ void spread_vector(const SpreadArguments<P>& a, uint32_t b, uint32_t row, uint32_t local,
                                              float share, uint32_t column, float (&sum)[P::kVector]) {
  const auto load = [&](size_t from, float(&out)[P::kVector]) {
    const typename P::Element* d = a.d.data + from * a.d.stride + column;
    if (a.vectors) return P::unpack(load_read_only(reinterpret_cast<const uint4*>(d)), out);
    unrolled<P::kVector>([&](unsigned c) { out[c] = column + c < a.d_in.columns ? P::value(d[c]) : 0.0f; });
  };
  if constexpr (kFrom == From::copy) {
    load(row, sum);
    if (!a.dropping.on) return;
#pragma unroll
    for (unsigned c = 0; c < P::kVector; ++c)
      sum[c] *= dropped(a.dropping, a.rows.ids[b], local, a.d_in.columns, column + c);
  } else if constexpr (kFrom == From::whole) {
    const size_t at = size_t{b} * a.pooled_size + column;
    unrolled<P::kVector>([&](unsigned c) {
      const bool wanted = share != 0 && column + c < a.d_in.columns;
      const bool heard = wanted && (a.reduce != nn::Reduce::max || load_read_only(a.winners + at + c) == local);
      if (heard) sum[c] = share * load_read_only(a.d_pooled + at + c);
    });
  } else {
    const LevelEnds& its = a.ends[a.rows.ids[b]];
    const uint32_t begin = its.up_offsets[local], end = its.up_offsets[local + 1];
#pragma unroll 2
    for (uint32_t e = begin; e < end; ++e) {
      const uint32_t set = its.up_rows[e];
      bool mine[P::kVector];
      unrolled<P::kVector>([&](unsigned c) { mine[c] = true; });
      if (a.reduce == nn::Reduce::max) {  // the first of its nodes that has the maximum
        const uint32_t* nodes = its.nodes + size_t{set} * a.nodes;
        float best[P::kVector] = {};
        for (uint32_t j = 0; j < a.nodes; ++j) {
          float own[P::kVector];
          read_vector<P>(a.values, size_t{a.rows.base[b]} + nodes[j], column, own);
          unrolled<P::kVector>([&](unsigned c) {
            if (j > 0 && !(own[c] > best[c])) return;
            best[c] = own[c];
            mine[c] = nodes[j] == local;
          });
        }
        // A class may be in a set more than once: it is heard of once for each time.
        if (e > begin && its.up_rows[e - 1] == set) continue;
      }
      float d[P::kVector];
      load(size_t{a.out_base[b]} + set, d);
      unrolled<P::kVector>([&](unsigned c) { sum[c] += mine[c] ? d[c] : 0.0f; });
    }
#pragma unroll
    for (unsigned c = 0; c < P::kVector && a.reduce == nn::Reduce::mean; ++c) sum[c] *= 1 / static_cast<float>(a.nodes);
  }
}

/// The gradient of a value before its activation, padding included. A block takes a tile of rows.
template <class P, From kFrom>
__global__ void __launch_bounds__(kThreads, 4) spread_kernel(SpreadArguments<P> a) {
  __shared__ uint32_t graph[kTile], local_of[kTile];
  __shared__ float shares[kTile];
  const Tile tile = tile_of(a.rows, a.tile_rows, blockIdx.x);
  if (kFrom != From::copy || a.dropping.on) {
    find_graphs(a.rows, tile, graph);
    if (threadIdx.x < tile.rows) {
      const uint32_t b = graph[threadIdx.x], local = tile.first + threadIdx.x - a.rows.base[b];
      local_of[threadIdx.x] = local;
      if constexpr (kFrom == From::whole) {
        const bool weighted = a.ends != nullptr && a.reduce != nn::Reduce::max;
        const float* multiplicity = weighted ? a.ends[a.rows.ids[b]].multiplicity : nullptr;
        shares[threadIdx.x] = !is_pooled(a.which, a.node_base, b, local) ? 0.0f
                              : multiplicity == nullptr                  ? 1.0f
                                                                         : multiplicity[local];
      }
    }
    __syncthreads();
  }
  const uint32_t vectors = (a.d_in.columns + 15) / 16 * 16 / P::kVector;
  for (uint32_t q = threadIdx.x; q < tile.rows * vectors; q += kThreads) {
    const uint32_t r = q / vectors, row = tile.first + r, column = q % vectors * P::kVector;
    float sum[P::kVector] = {}, h[P::kVector] = {};
    if (a.d_in.slope.activated) read_vector<P>(a.values, row, column, h);
    spread_vector<P, kFrom>(a, graph[r], row, local_of[r], shares[r], column, sum);
    leave_vector<P>(a.d_in, row, column, sum, h);
  }
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
