#pragma once
/// What a row reads, for every link there is, from few numbers: the rows are `first`, `first + stride` and so on, or
/// the named ones of a list that the graph has. Those of pairs follow from the neighbours of nodes and are nowhere
/// stored. And an aggregate over any link, as kernels: (1 + ε) h_v + Σ messages, their mean or maximum, where a message
/// is h_u or σ(h_u + m_uv), m being a value of arcs; and its way back. Rows are gathered both ways, and sums over a
/// batch go to slots: the same bits every time. A block of threads takes a tile of rows and finds what they read once;
/// some threads take a row, 16 bytes each at a time.
#include "engine/cuda/layerwise/rows.cuh"
#include "engine/cuda/runtime/adam.cuh"
#include "nn/program.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

/// What rows follow from: the graphs' nodes, and which of these pairs begin with.
struct Ground {
  const uint32_t* ids;
  const uint32_t* node_base;
  const Link* links;          ///< of nodes
  const LevelEnds* ends;      ///< of nodes
  const uint32_t* root_base;  ///< null: there are no pairs
  const uint32_t* roots;      ///< nodes of the batch's graphs, ascending; null: all are roots
  bool directed;              ///< a row of arcs is one arc; false: an edge

  [[nodiscard]] __device__ __forceinline__ uint32_t nodes(uint32_t b) const { return node_base[b + 1] - node_base[b]; }
  [[nodiscard]] __device__ __forceinline__ uint32_t root_count(uint32_t b) const {
    return root_base[b + 1] - root_base[b];
  }
  [[nodiscard]] __device__ __forceinline__ uint32_t root(uint32_t b, uint32_t i) const {
    return roots == nullptr ? i : roots[root_base[b] + i];
  }
};

/// Where `value` stands in an ascending list; `count`: nowhere.
__device__ __forceinline__ uint32_t place_in(const uint32_t* list, uint32_t count, uint32_t value) {
  uint32_t low = 0, high = count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (load_read_only(list + middle) < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < count && load_read_only(list + low) == value ? low : count;
}
__device__ __forceinline__ uint32_t place_of_root(const Ground& ground, uint32_t b, uint32_t node) {
  if (ground.roots == nullptr) return node;
  return place_in(ground.roots + ground.root_base[b], ground.root_count(b), node);
}

/// How a row of one space finds rows of another: what is read, and before "of" who reads.
enum class Hop : uint32_t {
  none,
  self,
  one,         ///< any of graph
  all,         ///< graph of any
  neighbours,  ///< node of node
  arcs,        ///< arcs of a node
  arc_ends,    ///< nodes of an arc
  edges,       ///< edges of a node
  edge_ends,   ///< nodes of an edge
  edge_pairs,  ///< pairs of an edge
  edge_of_pair,
  second,  ///< pairs of a pair
  first,   ///< pairs of a pair
  root_of_pair,
  node_of_pair,
  pairs_of_root,
  pairs_of_node,
  node_if_alike,  ///< v for (v, v)
  pair_of_node,   ///< (v, v) for v
  diagonal,       ///< pairs of a graph
  rest,           ///< pairs of a graph
  one_if_alike,   ///< graph of a pair
  one_if_unlike,  ///< graph of a pair
  straight,       ///< pair of an arc
  turned,         ///< pair of an arc
  straight_arc,   ///< arc of a pair
  turned_arc      ///< arc of a pair
};

/// The rows that one row reads, of the graph's own numbers.
struct Walk {
  const uint32_t* names;  ///< none: 0, 1, …
  const uint32_t* arcs;   ///< rows of arcs, where messages go along them
  const float* weights;   ///< or none
  uint32_t first, stride, count;
  uint32_t skip;          ///< rows that are a multiple of it are left out; 0: none
  const uint32_t* roots;  ///< names are nodes that are looked for among these, and left out elsewhere
  uint32_t root_count;

  [[nodiscard]] __device__ __forceinline__ static Walk none() {
    return {nullptr, nullptr, nullptr, 0, 1, 0, 0, nullptr, 0};
  }

  /// Row i; kLeftOut: there is none.
  static constexpr uint32_t kLeftOut = ~0u;
  [[nodiscard]] __device__ __forceinline__ uint32_t row(uint32_t i) const { return row_of(name(i)); }
  [[nodiscard]] __device__ __forceinline__ uint32_t name(uint32_t i) const {
    return names == nullptr ? i : load_read_only(names + i);
  }
  [[nodiscard]] __device__ __forceinline__ uint32_t row_of(uint32_t name) const {
    if (roots == nullptr && skip == 0) return first + stride * name;
    if (roots != nullptr) {
      name = place_in(roots, root_count, name);
      if (name == root_count) return kLeftOut;
    }
    const uint32_t at = first + stride * name;
    return skip != 0 && at % skip == 0 ? kLeftOut : at;
  }
  [[nodiscard]] __device__ __forceinline__ float weight(uint32_t i) const {
    return weights == nullptr ? 1.0f : load_read_only(weights + i);
  }
};

/// `base`: of the space that is read. `back`: messages go the other way, along the other arcs.
__device__ __forceinline__ Walk walk_of(Hop hop, const Ground& ground, const uint32_t* base, uint32_t b, uint32_t local,
                                        bool back) {
  Walk walk = Walk::none();
  const auto rows = [&](uint32_t first, uint32_t stride, uint32_t count) {
    walk.first = first;
    walk.stride = stride;
    walk.count = count;
    return walk;
  };
  const auto single = [&](uint32_t row, bool there = true) { return rows(row, 1, there ? 1 : 0); };
  if (hop == Hop::none) return walk;
  if (hop == Hop::self) return single(local);
  if (hop == Hop::one) return single(0);
  if (hop == Hop::all) return rows(0, 1, base[b + 1] - base[b]);
  const uint32_t n = ground.nodes(b), u = n == 0 ? 0 : local / n, v = local - u * n;  // of a pair
  const Link& link = ground.links[ground.ids[b]];
  const LevelEnds& ends = ground.ends[ground.ids[b]];
  const auto adjacent = [&](uint32_t node) {
    const uint32_t begin = load_read_only(link.offsets + node);
    walk.count = load_read_only(link.offsets + node + 1) - begin;
    walk.names = link.columns + begin;
    const uint32_t* arcs = back ? link.back_arcs : link.arcs;
    if (arcs != nullptr) walk.arcs = arcs + begin;
    if (link.weights != nullptr && (hop == Hop::neighbours || hop == Hop::arcs)) walk.weights = link.weights + begin;
    return begin;
  };
  // The entry for `to` in the list of `from`.
  const auto entry = [&](uint32_t from, uint32_t to) {
    const uint32_t begin = adjacent(from), at = place_in(walk.names, walk.count, to);
    const bool there = at < walk.count;
    walk = Walk::none();
    return there ? begin + at : Walk::kLeftOut;
  };
  const auto of_arc = [&](uint32_t from, uint32_t to) {
    const uint32_t root = place_of_root(ground, b, from);
    return single(root * n + to, ground.roots == nullptr || root < ground.root_count(b));
  };
  switch (hop) {
    case Hop::neighbours:
      adjacent(local);
      break;
    case Hop::arcs:
    case Hop::edges: {
      const uint32_t begin = adjacent(local);
      walk.names = (hop == Hop::arcs ? link.arcs : link.edges) + begin;
      break;
    }
    case Hop::arc_ends:
      walk.names = ends.arc_ends + 2 * size_t{local};
      walk.count = ground.directed ? 1 : 2;
      if (link.weights != nullptr) walk.weights = link.weights + local;
      break;
    case Hop::edge_ends:
      walk.names = ends.edge_ends + 2 * size_t{local};
      walk.count = 2;
      break;
    case Hop::edge_pairs: {
      const uint32_t* its = ends.edge_ends + 2 * size_t{local};
      const uint32_t there = its[0] * n + its[1], back_again = its[1] * n + its[0];
      return rows(there, back_again - there, 2);
    }
    case Hop::edge_of_pair: {
      const uint32_t at = entry(u, v);
      if (at != Walk::kLeftOut) single(link.edges[at]);
      break;
    }
    case Hop::second:
      adjacent(v);
      walk.first = u * n;
      break;
    case Hop::first:
      adjacent(ground.root(b, u));
      walk.first = v;
      walk.stride = n;
      if (ground.roots == nullptr) break;
      walk.roots = ground.roots + ground.root_base[b];
      walk.root_count = ground.root_count(b);
      break;
    case Hop::root_of_pair:
      return single(u);
    case Hop::node_of_pair:
      return single(v);
    case Hop::pairs_of_root:
      return rows(local * n, 1, n);
    case Hop::pairs_of_node:
      return rows(local, n, ground.root_count(b));
    case Hop::node_if_alike:
      return single(v, u == v);
    case Hop::pair_of_node:
      return single(local * n + local);
    case Hop::diagonal:
      return rows(0, n + 1, n);
    case Hop::rest:
      walk.count = base[b + 1] - base[b];
      walk.skip = n + 1;
      break;
    case Hop::one_if_alike:
      return single(0, u == v);
    case Hop::one_if_unlike:
      return single(0, u != v);
    case Hop::straight:
      return of_arc(ends.arc_ends[2 * size_t{local}], ends.arc_ends[2 * size_t{local} + 1]);
    case Hop::turned:
      return of_arc(ends.arc_ends[2 * size_t{local} + 1], ends.arc_ends[2 * size_t{local}]);
    case Hop::straight_arc:
    case Hop::turned_arc: {
      const uint32_t root = ground.root(b, u);
      const uint32_t at = hop == Hop::straight_arc ? entry(root, v) : entry(v, root);
      if (at != Walk::kLeftOut) single(link.arcs[at]);
      break;
    }
    default:
      break;
  }
  return walk;
}

/// How many rows it has.
__device__ __forceinline__ uint32_t length(const Walk& walk) {
  if (walk.roots == nullptr) return walk.skip == 0 ? walk.count : walk.count - (walk.count + walk.skip - 1) / walk.skip;
  uint32_t count = 0;
  for (uint32_t i = 0; i < walk.count; ++i) count += walk.row(i) != Walk::kLeftOut ? 1 : 0;
  return count;
}

/// What a sum is multiplied with beside: nothing; the number of nodes; 2, where a row stands for both arcs of an edge;
/// where roots are drawn, what makes a sum over them one over all nodes, or over all but one.
enum class Times : uint32_t { one, nodes, two, of_roots, of_other_roots };

__device__ __forceinline__ float times(Times what, const Ground& ground, uint32_t b) {
  if (what == Times::one) return 1;
  if (what == Times::two) return 2;
  const uint32_t n = ground.nodes(b);
  if (what == Times::nodes) return static_cast<float>(n);
  const uint32_t k = ground.root_count(b), others = what == Times::of_other_roots ? 1 : 0;
  return k == n || k <= others ? 1.0f : static_cast<float>(n - others) / static_cast<float>(k - others);
}

// ---- aggregates

/// sum, mean, max: of rows; pool: a sum of many; relu: the sum of messages of rows and arcs, σ being ReLU; both: or
/// their mean, with any σ. Back through a mean, every row that is read says how many it had, for which registers are
/// kept free.
enum class Gathered { sum, mean, max, relu, both, pool };
inline constexpr bool may_be_mean(Gathered kind) { return kind == Gathered::mean || kind == Gathered::both; }
inline constexpr bool has_messages(Gathered kind) { return kind == Gathered::relu || kind == Gathered::both; }
/// Rows that a walk's head has, and those that are on their way at a time.
inline constexpr unsigned head_of(Gathered kind) { return kind == Gathered::pool ? 2 * kFlight : kFlight; }
inline constexpr unsigned at_once(Gathered kind) { return has_messages(kind) ? kFlight / 2 : head_of(kind); }
inline constexpr bool is_many(Hop hop) {
  return hop == Hop::all || hop == Hop::diagonal || hop == Hop::pairs_of_root || hop == Hop::pairs_of_node;
}

/// How rows are put together.
struct Gathering {
  Hop hop, back;  ///< how a row finds those that it reads, and one of these it
  Times times;
  bool mean;
  nn::Activation activation;  ///< of messages of both
};

template <class P>
struct GatherArguments : Gathering {
  Ground ground;
  BatchRows rows;                      ///< of the output
  uint32_t tile_rows;                  ///< of the rows that a kernel is about
  Rows<const typename P::Element> in;  ///< the rows that are read
  const uint32_t* in_base;
  Rows<const typename P::Element> arcs;  ///< messages of both: m
  const uint32_t* arc_base;
  Rows<const typename P::Element> onto;  ///< null: the sum begins with 0
  const float* eps;                      ///< or null: ε is 0
  uint32_t columns;                      ///< a multiple of 16
  uint32_t* winners;                     ///< max: the row that is read, of the graph's own numbers; like the output

  /// What the sum of a row's messages is multiplied with.
  [[nodiscard]] __device__ __forceinline__ float share(uint32_t b, const Walk& walk) const {
    if (!mean) return TYCHE_CUDA_NS::times(times, ground, b);
    const uint32_t count = length(walk);
    return count == 0 ? 0.0f : 1 / static_cast<float>(count);
  }
};

/// 16 bytes of a row.
template <class P>
__device__ __forceinline__ uint4 load_words(const Rows<const typename P::Element>& from, uint32_t row,
                                            uint32_t column) {
  const uint32_t apart = from.stride * static_cast<uint32_t>(sizeof(typename P::Element));  // one product of 32 bits
  const char* const first = reinterpret_cast<const char*>(from.data + column);
  return load_read_only(reinterpret_cast<const uint4*>(first + size_t{row} * apart));
}
template <class P>
__device__ __forceinline__ void load_vector(const Rows<const typename P::Element>& from, uint32_t row, uint32_t column,
                                            float (&out)[P::kVector]) {
  P::unpack(load_words<P>(from, row, column), out);
}

/// Some rows of a walk, of the batch's numbers, and of the arcs to them.
template <Gathered G>
struct alignas(16) Steps {
  uint32_t row[head_of(G)], along[head_of(G)];  ///< kLeftOut: none
};

/// What a row of a tile reads.
template <Gathered G>
struct RowWalk {
  Steps<G> head;  ///< the first rows, for all columns; as a rule there are no more
  Walk walk;
  uint32_t graph, from, arcs;  ///< the graph, and where its rows begin: of what is read, of arcs
  float share;

  [[nodiscard]] __device__ __forceinline__ Steps<G> steps(uint32_t first) const {
    Steps<G> next{};
    uint32_t name[head_of(G)] = {};
    if (first < walk.count) {  // all loads first: none waits for another
      unrolled<head_of(G)>([&](unsigned i) {
        const uint32_t at = first + i < walk.count ? first + i : first;
        name[i] = walk.name(at);
        next.along[i] = has_messages(G) ? load_read_only(walk.arcs + at) : 0;
      });
    }
    unrolled<head_of(G)>([&](unsigned i) {
      const uint32_t row = first + i < walk.count ? walk.row_of(name[i]) : Walk::kLeftOut;
      next.row[i] = row == Walk::kLeftOut ? row : from + row;
      next.along[i] += arcs;
    });
    return next;
  }
  /// Calls body for all its rows, in order, some at a time: with what calls a function for those there are, with which
  /// it is of them, its row and arc, and which it is of the walk. What is loaded of them is on its way together.
  template <class Body>
  __device__ __forceinline__ void for_steps(const Body& body) const {
    Steps<G> now = head;
    for (uint32_t first = 0;;) {
      unrolled<head_of(G) / at_once(G)>([&](unsigned part) {
        const unsigned begin = part * at_once(G);
        if (part > 0 && first + begin >= walk.count) return;
        body([&](const auto& each) {
          unrolled<at_once(G)>([&](unsigned i) {
            const uint32_t row = now.row[begin + i];
            if (row != Walk::kLeftOut) each(i, row, now.along[begin + i], first + begin + i);
          });
        });
      });
      first += head_of(G);
      if (first >= walk.count) return;
      now = steps(first);
    }
  }
};

/// Those of a tile of rows, by all threads of the block; `back`: of those that were read.
template <class P, Gathered G>
__device__ __forceinline__ void find_walks(const GatherArguments<P>& f, Hop hop, bool back, const BatchRows& of,
                                           const Tile& tile, RowWalk<G>* walks) {
  __shared__ uint32_t graph[kTile];
  const uint32_t tid = threadIdx.x, *base = back ? f.rows.base : f.in_base;
  find_graphs(of, tile, graph);
  if (tid < tile.rows) {
    const uint32_t b = graph[tid], arcs = f.arcs.data == nullptr ? 0 : f.arc_base[b];
    const Walk walk = walk_of(hop, f.ground, base, b, tile.first + tid - of.base[b], back);
    walks[tid] = {{}, walk, b, base[b], arcs, back && f.mean ? 1.0f : f.share(b, walk)};
    walks[tid].head = walks[tid].steps(0);
  }
  __syncthreads();
}

/// What threads of a block take: one or more a row of a tile, and every so many of its columns.
struct Share {
  uint32_t row, first, apart;
};
template <class P>
__device__ __forceinline__ Share share_of(uint32_t tile_rows) {
  const auto ratio = [](uint32_t a, uint32_t b) {  // exact for as few
    return static_cast<uint32_t>(fast_div(static_cast<float>(a) + 0.5f, static_cast<float>(b)));
  };
  const uint32_t lanes = ratio(kThreads, tile_rows), row = ratio(threadIdx.x, lanes);
  return {row, (threadIdx.x - row * lanes) * P::kVector, lanes * P::kVector};
}

/// σ(h + m), of 16 bytes of a row; back: d times its derivative. Halves are added as such: what is made of them is kept
/// as halves too, and it is zero only where they are opposite.
template <class P, Gathered G, bool kBack>
__device__ __forceinline__ void message(nn::Activation activation, const uint4& h, const uint4& m, const uint4& d,
                                        float (&out)[P::kVector]) {
  const auto relu = [](unsigned a, unsigned b, unsigned given) {
    if constexpr (sizeof(typename P::Element) == 2) {
      return kBack ? above_zero2(hadd2(a, b)) & given : hmax2(hadd2(a, b), 0);
    } else {
      const float z = float_of(a) + float_of(b);
      return z > 0 ? kBack ? given : bits_of(z) : 0;
    }
  };
  if constexpr (G == Gathered::relu) {
    P::unpack(make_uint4(relu(h.x, m.x, d.x), relu(h.y, m.y, d.y), relu(h.z, m.z, d.z), relu(h.w, m.w, d.w)), out);
  } else {
    float of_h[P::kVector], of_m[P::kVector];
    P::unpack(h, of_h);
    P::unpack(m, of_m);
    P::unpack(d, out);
    unrolled<P::kVector>([&](unsigned c) {
      const float made = activated<P::kFast>(activation, of_h[c] + of_m[c]);
      out[c] = kBack ? out[c] * derivative(activation, made) : made;
    });
  }
}

template <class P, Gathered G>
__global__ void __launch_bounds__(kThreads, G == Gathered::pool ? 2 : 4)
    gather_kernel(GatherArguments<P> a, Rows<typename P::Element> out) {
  __shared__ RowWalk<G> walks[kTile];
  const Tile tile = tile_of(a.rows, a.tile_rows, blockIdx.x);
  const float factor = a.eps == nullptr ? 1.0f : 1 + *a.eps;
  const Share own = share_of<P>(a.tile_rows);
  find_walks(a, a.hop, false, a.rows, tile, walks);
  if (own.row >= tile.rows) return;
  const RowWalk<G>& my = walks[own.row];
  const uint32_t row = tile.first + own.row;
  for (uint32_t column = own.first; column < a.columns; column += own.apart) {
    uint4 begin = make_uint4(0, 0, 0, 0);
    if (a.onto.data != nullptr) begin = load_words<P>(a.onto, row, column);
    float sum[P::kVector] = {};
    uint32_t winner[P::kVector];
    unrolled<P::kVector>([&](unsigned c) { winner[c] = ~0u; });
    my.for_steps([&](const auto& each) {
      [[maybe_unused]] uint4 words[at_once(G)], along[at_once(G)];
      each([&](unsigned i, uint32_t from, uint32_t arc, uint32_t) {
        words[i] = load_words<P>(a.in, from, column);
        if constexpr (has_messages(G)) along[i] = load_words<P>(a.arcs, arc, column);
      });
      each([&](unsigned i, uint32_t from, uint32_t, uint32_t at) {
        float h[P::kVector];
        if constexpr (has_messages(G)) {
          message<P, G, false>(a.activation, words[i], along[i], words[i], h);
        } else {
          P::unpack(words[i], h);
        }
        const float weight = my.walk.weight(at);
        unrolled<P::kVector>([&](unsigned c) {
          if constexpr (G != Gathered::max) {
            sum[c] += weight * h[c];
          } else if (winner[c] == ~0u || h[c] > sum[c]) {
            sum[c] = h[c];
            winner[c] = from - my.from;
          }
        });
      });
    });
    float first[P::kVector];
    P::unpack(begin, first);
    unrolled<P::kVector>([&](unsigned c) {
      if constexpr (G == Gathered::max) {
        a.winners[size_t{row} * a.columns + column + c] = winner[c];
      } else {
        sum[c] *= my.share;
      }
      sum[c] += factor * first[c];
    });
    *reinterpret_cast<uint4*>(out.data + size_t{row} * out.stride + column) = P::pack(sum);
  }
}

template <class P>
struct GatherBackArguments {
  GatherArguments<P> forward;
  Hop hop;      ///< back
  bool begins;  ///< whether these rows are those the sum begins with, or `onto` is
  BatchRows rows;
  Rows<const typename P::Element> d;  ///< gradient of the output
  /// A value, and where its gradient goes, if it is wanted beside that of ε.
  struct Side {
    Rows<const typename P::Element> values;  ///< null: there is none
    Leaving<P> d_in;
  };
  Side in, onto;  ///< `onto`: of the same rows
  float* slots;   ///< where there is an ε: one per block of threads
  uint32_t slices;
};

/// Where sums are means: what every row `to` that read a row gives of its gradient, beside `shares`.
template <class P, unsigned kCount>
__device__ __forceinline__ void take_shares(const GatherArguments<P>& f, uint32_t b, const uint32_t (&to)[kCount],
                                            float (&shares)[kCount]) {
  if (!f.mean) return;
#pragma unroll 1
  for (uint32_t i = 0; i < kCount; ++i) {  // one walk's code, not four
    uint32_t row = to[0];
#pragma unroll
    for (uint32_t j = 1; j < kCount; ++j) row = i == j ? to[j] : row;
    if (row == Walk::kLeftOut) continue;
    const float share = f.share(b, walk_of(f.hop, f.ground, f.in_base, b, row - f.rows.base[b], false));
    unrolled<kCount>([&](unsigned j) { shares[j] = i == j ? share : shares[j]; });
  }
}

/// To the rows that were read, or with which the sum began.
template <class P, Gathered G>
__global__ void __launch_bounds__(kThreads, may_be_mean(G) || G == Gathered::pool ? 2 : 4)
    gather_back_kernel(GatherBackArguments<P> a) {
  __shared__ RowWalk<G> walks[kTile];
  __shared__ float parts[kThreads / 32];
  const GatherArguments<P>& f = a.forward;
  const float factor = f.eps == nullptr ? 1.0f : 1 + *f.eps;
  const bool apart = a.onto.values.data != nullptr, needed = a.begins && !apart && f.eps != nullptr;
  const Share own = share_of<P>(f.tile_rows);
  float eps = 0;
  for (uint32_t first = blockIdx.x; size_t{first} * f.tile_rows < a.rows.rows; first += a.slices) {
    const Tile tile = tile_of(a.rows, f.tile_rows, first);
    if (a.hop != Hop::none) {
      __syncthreads();
      find_walks(f, a.hop, true, a.rows, tile, walks);
    }
    if (own.row >= tile.rows) continue;
    const RowWalk<G>& my = walks[own.row];
    const uint32_t row = tile.first + own.row;
    for (uint32_t column = own.first; column < f.columns; column += own.apart) {
      uint4 h = make_uint4(0, 0, 0, 0), d = h, begin = h;
      if (has_messages(G) || a.in.d_in.slope.activated || needed) h = load_words<P>(a.in.values, row, column);
      if (a.begins) d = load_words<P>(a.d, row, column);
      if (apart) begin = load_words<P>(a.onto.values, row, column);
      float sum[P::kVector] = {}, given[P::kVector], made[P::kVector];
      if (a.hop != Hop::none) {
        my.for_steps([&](const auto& each) {
          [[maybe_unused]] uint4 words[at_once(G)], along[at_once(G)];
          uint32_t to[at_once(G)];
          float share[at_once(G)];
          unrolled<at_once(G)>([&](unsigned i) {
            to[i] = Walk::kLeftOut;
            share[i] = 1;
          });
          each([&](unsigned i, uint32_t from, uint32_t arc, uint32_t) {
            to[i] = from;
            words[i] = load_words<P>(a.d, from, column);
            if constexpr (has_messages(G)) along[i] = load_words<P>(f.arcs, arc, column);
          });
          if constexpr (may_be_mean(G)) take_shares(f, my.graph, to, share);
          each([&](unsigned i, uint32_t from, uint32_t, uint32_t at) {
            float of[P::kVector];
            if constexpr (has_messages(G)) {
              message<P, G, true>(f.activation, h, along[i], words[i], of);
            } else {
              P::unpack(words[i], of);
            }
            if constexpr (G == Gathered::max) {
              const uint32_t* winners = f.winners + size_t{from} * f.columns + column;
              const uint32_t local = row - a.rows.base[my.graph];
              unrolled<P::kVector>([&](unsigned c) { sum[c] += winners[c] == local ? of[c] : 0.0f; });
            } else {
              const float weight = my.walk.weight(at) * share[i];
              unrolled<P::kVector>([&](unsigned c) { sum[c] += weight * of[c]; });
            }
          });
        });
        unrolled<P::kVector>([&](unsigned c) { sum[c] *= my.share; });
      }
      P::unpack(h, made);
      P::unpack(d, given);
      const auto begin_with = [&] {
        unrolled<P::kVector>([&](unsigned c) {
          eps += given[c] * made[c];
          given[c] *= factor;
        });
      };
      if (!apart) {
        begin_with();
        unrolled<P::kVector>([&](unsigned c) { sum[c] += given[c]; });
      }
      if (a.in.d_in.to.data != nullptr) leave_vector<P>(a.in.d_in, row, column, sum, made);
      if (!apart) continue;
      P::unpack(begin, made);
      begin_with();
      if (a.onto.d_in.to.data != nullptr) leave_vector<P>(a.onto.d_in, row, column, given, made);
    }
  }
  if (!a.begins || f.eps == nullptr) return;
  eps = block_sum(eps, parts);
  if (threadIdx.x == 0) a.slots[blockIdx.x] = eps;
}

template <class P>
struct ArcBackArguments {
  GatherArguments<P> forward;
  BatchRows rows;                     ///< of arcs
  Rows<const typename P::Element> d;  ///< gradient of the output
  Leaving<P> d_in;
};

/// The messages along an arc from `begin` to `end`: who hears of it, and whom they hear.
struct ArcWalk {
  uint32_t out, in, stride, count;
};
__device__ __forceinline__ ArcWalk arc_walk(Hop hop, const Ground& ground, uint32_t b, uint32_t begin, uint32_t end) {
  if (hop == Hop::neighbours) return {begin, end, 1, 1};
  const uint32_t n = ground.nodes(b), k = ground.root_count(b);
  if (hop == Hop::second) return {begin, end, n, k};
  const uint32_t u = place_of_root(ground, b, begin), w = place_of_root(ground, b, end);
  return {u * n, w * n, 1, u < k && w < k ? n : 0};
}

/// Which messages go along a row of arcs.
struct ArcRow {
  ArcWalk sides[2];
  uint32_t graph, out, in;  ///< where the graph's rows begin
  float weight;
};

/// To the arcs that messages of both look at: an edge carries messages each way.
template <class P, Gathered G>
__global__ void __launch_bounds__(kThreads, 2) arc_back_kernel(ArcBackArguments<P> a) {
  constexpr uint32_t kAtOnce = may_be_mean(G) ? kFlight : 2 * kFlight;  // half of them each way
  __shared__ uint32_t graph[kTile];
  __shared__ ArcRow arcs[kTile];
  const GatherArguments<P>& f = a.forward;
  const Tile tile = tile_of(a.rows, f.tile_rows, blockIdx.x);
  const uint32_t tid = threadIdx.x;
  const Share own = share_of<P>(f.tile_rows);
  find_graphs(a.rows, tile, graph);
  if (tid < tile.rows) {
    const uint32_t b = graph[tid], id = f.ground.ids[b], arc = tile.first + tid - a.rows.base[b];
    const uint32_t* ends = f.ground.ends[id].arc_ends + 2 * size_t{arc};
    const uint32_t begin = ends[0], end = f.ground.directed ? ends[0] : ends[1], other = ends[1];
    const float* weights = f.hop == Hop::neighbours ? f.ground.links[id].weights : nullptr;
    const float weight = (weights == nullptr ? 1.0f : weights[arc]) * (f.mean ? 1.0f : times(f.times, f.ground, b));
    arcs[tid] = {{arc_walk(f.hop, f.ground, b, begin, other), arc_walk(f.hop, f.ground, b, end, begin)},
                 b,
                 f.rows.base[b],
                 f.in_base[b],
                 weight};
    if (f.ground.directed) arcs[tid].sides[1].count = 0;
  }
  __syncthreads();
  if (own.row >= tile.rows) return;
  const ArcRow my = arcs[own.row];
  const uint32_t row = tile.first + own.row;
  for (uint32_t column = own.first; column < f.columns; column += own.apart) {
    const uint4 along = load_words<P>(f.arcs, row, column);
    float sum[P::kVector] = {}, m[P::kVector];
    for (uint32_t i = 0; i < my.sides[0].count; i += kAtOnce / 2) {
      uint32_t to[kAtOnce];
      uint4 given[kAtOnce], heard[kAtOnce];
      float shares[kAtOnce];
      unrolled<kAtOnce>([&](unsigned j) {
        const ArcWalk& side = my.sides[j % 2];
        const uint32_t at = i + j / 2;
        to[j] = Walk::kLeftOut;
        shares[j] = 1;
        if (at >= side.count) return;
        to[j] = my.out + side.out + at * side.stride;
        given[j] = load_words<P>(a.d, to[j], column);
        heard[j] = load_words<P>(f.in, my.in + side.in + at * side.stride, column);
      });
      if constexpr (may_be_mean(G)) take_shares(f, my.graph, to, shares);
      unrolled<kAtOnce>([&](unsigned j) {
        if (to[j] == Walk::kLeftOut) return;
        float of[P::kVector];
        message<P, G, true>(f.activation, heard[j], along, given[j], of);
        const float weight = my.weight * shares[j];
        unrolled<P::kVector>([&](unsigned c) { sum[c] += weight * of[c]; });
      });
    }
    P::unpack(along, m);
    leave_vector<P>(a.d_in, row, column, sum, m);
  }
}

// ---- products over pairs

template <class P>
struct ProductArguments {
  BatchRows rows;  ///< pairs of all nodes
  const uint32_t* node_base;
  Rows<const typename P::Element> x, y;
  bool x_down, y_down;  ///< whether the third of a product's nodes is the first of a pair, or its second
  uint32_t columns;     ///< a multiple of 16
  Rows<const typename P::Element> values;  ///< back: what is left is the gradient of these
  Leaving<P> d_in;
};

/// out(i, j) = Σ_k x · y, column by column, where x is (i, k) or, down, (k, j), and y is (k, j) down and (j, k) not; a
/// gradient of the right factor reads both down, and y at (k, i).
template <class P>
__global__ void __launch_bounds__(kThreads) product_kernel(ProductArguments<P> a, Rows<typename P::Element> out) {
  const uint32_t vectors = a.columns / P::kVector;
  const size_t q = size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (q >= size_t{a.rows.rows} * vectors) return;
  const uint32_t row = static_cast<uint32_t>(q / vectors), column = static_cast<uint32_t>(q % vectors) * P::kVector;
  const uint32_t b = graph_of(a.rows.base, a.rows.graphs, row), local = row - a.rows.base[b];
  const uint32_t n = a.node_base[b + 1] - a.node_base[b], i = local / n, j = local % n;
  const size_t base = a.rows.base[b];
  const size_t x = base + (a.x_down ? j : i * n), y = base + (a.x_down ? i : a.y_down ? j : j * n);
  float sum[P::kVector] = {};
#pragma unroll 4
  for (uint32_t k = 0; k < n; ++k) {
    float left[P::kVector], right[P::kVector];
    load_vector<P>(a.x, x + (a.x_down ? size_t{k} * n : k), column, left);
    load_vector<P>(a.y, y + (a.y_down ? size_t{k} * n : k), column, right);
    unrolled<P::kVector>([&](unsigned c) { sum[c] += left[c] * right[c]; });
  }
  if (a.values.data == nullptr) {
    *reinterpret_cast<uint4*>(out.data + size_t{row} * out.stride + column) = P::pack(sum);
    return;
  }
  float h[P::kVector];
  load_vector<P>(a.values, row, column, h);
  leave_vector<P>(a.d_in, row, column, sum, h);
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
