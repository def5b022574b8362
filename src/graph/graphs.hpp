#pragma once
/// Many graphs, each in as few bytes as its numbers need; a Graph is made when it is asked for.
///
///   Graphs graphs;
///   graphs.push_back(path);
///   for (const Graph& graph : graphs) { ... }
///   graphs.num_nodes(0)                          // without making the graph
///
///   Ragged<float> rows;
///   rows.push_back(std::vector<float>{1, 2});
///   rows[0][1]                                   // 2
///
/// A molecule of 23 nodes takes 170 bytes, as a Graph 780. Graphs of many edges are kept as they are, and shared. A
/// copy shares what there is until one of the two grows.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "graph/graph.hpp"

namespace tyche {

using Word = std::uint32_t;

struct Held;

/// Arrays of 4-byte words by number, as many as one likes, each as long as it likes: in memory, in blocks of 1024, or
/// in blocks that lie elsewhere (a mapped file: graph/packed.hpp). What is kept for every graph of a set is kept in
/// these, so that a set in memory and a set on a disk are one thing (`Ragged`: by the type of their numbers). A copy
/// shares what there is until one of the two grows.
class Records {
 public:
  static constexpr std::size_t kPerBlock = 1024;
  /// So many records, each up to its end.
  struct Block {
    std::span<const Word> ends;
    std::span<const Word> words;
    [[nodiscard]] std::span<const Word> operator[](std::size_t i) const {
      const Word begin = i == 0 ? 0 : ends[i - 1];
      return words.subspan(begin, ends[i] - begin);
    }
  };
  /// Where blocks lie that these records do not own. Called from any thread; what it gives is whole and checked.
  class Source {
   public:
    virtual ~Source() = default;
    [[nodiscard]] virtual Block block(std::size_t number) const = 0;
    [[nodiscard]] virtual std::span<const Word> record(std::size_t i) const = 0;
    /// Where records that are asked for in any order are better read so many at a time, ahead; 0: they are at hand.
    [[nodiscard]] virtual std::size_t window() const = 0;
    /// Reads these, and what the same file has of the same graphs.
    [[nodiscard]] virtual std::shared_ptr<const Held> hold(std::vector<std::uint32_t> records) const = 0;
  };
  /// Takes full blocks away as they come, and the last one in finish(): they can be read no more.
  using Sink = std::function<void(const Block&)>;

  Records() = default;
  Records(std::shared_ptr<const Source> source, std::size_t size) : source_(std::move(source)), size_(size) {}
  explicit Records(Sink sink) : sink_(std::move(sink)) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<const Word> operator[](std::size_t i) const {
    if (source_) return source_->record(i);
    return (*blocks_)[i / kPerBlock].view()[i % kPerBlock];
  }
  /// Null: in memory.
  [[nodiscard]] const Source* source() const { return source_.get(); }
  [[nodiscard]] std::size_t blocks() const { return (size_ + kPerBlock - 1) / kPerBlock; }
  [[nodiscard]] Block block(std::size_t b) const { return source_ ? source_->block(b) : (*blocks_)[b].view(); }
  void push_back(std::span<const Word> words);
  /// Hands the last block to the sink.
  void finish();
  [[nodiscard]] bool sinks() const { return sink_ != nullptr; }

 private:
  struct Own {
    std::vector<Word> ends, words;
    [[nodiscard]] Block view() const { return {ends, words}; }
  };
  void make_own();

  std::shared_ptr<const Source> source_;
  std::shared_ptr<std::vector<Own>> blocks_;
  std::size_t size_ = 0;
  Sink sink_;
};

/// Records that were read ahead, of all arrays that a file has for a graph.
struct Held {
  struct Part {
    const Records::Source* source;
    std::vector<Word> ends, words;
  };
  std::vector<std::uint32_t> numbers;  ///< ascending
  std::vector<std::uint32_t> begins;   ///< of each block's among them, and the end
  std::vector<Part> parts;

  Held(std::vector<std::uint32_t> records, std::size_t size);
  /// False: it is not among them.
  bool find(const Records::Source* source, std::size_t i, std::span<const Word>& out) const;
};

/// While it lives, this thread finds records there first. An engine's helpers use what the thread does that they help.
class Using {
 public:
  explicit Using(const Held* held) : before_(std::exchange(now_, held)) {}
  ~Using() { now_ = before_; }
  Using(const Using&) = delete;
  Using& operator=(const Using&) = delete;
  [[nodiscard]] static const Held* now() { return now_; }

 private:
  const Held* before_;
  inline static thread_local const Held* now_ = nullptr;
};

/// The number that an iterator of any of these stands at; what it gives is made by its owner's operator[].
template <class Owner>
class Counting {
 public:
  using value_type = std::decay_t<decltype(std::declval<const Owner&>()[0])>;
  using difference_type = std::ptrdiff_t;
  using reference = value_type;
  using pointer = void;
  using iterator_category = std::input_iterator_tag;
  Counting() = default;
  Counting(const Owner* owner, std::size_t at) : owner_(owner), at_(at) {}
  [[nodiscard]] value_type operator*() const { return (*owner_)[at_]; }
  Counting& operator++() {
    ++at_;
    return *this;
  }
  Counting operator++(int) {
    const Counting before = *this;
    ++at_;
    return before;
  }
  friend difference_type operator-(const Counting& a, const Counting& b) {
    return static_cast<difference_type>(a.at_) - static_cast<difference_type>(b.at_);
  }
  friend bool operator==(const Counting& a, const Counting& b) { return a.at_ == b.at_; }

 private:
  const Owner* owner_ = nullptr;
  std::size_t at_ = 0;
};

/// Arrays of numbers of 4 bytes.
template <class T>
class Ragged {
 public:
  static_assert(sizeof(T) == sizeof(Word) && std::is_trivially_copyable_v<T>);
  Ragged() = default;
  Ragged(const std::vector<std::vector<T>>& arrays) {
    for (const std::vector<T>& array : arrays) push_back(array);
  }
  Ragged(std::initializer_list<std::vector<T>> arrays) : Ragged(std::vector<std::vector<T>>(arrays)) {}
  explicit Ragged(Records records) : records_(std::move(records)) {}

  [[nodiscard]] std::size_t size() const { return records_.size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] std::span<const T> operator[](std::size_t i) const {
    const std::span<const Word> words = records_[i];
    return {reinterpret_cast<const T*>(words.data()), words.size()};
  }
  [[nodiscard]] std::span<const T> front() const { return (*this)[0]; }
  [[nodiscard]] std::span<const T> back() const { return (*this)[size() - 1]; }
  void push_back(std::span<const T> array) {
    records_.push_back({reinterpret_cast<const Word*>(array.data()), array.size()});
  }
  void clear() { records_ = Records(); }
  [[nodiscard]] Counting<Ragged> begin() const { return {this, 0}; }
  [[nodiscard]] Counting<Ragged> end() const { return {this, size()}; }
  [[nodiscard]] std::vector<std::vector<T>> all() const {
    std::vector<std::vector<T>> out;
    for (const std::span<const T> array : *this) out.emplace_back(array.begin(), array.end());
    return out;
  }
  [[nodiscard]] const Records& records() const { return records_; }
  [[nodiscard]] Records& records() { return records_; }
  friend bool operator==(const Ragged& a, const Ragged& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!std::ranges::equal(a[i], b[i])) return false;
    }
    return true;
  }

 private:
  Records records_;
};

/// What is known of all graphs together.
struct GraphsSummary {
  /// Values are told apart up to so many.
  static constexpr std::size_t kMostValues = 4097;
  std::uint64_t nodes = 0, edges = 0;
  Node least = 0, most = 0;  ///< nodes of a graph
  bool labelled = false;     ///< some edge has a label other than 0
  std::set<NodeType> types;
  std::set<EdgeLabel> labels;  ///< of edges; a graph without labels has 0 on its edges
  void add(const Graph& graph, bool first);
};

class Graphs {
 public:
  Graphs() = default;
  Graphs(std::span<const Graph> graphs) {
    for (const Graph& graph : graphs) push_back(graph);
  }
  Graphs(const std::vector<Graph>& graphs) : Graphs(std::span(graphs)) {}
  Graphs(std::initializer_list<Graph> graphs) : Graphs(std::span(graphs.begin(), graphs.size())) {}
  /// Records as encode() makes them, that were checked against the summary.
  Graphs(Records records, GraphsSummary summary);

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] Graph operator[](std::size_t g) const;
  [[nodiscard]] Graph front() const { return (*this)[0]; }
  [[nodiscard]] Graph back() const { return (*this)[count_ - 1]; }
  [[nodiscard]] Node num_nodes(std::size_t g) const;
  [[nodiscard]] std::uint64_t num_edges(std::size_t g) const;
  void push_back(const Graph& graph);
  void clear() { *this = Graphs(); }
  [[nodiscard]] Counting<Graphs> begin() const { return {this, 0}; }
  [[nodiscard]] Counting<Graphs> end() const { return {this, count_}; }
  [[nodiscard]] std::vector<Graph> all() const;
  /// Graphs that will be asked for in this order, `step` at a time. Of a large packed set they are read some hundred
  /// thousand at a time, in the order of the file, and the next while those are used.
  ///
  ///   Graphs::Ahead ahead(graphs, order, 256);
  ///   for (std::size_t first = 0; first < order.size(); first += 256) {
  ///     const Using here(ahead.at(first));
  class Ahead {
   public:
    /// Both must outlive it.
    Ahead(const Graphs& graphs, std::span<const std::uint32_t> order, std::size_t step);
    /// Null where all are at hand anyway.
    [[nodiscard]] const Held* at(std::size_t first);

   private:
    [[nodiscard]] std::shared_ptr<const Held> read(std::size_t first) const;
    const Graphs& graphs_;
    std::span<const std::uint32_t> order_;
    const Records::Source* source_;
    std::size_t window_ = 0, end_ = 0;
    std::shared_ptr<const Held> held_;
    std::future<std::shared_ptr<const Held>> next_;
  };

  /// Graphs may have several numbers: number i is that of graph of[i] here. What is drawn for a graph is keyed by its
  /// number, so one that is drawn 32 times stands once.
  [[nodiscard]] Graphs numbered(std::vector<std::uint32_t> of) const;
  /// Each of them once, and which of them has a number.
  [[nodiscard]] Graphs things() const;
  [[nodiscard]] std::size_t of(std::size_t number) const { return of_ == nullptr ? number : (*of_)[number]; }

  [[nodiscard]] Graphs subspan(std::size_t first, std::size_t count) const;
  [[nodiscard]] Graphs first(std::size_t count) const { return subspan(0, count); }
  /// The same graphs, every label of an edge 0.
  [[nodiscard]] Graphs without_labels() const;
  [[nodiscard]] GraphsSummary summary() const;
  friend bool operator==(const Graphs& a, const Graphs& b);

  /// Hands what is left to the sink of the records that it was made with.
  void finish() { store_->records.finish(); }
  /// Words, and why they are none of a graph that fits the summary (empty: they are).
  [[nodiscard]] static std::vector<Word> encode(const Graph& graph);
  [[nodiscard]] static std::string fault(std::span<const Word> words, const GraphsSummary& summary);

 private:
  struct Store {
    Records records;  ///< none of a large graph that is in `large`
    GraphsSummary summary;
    std::mutex mutex;
    std::map<std::size_t, Graph> large;
  };
  [[nodiscard]] std::span<const Word> record(std::size_t g) const { return store_->records[first_ + of(g)]; }
  [[nodiscard]] Graph large(std::size_t g) const;

  std::shared_ptr<Store> store_;
  std::size_t first_ = 0, count_ = 0;
  std::shared_ptr<const std::vector<std::uint32_t>> of_;  ///< none: number i is that of graph i
  std::size_t things_ = 0;                                ///< where there are numbers: how many graphs have them
  bool bare_ = false;
};

}  // namespace tyche
