#include "graph/graphs.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <limits>
#include <optional>

#include "support/error.hpp"

namespace tyche {

void Records::make_own() {
  if (blocks_ && !source_ && blocks_.use_count() == 1) return;
  auto own = std::make_shared<std::vector<Own>>();
  for (std::size_t b = 0; b < blocks() && !sink_; ++b) {
    const Block from = block(b);
    own->push_back({{from.ends.begin(), from.ends.end()}, {from.words.begin(), from.words.end()}});
  }
  if (sink_ && blocks_) *own = *blocks_;
  blocks_ = std::move(own);
  source_.reset();
}

void Records::push_back(std::span<const Word> words) {
  make_own();
  if (blocks_->empty() || blocks_->back().ends.size() == kPerBlock) {
    blocks_->emplace_back();
    blocks_->back().ends.reserve(kPerBlock);
  }
  Own& last = blocks_->back();
  if (words.size() > std::numeric_limits<Word>::max() - last.words.size()) {
    throw InputError("1024 graphs in a row take more than 16 GB");
  }
  last.words.insert(last.words.end(), words.begin(), words.end());
  last.ends.push_back(static_cast<Word>(last.words.size()));
  ++size_;
  if (last.ends.size() < kPerBlock) return;
  last.words.shrink_to_fit();
  if (sink_) finish();
}

void Records::finish() {
  if (!blocks_ || blocks_->empty()) return;
  sink_(blocks_->back().view());
  blocks_->clear();
}

Held::Held(std::vector<std::uint32_t> records, std::size_t size) : numbers(std::move(records)) {
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  for (std::size_t b = 0, k = 0; b * Records::kPerBlock < size + Records::kPerBlock; ++b) {
    while (k < numbers.size() && numbers[k] < b * Records::kPerBlock) ++k;
    begins.push_back(static_cast<std::uint32_t>(k));
  }
}

bool Held::find(const Records::Source* source, std::size_t i, std::span<const Word>& out) const {
  const auto part = std::ranges::find(parts, source, &Part::source);
  if (part == parts.end()) return false;
  thread_local std::size_t k = 0;  // a graph is asked for several times in a row
  if (k >= numbers.size() || numbers[k] != i) {
    const std::size_t b = i / Records::kPerBlock;
    const auto own = std::span(numbers).subspan(begins[b], begins[b + 1] - begins[b]);
    const auto at = std::ranges::lower_bound(own, i);
    if (at == own.end() || *at != i) return false;
    k = begins[b] + static_cast<std::size_t>(at - own.begin());
  }
  const Word begin = k == 0 ? 0 : part->ends[k - 1];
  out = std::span(part->words).subspan(begin, part->ends[k] - begin);
  return true;
}

namespace {

/// A record: nodes, arcs (two words), bytes of a number of each kind; then degrees and neighbours, types, labels of
/// arcs, one array behind the other, and zeros up to the next word.
struct Head {
  Word nodes;
  Word arcs[2];
  std::uint8_t node_bytes;   ///< of a degree or neighbour
  std::uint8_t type_bytes;   ///< 0: all are 0
  std::uint8_t label_bytes;  ///< likewise
  std::uint8_t zero;

  [[nodiscard]] std::uint64_t all_arcs() const { return std::uint64_t{arcs[1]} << 32 | arcs[0]; }
  /// Of the whole record. Requires numbers of bytes that are at most 4 and arcs below 2^60.
  [[nodiscard]] std::uint64_t words() const {
    const std::uint64_t bytes =
        std::uint64_t{nodes} * (node_bytes + type_bytes) + all_arcs() * (node_bytes + label_bytes);
    return sizeof(Head) / sizeof(Word) + (bytes + 3) / 4;
  }
};
static_assert(sizeof(Head) == 4 * sizeof(Word));

/// From so many arcs on a graph is kept as it is.
constexpr std::uint64_t kLarge = std::uint64_t{1} << 15;

Head head_of(std::span<const Word> words) {
  Head head;
  std::memcpy(&head, words.data(), sizeof(head));
  return head;
}

std::uint8_t bytes_for(std::uint32_t most) { return most == 0 ? 0 : most < (1u << 8) ? 1 : most < (1u << 16) ? 2 : 4; }

template <class T>
std::uint32_t most_of(const T& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

/// body(T{}) with the type of so many bytes.
template <class Body>
void with_type(std::uint8_t bytes, const Body& body) {
  if (bytes == 1) body(std::uint8_t{});
  if (bytes == 2) body(std::uint16_t{});
  if (bytes == 4) body(std::uint32_t{});
}

std::byte* put(std::byte* to, std::uint8_t bytes, std::span<const std::uint32_t> values) {
  with_type(bytes, [&]<class T>(T) {
    for (const std::uint32_t value : values) {
      const auto own = static_cast<T>(value);
      std::memcpy(to, &own, sizeof(T));
      to += sizeof(T);
    }
  });
  return to;
}

const std::byte* get(const std::byte* from, std::uint8_t bytes, std::span<std::uint32_t> to) {
  if (bytes == 0) std::fill(to.begin(), to.end(), 0u);
  with_type(bytes, [&]<class T>(T) {
    for (std::uint32_t& value : to) {
      T own;
      std::memcpy(&own, from, sizeof(T));
      value = own;
      from += sizeof(T);
    }
  });
  return from;
}

/// Requires a record of the size that its head says.
Graph decode(std::span<const Word> words, bool bare) {
  const Head head = head_of(words);
  const Graph::Rows rows(head.nodes, head.all_arcs(), head.label_bytes > 0 && !bare);
  const std::byte* from = std::as_bytes(words).data() + sizeof(Head);
  rows.offsets[0] = 0;
  with_type(head.node_bytes, [&]<class T>(T) {
    for (Node v = 0; v < head.nodes; ++v) {
      T degree;
      std::memcpy(&degree, from, sizeof(T));
      rows.offsets[v + 1] = rows.offsets[v] + degree;
      from += sizeof(T);
    }
  });
  from = get(from, head.node_bytes, {rows.adjacency, rows.arcs});
  from = get(from, head.type_bytes, {rows.types, rows.nodes});
  if (rows.labels != nullptr) get(from, head.label_bytes, {rows.labels, rows.arcs});
  return Graph(rows);
}

/// What a graph made of anybody's bytes breaks of what Graph promises; empty: nothing.
std::string fault_of(const Graph& graph) {
  const auto offsets = graph.offsets();
  if (offsets.back() != graph.adjacency().size()) return "degrees do not sum up to the number of neighbours";
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    const auto row = graph.neighbours(v);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row[i] >= graph.num_nodes())
        return fmt::format("node {} has the neighbour {}, which is not there", v, row[i]);
      if (row[i] == v || (i > 0 && row[i] <= row[i - 1])) {
        return fmt::format("the neighbours of node {} are not ascending, or it is its own", v);
      }
    }
  }
  // Rows ascend, so the arcs back come in the order of the nodes they lead to: one cursor per row.
  std::vector<std::uint64_t> next(offsets.begin(), offsets.end() - 1);
  for (Node u = 0; u < graph.num_nodes(); ++u) {
    for (std::uint64_t arc = offsets[u]; arc < offsets[u + 1]; ++arc) {
      const Node v = graph.adjacency()[arc];
      const std::uint64_t back = next[v]++;
      if (back >= offsets[v + 1] || graph.adjacency()[back] != u || graph.edge_label(arc) != graph.edge_label(back)) {
        return fmt::format("edge {}-{} is not the same in both directions", u, v);
      }
    }
  }
  return "";
}

}  // namespace

void GraphsSummary::add(const Graph& graph, bool first) {
  nodes += graph.num_nodes();
  edges += graph.num_edges();
  least = first ? graph.num_nodes() : std::min(least, graph.num_nodes());
  most = std::max(most, graph.num_nodes());
  labelled = labelled || graph.has_edge_labels();
  const auto note = [](std::set<std::uint32_t>& values, std::span<const std::uint32_t> own) {
    std::optional<std::uint32_t> before;  // most stand beside their like
    for (const std::uint32_t value : own) {
      if (value != before && values.size() < kMostValues) values.insert(value);
      before = value;
    }
  };
  note(types, graph.types());
  note(labels, graph.edge_labels());
  if (!graph.has_edge_labels() && graph.num_edges() > 0) note(labels, std::array{0u});
}

std::vector<Word> Graphs::encode(const Graph& graph) {
  Head head{};
  head.nodes = graph.num_nodes();
  const std::uint64_t arcs = graph.adjacency().size();
  head.arcs[0] = static_cast<Word>(arcs);
  head.arcs[1] = static_cast<Word>(arcs >> 32);
  head.node_bytes = std::max<std::uint8_t>(1, bytes_for(graph.num_nodes() == 0 ? 0 : graph.num_nodes() - 1));
  head.type_bytes = bytes_for(most_of(graph.types()));
  head.label_bytes = bytes_for(most_of(graph.edge_labels()));
  std::vector<Word> words(head.words(), 0);
  std::memcpy(words.data(), &head, sizeof(head));
  std::vector<std::uint32_t> degrees(head.nodes);
  for (Node v = 0; v < head.nodes; ++v) degrees[v] = graph.degree(v);
  std::byte* to = std::as_writable_bytes(std::span(words)).data() + sizeof(Head);
  to = put(to, head.node_bytes, degrees);
  to = put(to, head.node_bytes, graph.adjacency());
  to = put(to, head.type_bytes, graph.types());
  put(to, head.label_bytes, graph.edge_labels());
  return words;
}

std::string Graphs::fault(std::span<const Word> words, const GraphsSummary& summary) {
  if (words.size() < sizeof(Head) / sizeof(Word)) return "has no head";
  const Head head = head_of(words);
  const auto counts = [](std::uint8_t bytes) { return bytes <= 2 || bytes == 4; };
  if (head.node_bytes == 0 || !counts(head.node_bytes) || !counts(head.type_bytes) || !counts(head.label_bytes) ||
      head.zero != 0) {
    return "has numbers of a size that there is none of";
  }
  if (head.nodes == std::numeric_limits<Node>::max() || head.all_arcs() >= std::uint64_t{1} << 40 ||
      head.words() != words.size()) {
    return fmt::format("is {} words long, and its head says otherwise", words.size());
  }
  if (head.nodes < summary.least || head.nodes > summary.most) {
    return fmt::format("has {} nodes, and graphs were said to have {} to {}", head.nodes, summary.least, summary.most);
  }
  const Graph graph = decode(words, false);
  if (std::string why = fault_of(graph); !why.empty()) return why;
  if (graph.has_edge_labels() && !summary.labelled) return "has labels of edges, and none were said to be there";
  const auto unsaid = [](std::span<const std::uint32_t> own, const std::set<std::uint32_t>& said) {
    const bool all = said.size() >= GraphsSummary::kMostValues;
    return all ? own.end() : std::ranges::find_if(own, [&](std::uint32_t value) { return !said.contains(value); });
  };
  if (const auto type = unsaid(graph.types(), summary.types); type != graph.types().end()) {
    return fmt::format("has a node of type {}, which was not said to be there", *type);
  }
  if (const auto label = unsaid(graph.edge_labels(), summary.labels); label != graph.edge_labels().end()) {
    return fmt::format("has an edge of label {}, which was not said to be there", *label);
  }
  return "";
}

Graphs::Graphs(Records records, GraphsSummary summary) : store_(std::make_shared<Store>()), count_(records.size()) {
  store_->records = std::move(records);
  store_->summary = std::move(summary);
}

Graph Graphs::large(std::size_t g) const {
  const std::scoped_lock lock(store_->mutex);
  const auto at = store_->large.find(first_ + of(g));
  if (at != store_->large.end()) return bare_ ? at->second.without_labels() : at->second;
  const Graph graph = decode(record(g), false);
  store_->large.emplace(first_ + of(g), graph);
  return bare_ ? graph.without_labels() : graph;
}

Graph Graphs::operator[](std::size_t g) const {
  const std::span<const Word> words = record(g);
  return words.empty() || head_of(words).all_arcs() >= kLarge ? large(g) : decode(words, bare_);
}

Node Graphs::num_nodes(std::size_t g) const {
  const std::span<const Word> words = record(g);
  return words.empty() ? large(g).num_nodes() : head_of(words).nodes;
}

std::uint64_t Graphs::num_edges(std::size_t g) const {
  const std::span<const Word> words = record(g);
  return words.empty() ? large(g).num_edges() : head_of(words).all_arcs() / 2;
}

void Graphs::push_back(const Graph& graph) {
  const bool whole = store_ && first_ == 0 && count_ == store_->records.size() && !bare_ && of_ == nullptr;
  if (!whole || store_.use_count() > 1) {
    auto own = std::make_shared<Store>();
    if (whole) {
      own->records = store_->records;
      own->summary = store_->summary;
      own->large = store_->large;
    } else {
      for (const Graph& before : *this) {
        own->records.push_back(encode(before));
        own->summary.add(before, own->records.size() == 1);
      }
      first_ = 0;
      bare_ = false;
      of_.reset();
    }
    store_ = std::move(own);
  }
  if (graph.adjacency().size() >= kLarge && !store_->records.sinks()) {
    store_->large.emplace(count_, graph);
    store_->records.push_back({});
  } else {
    store_->records.push_back(encode(graph));
  }
  store_->summary.add(graph, count_ == 0);
  ++count_;
}

Graphs::Ahead::Ahead(const Graphs& graphs, std::span<const std::uint32_t> order, std::size_t step)
    : graphs_(graphs), order_(order), source_(graphs.store_ == nullptr ? nullptr : graphs.store_->records.source()) {
  const std::size_t most = source_ == nullptr ? 0 : source_->window();
  if (most > 0) window_ = std::max<std::size_t>(1, most / step) * step;
}

std::shared_ptr<const Held> Graphs::Ahead::read(std::size_t first) const {
  std::vector<std::uint32_t> records;
  for (const std::uint32_t g : order_.subspan(first, std::min(window_, order_.size() - first))) {
    records.push_back(static_cast<std::uint32_t>(graphs_.first_ + graphs_.of(g)));
  }
  return source_->hold(std::move(records));
}

const Held* Graphs::Ahead::at(std::size_t first) {
  if (window_ == 0 || first < end_) return held_.get();
  held_.reset();
  held_ = next_.valid() ? next_.get() : read(first);
  end_ = first + window_;
  if (end_ < order_.size()) next_ = std::async(std::launch::async, [this, next = end_] { return read(next); });
  return held_.get();
}

std::vector<Graph> Graphs::all() const {
  std::vector<Graph> out;
  out.reserve(count_);
  for (const Graph& graph : *this) out.push_back(graph);
  return out;
}

Graphs Graphs::numbered(std::vector<std::uint32_t> of) const {
  Graphs out = *this;
  for (std::uint32_t& number : of) number = static_cast<std::uint32_t>(this->of(number));
  out.things_ = of_ == nullptr ? count_ : things_;
  out.count_ = of.size();
  out.of_ = std::make_shared<const std::vector<std::uint32_t>>(std::move(of));
  return out;
}

Graphs Graphs::things() const {
  Graphs out = *this;
  if (of_ != nullptr) out.count_ = things_;
  out.of_.reset();
  return out;
}

Graphs Graphs::subspan(std::size_t first, std::size_t count) const {
  if (of_ != nullptr) {
    const auto begin = of_->begin() + static_cast<std::ptrdiff_t>(first);
    return things().numbered({begin, begin + static_cast<std::ptrdiff_t>(count)});
  }
  Graphs part = *this;
  part.first_ += first;
  part.count_ = count;
  return part;
}

Graphs Graphs::without_labels() const {
  Graphs bare = *this;
  bare.bare_ = true;
  return bare;
}

GraphsSummary Graphs::summary() const {
  if (!store_) return {};
  GraphsSummary out;
  if (first_ == 0 && count_ == store_->records.size() && of_ == nullptr) {
    out = store_->summary;
    if (bare_ && out.edges > 0) out.labels = {0};
    if (bare_) out.labelled = false;
    return out;
  }
  for (std::size_t g = 0; g < count_; ++g) out.add((*this)[g], g == 0);
  return out;
}

bool operator==(const Graphs& a, const Graphs& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

}  // namespace tyche
