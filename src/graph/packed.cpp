#include "graph/packed.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "graph/jsonl.hpp"
#include "graph/sets.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/progress.hpp"
#include "support/seal.hpp"

namespace tyche {

namespace {

constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kOrder = 0x01020304;  // of bytes

/// At the end of a file: where the directory is. The file begins with the magic, the version and the order.
struct Tail {
  std::uint64_t directory;  ///< of its first byte
  std::uint64_t bytes;
  std::uint64_t check;
  std::uint64_t file;  ///< bytes of all
};

/// A block of 1024 records (the last one of fewer): their ends, then their words. Without words, none is written.
struct Entry {
  std::uint64_t offset;
  std::uint64_t words;
  std::uint64_t ends_check;
  std::uint64_t words_check;
};

constexpr std::array<const char*, 6> kParts = {"graphs",      "attributes",   "edge_attributes",
                                               "node_labels", "node_targets", "edge_targets"};

template <class T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

class PackedWriter {
 public:
  explicit PackedWriter(const std::filesystem::path& path) : file_(path) {
    file_.write(kPackedMagic);
    const std::uint32_t marks[] = {kVersion, kOrder};
    file_.write(bytes_of(std::span<const std::uint32_t>(marks)));
  }

  /// Records whose blocks go to the file.
  [[nodiscard]] Records records(std::size_t part) {
    return Records([this, part](const Records::Block& block) {
      Entry entry{0, block.words.size(), checksum(bytes_of(block.ends)), checksum(bytes_of(block.words))};
      if (entry.words > 0) {
        entry.offset = begin();
        file_.write(bytes_of(block.ends));
        file_.write(bytes_of(block.words));
      }
      tables_[part].push_back(entry);
    });
  }
  template <class T>
  void keep(std::size_t part, const Ragged<T>& arrays) {
    Records out = records(part);
    for (std::size_t g = 0; g < arrays.size(); ++g) out.push_back(arrays.records()[g]);
    out.finish();
  }

  /// `set`: all that is not in the blocks of graphs and attributes, which are written.
  void finish(const GraphSet& set, std::uint64_t hash) {
    keep(3, set.node_labels);
    keep(4, set.node_targets);
    keep(5, set.edge_targets);
    const GraphsSummary all = set.graphs.summary();
    nlohmann::ordered_json json = {{"graphs", set.graphs.size()},
                                   {"hash", hash},
                                   {"nodes", all.nodes},
                                   {"edges", all.edges},
                                   {"least", all.least},
                                   {"most", all.most},
                                   {"labelled", all.labelled},
                                   {"types", all.types},
                                   {"edge_labels", all.labels},
                                   {"attribute_dim", set.attribute_dim},
                                   {"edge_attribute_dim", set.edge_attribute_dim},
                                   {"categories", set.categories},
                                   {"edge_categories", set.edge_categories},
                                   {"target_dim", set.target_dim},
                                   {"node_target_dim", set.node_target_dim},
                                   {"edge_target_dim", set.edge_target_dim},
                                   {"weighted", set.weighted},
                                   {"labels", column(std::span(set.labels))},
                                   {"targets", column(std::span(set.targets))}};
    json["node_parts"] = nlohmann::ordered_json::array();
    for (const auto& parts : set.node_parts) json["node_parts"].push_back(column(std::span(parts)));
    const bool there[] = {true,
                          !set.attributes.empty(),
                          !set.edge_attributes.empty(),
                          !set.node_labels.empty(),
                          !set.node_targets.empty(),
                          !set.edge_targets.empty()};
    for (std::size_t p = 0; p < kParts.size(); ++p) {
      if (there[p]) json["parts"][kParts[p]] = column(std::span<const Entry>(tables_[p]));
    }
    const std::string directory = json.dump();
    Tail tail{begin(), directory.size(), checksum(directory), 0};
    file_.write(directory);
    tail.file = begin() + sizeof(Tail);
    file_.write(bytes_of(std::span<const Tail>(&tail, 1)));
    file_.commit();
  }

 private:
  /// Where the next bytes begin: at a multiple of eight.
  std::uint64_t begin() {
    file_.write(std::string_view("\0\0\0\0\0\0\0", (8 - file_.written() % 8) % 8));
    return file_.written();
  }
  template <class T>
  nlohmann::ordered_json column(std::span<T> values) {
    const std::string_view bytes = bytes_of(std::span<const T>(values));
    const std::uint64_t at = begin();
    file_.write(bytes);
    return {at, bytes.size(), checksum(bytes)};
  }

  AtomicFile file_;
  std::array<std::vector<Entry>, kParts.size()> tables_;
};

class PackedPart;

/// The bytes of a file: mapped, or (of bytes that somebody has in memory) copied.
class PackedBytes {
 public:
  PackedBytes(const std::filesystem::path& path, std::size_t most)
      : name_(path.string()), file_{::open(path.c_str(), O_RDONLY | O_CLOEXEC)}, most_(most) {
    if (file_.number < 0) throw IoError::from_errno(name_, "open for reading", errno);
    struct stat status {};
    const bool known = ::fstat(file_.number, &status) == 0;
    if (known && status.st_size == 0) throw InputError::at(name_, "", "the file is empty");
    void* const mapped =
        known ? ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_SHARED, file_.number, 0)
              : MAP_FAILED;
    if (mapped == MAP_FAILED) throw IoError::from_errno(name_, "map", errno);
    mapped_ = mapped;
    bytes_ = {static_cast<const char*>(mapped), static_cast<std::size_t>(status.st_size)};
  }
  PackedBytes(std::string_view bytes, std::string_view name) : name_(name), copy_((bytes.size() + 7) / 8) {
    if (!bytes.empty()) std::memcpy(copy_.data(), bytes.data(), bytes.size());
    bytes_ = {reinterpret_cast<const char*>(copy_.data()), bytes.size()};
  }
  ~PackedBytes() {
    if (mapped_ != nullptr) ::munmap(mapped_, bytes_.size());
  }
  PackedBytes(const PackedBytes&) = delete;
  PackedBytes& operator=(const PackedBytes&) = delete;

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const char* at(std::uint64_t offset) const { return bytes_.data() + offset; }
  template <class... T>
  [[noreturn]] void fail(const std::string& place, fmt::format_string<T...> what, T&&... values) const {
    throw InputError::at(name_, place, fmt::format(what, std::forward<T>(values)...));
  }
  /// Bytes that must be there, at a multiple of eight, with this checksum.
  [[nodiscard]] std::string_view checked(std::uint64_t offset, std::uint64_t bytes, std::uint64_t check,
                                         const std::string& what) const {
    if (offset % 8 != 0 || offset > size() || bytes > size() - offset) {
      fail(fmt::format("byte {}", offset), "{} are said to be there, and the file has {} bytes", what, size());
    }
    const std::string_view out(at(offset), bytes);
    if (checksum(out) != check)
      fail(fmt::format("byte {}", offset), "{} are damaged: their checksum does not fit", what);
    return out;
  }

  /// Pages that were looked at go back to the system once they are many; it keeps them as long as it has room. So a
  /// process that has seen all of a large file is not as large as the file. `bytes`: of what is looked at, or 0 for a
  /// graph, around which the system maps sixteen pages.
  void looked(std::size_t bytes = 0) const {
    constexpr std::size_t kAround = std::size_t{1} << 16;
    if (!large()) return;
    const std::size_t own = std::max(bytes, kAround);
    if (looked_.fetch_add(own, std::memory_order_relaxed) + own < most_) return;
    looked_.store(0, std::memory_order_relaxed);
    ::madvise(mapped_, bytes_.size(), MADV_DONTNEED);
  }
  [[nodiscard]] std::size_t most() const { return most_; }
  /// Whether pages go back.
  [[nodiscard]] bool large() const { return mapped_ != nullptr && bytes_.size() > most_; }
  /// Without a map: who looks here and there in a large file has a fault a look, each of which maps sixteen pages.
  void read(std::uint64_t offset, std::span<Word> to) const {
    for (auto left = std::as_writable_bytes(to); !left.empty();) {
      const ssize_t came = ::pread(file_.number, left.data(), left.size(), static_cast<off_t>(offset));
      if (came < 0 && errno == EINTR) continue;
      if (came < 0) throw IoError::from_errno(name_, "read", errno);
      if (came == 0) fail(fmt::format("byte {}", offset), "was cut short while it was read");
      left = left.subspan(static_cast<std::size_t>(came));
      offset += static_cast<std::uint64_t>(came);
    }
  }
  /// Those that have words here; to be called before any is asked for anything.
  void has(const std::shared_ptr<const PackedPart>& part) { parts_.push_back(part); }
  [[nodiscard]] std::vector<std::shared_ptr<const PackedPart>> parts() const {
    std::vector<std::shared_ptr<const PackedPart>> out;
    for (const auto& part : parts_) {
      if (auto own = part.lock()) out.push_back(std::move(own));
    }
    return out;
  }

 private:
  struct Descriptor {
    int number = -1;
    ~Descriptor() {
      if (number >= 0) ::close(number);
    }
  };
  std::string name_;
  Descriptor file_;
  std::size_t most_ = 0;
  void* mapped_ = nullptr;
  std::vector<std::uint64_t> copy_;
  std::string_view bytes_;
  std::vector<std::weak_ptr<const PackedPart>> parts_;
  mutable std::atomic<std::size_t> looked_{0};  ///< bytes, since pages went back
};

/// What is wrong with record i of a part; empty: nothing.
using Fault = std::function<std::string(std::size_t i, std::span<const Word> record)>;

class PackedPart final : public Records::Source {
 public:
  PackedPart(std::shared_ptr<const PackedBytes> file, std::string name, std::vector<Entry> table, std::size_t size,
             Fault fault)
      : file_(std::move(file)),
        name_(std::move(name)),
        table_(std::move(table)),
        size_(size),
        fault_(std::move(fault)),
        ends_(table_.size()) {
    if (table_.size() != (size + Records::kPerBlock - 1) / Records::kPerBlock) {
      file_->fail("", "{} blocks of {} for {} graphs", table_.size(), name_, size);
    }
    for (std::size_t b = 0; b < table_.size(); ++b) {
      const Entry& entry = table_[b];
      const std::uint64_t room = file_->size() / sizeof(Word);
      if (entry.offset % 8 != 0 || entry.words > room || entry.offset / sizeof(Word) > room ||
          entry.offset / sizeof(Word) + count(b) + entry.words > room) {
        file_->fail(place(b), "{} words of {} are said to be at byte {}, and the file has {} bytes", entry.words, name_,
                    entry.offset, file_->size());
      }
    }
  }

  ~PackedPart() override {
    for (const auto& ends : ends_) delete[] ends.load();
  }
  PackedPart(const PackedPart&) = delete;
  PackedPart& operator=(const PackedPart&) = delete;

  [[nodiscard]] Records::Block block(std::size_t b) const override {
    file_->looked();
    return {ends(b), words(b)};
  }
  [[nodiscard]] std::span<const Word> record(std::size_t i) const override {
    std::span<const Word> held;
    if (Using::now() != nullptr && Using::now()->find(this, i, held)) return held;
    return block(i / Records::kPerBlock)[i % Records::kPerBlock];
  }
  [[nodiscard]] std::size_t window() const override {
    return file_->large() ? std::max<std::size_t>(1, file_->most() / 6 / (file_->size() / size_ + 1)) : 0;
  }
  [[nodiscard]] std::shared_ptr<const Held> hold(std::vector<std::uint32_t> records) const override {
    const auto held = std::make_shared<Held>(std::move(records), size_);
    for (const auto& part : file_->parts()) held->parts.push_back(part->read(held->numbers));
    return held;
  }

 private:
  /// The records of these ascending numbers. What lies between two of them is read with them where it is short.
  [[nodiscard]] Held::Part read(std::span<const std::uint32_t> numbers) const {
    constexpr std::size_t kGap = std::size_t{1} << 12, kMost = std::size_t{1} << 16;  // words
    Held::Part out{this, {}, {}};
    std::uint64_t all = 0;
    for (const std::uint32_t i : numbers) {
      all += place_of(i).size();
      if (all > std::numeric_limits<Word>::max()) file_->fail("", "some graphs that are read together take over 16 GB");
      out.ends.push_back(static_cast<Word>(all));
    }
    out.words.resize(all);
    std::vector<Word> between;
    auto to = out.words.begin();
    for (std::size_t k = 0, next = 0; k < numbers.size(); k = next) {
      const std::uint64_t begin = place_of(numbers[k]).begin;
      std::uint64_t end = begin;
      for (; next < numbers.size(); ++next) {
        const Place own = place_of(numbers[next]);
        if (next > k && (own.begin < end || own.begin - end > kGap || own.end - begin > kMost)) break;
        end = own.end;
      }
      between.resize(end - begin);
      file_->read(begin * sizeof(Word), between);
      for (std::size_t i = k; i < next; ++i) {
        const Place own = place_of(numbers[i]);
        to = std::copy_n(between.begin() + static_cast<std::ptrdiff_t>(own.begin - begin), own.size(), to);
      }
    }
    return out;
  }
  /// Which words of the file a record is.
  struct Place {
    std::uint64_t begin, end;
    [[nodiscard]] std::uint64_t size() const { return end - begin; }
  };
  [[nodiscard]] Place place_of(std::size_t i) const {
    const std::size_t b = i / Records::kPerBlock, own = i % Records::kPerBlock;
    const std::span<const Word> ends = this->ends(b);
    const std::uint64_t first = table_[b].offset / sizeof(Word) + (table_[b].words == 0 ? 0 : count(b));
    return {first + (own == 0 ? 0 : ends[own - 1]), first + ends[own]};
  }
  /// Of a block that is sound.
  [[nodiscard]] std::span<const Word> ends(std::size_t b) const {
    const Word* own = ends_[b].load(std::memory_order_acquire);
    return {own == nullptr ? checked(b) : own, count(b)};
  }
  [[nodiscard]] std::size_t count(std::size_t b) const {
    return std::min(Records::kPerBlock, size_ - b * Records::kPerBlock);
  }
  [[nodiscard]] std::span<const Word> words(std::size_t b) const {
    if (table_[b].words == 0) return {};
    return {reinterpret_cast<const Word*>(file_->at(table_[b].offset)) + count(b), table_[b].words};
  }
  [[nodiscard]] std::string place(std::size_t b) const {
    return fmt::format("graphs {} to {}", b * Records::kPerBlock, b * Records::kPerBlock + count(b) - 1);
  }
  /// The ends of a block that is looked through and sound.
  const Word* checked(std::size_t b) const {
    auto copy = std::make_unique<Word[]>(count(b));  // zeros, as all ends are where there are no words
    const Records::Block own{{copy.get(), count(b)}, words(b)};
    if (!own.words.empty()) {
      std::memcpy(copy.get(), file_->at(table_[b].offset), count(b) * sizeof(Word));
      file_->looked(own.words.size_bytes());
      if (checksum(bytes_of(own.ends)) != table_[b].ends_check ||
          checksum(bytes_of(own.words)) != table_[b].words_check) {
        file_->fail(place(b), "their {} (from byte {} on) are damaged: a checksum does not fit", name_,
                    table_[b].offset);
      }
    }
    for (std::size_t i = 0; i < own.ends.size(); ++i) {
      if (own.ends[i] < (i == 0 ? 0 : own.ends[i - 1]) || own.ends[i] > own.words.size() ||
          (i + 1 == own.ends.size() && own.ends[i] != own.words.size())) {
        file_->fail(place(b), "the {} of graph {} end nowhere", name_, b * Records::kPerBlock + i);
      }
      const std::size_t g = b * Records::kPerBlock + i;
      if (const std::string why = fault_(g, own[i]); !why.empty()) file_->fail(fmt::format("graph {}", g), "{}", why);
    }
    const Word* kept = nullptr;  // or another thread was first
    if (!ends_[b].compare_exchange_strong(kept, copy.get(), std::memory_order_acq_rel)) return kept;
    return copy.release();
  }

  std::shared_ptr<const PackedBytes> file_;
  std::string name_;
  std::vector<Entry> table_;
  std::size_t size_;
  Fault fault_;
  /// Of every block that is sound; in memory of their own, since every look at a graph is one at these.
  mutable std::vector<std::atomic<const Word*>> ends_;
};

/// A directory, whose every member is asked for with what it has to be.
class Directory {
 public:
  explicit Directory(std::shared_ptr<const PackedBytes> file) : file_(std::move(file)) {
    constexpr std::size_t kHead = 16;
    std::uint32_t marks[2];
    Tail tail;
    if (file_->size() < kHead + sizeof(tail) || std::string_view(file_->at(0), 8) != kPackedMagic) {
      file_->fail("byte 0", "is no packed data set, or was cut short");
    }
    std::memcpy(marks, file_->at(8), sizeof(marks));
    if (marks[1] != kOrder) file_->fail("byte 12", "was packed on a machine with another order of bytes");
    if (marks[0] != kVersion) {
      file_->fail("byte 8", "is of version {} of packed data sets; this program reads {}", marks[0], kVersion);
    }
    std::memcpy(&tail, file_->at(file_->size() - sizeof(tail)), sizeof(tail));
    if (tail.file != file_->size()) file_->fail("", "was cut short, or bytes were added: its end is no end");
    const std::string_view text = file_->checked(tail.directory, tail.bytes, tail.check, "the words of the directory");
    json_ = nlohmann::json::parse(text, nullptr, false);
    if (!json_.is_object()) file_->fail(fmt::format("byte {}", tail.directory), "the directory is not a JSON object");
  }

  using Is = bool (nlohmann::json::*)() const noexcept;
  /// What stands under a key, which must be of a kind.
  [[nodiscard]] const nlohmann::json& member(const nlohmann::json& of, const char* key, Is kind,
                                             std::string_view what) const {
    const auto at = of.find(key);
    if (at == of.end() || !((*at).*kind)()) file_->fail("directory", "expected {} under '{}'", what, key);
    return *at;
  }
  [[nodiscard]] std::uint64_t number(const char* key, std::uint64_t most = ~std::uint64_t{0}) const {
    return whole(json_.value(key, nlohmann::json()), key, most);
  }
  [[nodiscard]] bool truth(const char* key) const {
    return member(json_, key, &nlohmann::json::is_boolean, "true or false").get<bool>();
  }
  [[nodiscard]] const nlohmann::json& list(const nlohmann::json& of, const char* key) const {
    return member(of, key, &nlohmann::json::is_array, "a list");
  }
  [[nodiscard]] std::set<std::uint32_t> values(const char* key) const {
    std::set<std::uint32_t> out;
    for (const nlohmann::json& one : list(json_, key)) {
      out.insert(static_cast<std::uint32_t>(whole(one, key, 0xffffffffu)));
    }
    return out;
  }
  template <class T>
  [[nodiscard]] std::vector<T> column(const nlohmann::json& triple, const std::string& key) const {
    const auto number = [](const nlohmann::json& one) { return one.is_number_unsigned(); };
    if (!triple.is_array() || triple.size() != 3 || !std::all_of(triple.begin(), triple.end(), number)) {
      file_->fail("directory", "expected place, size and checksum under '{}'", key);
    }
    const std::string_view bytes =
        file_->checked(triple[0], triple[1], triple[2], fmt::format("the {} of all graphs", key));
    if (bytes.size() % sizeof(T) != 0) file_->fail("directory", "half a number under '{}'", key);
    std::vector<T> out(bytes.size() / sizeof(T));
    if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
  }
  [[nodiscard]] const nlohmann::json& json() const { return json_; }

 private:
  [[nodiscard]] std::uint64_t whole(const nlohmann::json& value, const char* key, std::uint64_t most) const {
    if (value.is_number_unsigned() && value.get<std::uint64_t>() <= most) return value.get<std::uint64_t>();
    file_->fail("directory", "expected a whole number up to {} under '{}'", most, key);
  }

  std::shared_ptr<const PackedBytes> file_;
  nlohmann::json json_;
};

GraphSet open_bytes(const std::shared_ptr<PackedBytes>& file) {
  constexpr std::uint64_t kMostColumns = std::uint64_t{1} << 24, kMost32 = 0xfffffffeu;
  const Directory directory(file);
  const nlohmann::json& parts = directory.member(directory.json(), "parts", &nlohmann::json::is_object, "an object");
  const std::size_t graphs = directory.number("graphs", kMost32);
  if (graphs == 0) file->fail("directory", "holds no graphs");
  const auto part = [&](std::size_t p, const Fault& fault) {
    const auto own = std::make_shared<const PackedPart>(
        file, kParts[p], directory.column<Entry>(directory.list(parts, kParts[p]), kParts[p]), graphs, fault);
    file->has(own);
    return Records(own, graphs);
  };
  GraphsSummary summary;
  summary.nodes = directory.number("nodes", std::uint64_t{1} << 48);
  summary.edges = directory.number("edges", std::uint64_t{1} << 48);
  summary.least = static_cast<Node>(directory.number("least", kMost32));
  summary.most = static_cast<Node>(directory.number("most", kMost32));
  summary.labelled = directory.truth("labelled");
  summary.types = directory.values("types");
  summary.labels = directory.values("edge_labels");
  GraphSet set;
  set.graphs =
      Graphs(part(0, [summary](std::size_t, std::span<const Word> record) { return Graphs::fault(record, summary); }),
             summary);
  set.attribute_dim = directory.number("attribute_dim", kMostColumns);
  set.edge_attribute_dim = directory.number("edge_attribute_dim", kMostColumns);
  set.categories = directory.number("categories", set.attribute_dim);
  set.edge_categories = directory.number("edge_categories", set.edge_attribute_dim);
  set.target_dim = directory.number("target_dim", kMostColumns);
  set.node_target_dim = directory.number("node_target_dim", kMostColumns);
  set.edge_target_dim = directory.number("edge_target_dim", kMostColumns);
  set.weighted = directory.truth("weighted");
  /// Rows of every node or edge, the first columns categories.
  const auto rows = [&](std::size_t p, bool nodes, std::size_t dim, std::size_t categories) {
    if (dim == 0) return Records();
    return part(p, [graphs = set.graphs, nodes, dim, categories](std::size_t g, std::span<const Word> record) {
      const std::uint64_t wanted = (nodes ? graphs.num_nodes(g) : graphs.num_edges(g)) * dim;
      if (record.size() != wanted) return fmt::format("has {} numbers where {} belong", record.size(), wanted);
      for (std::size_t i = 0; categories > 0 && i < record.size(); ++i) {
        const auto value = std::bit_cast<float>(record[i]);
        if (i % dim >= categories || (value >= 0 && value <= static_cast<float>(kMostCategory))) continue;
        return fmt::format("has a category {}", value);
      }
      return std::string();
    });
  };
  set.attributes = Ragged<float>(rows(1, true, set.attribute_dim, set.categories));
  set.edge_attributes = Ragged<float>(rows(2, false, set.edge_attribute_dim, set.edge_categories));
  set.node_labels = Ragged<int>(rows(3, true, parts.contains(kParts[3]) ? 1 : 0, 0));
  set.node_targets = Ragged<float>(rows(4, true, set.node_target_dim, 0));
  set.edge_targets = Ragged<float>(rows(5, false, set.edge_target_dim, 0));
  set.labels = directory.column<int>(directory.list(directory.json(), "labels"), "labels");
  set.targets = directory.column<float>(directory.list(directory.json(), "targets"), "targets");
  if (!set.labels.empty() && set.labels.size() != graphs) file->fail("directory", "labels are not one per graph");
  if (set.targets.size() != graphs * set.target_dim) file->fail("directory", "targets are not a row per graph");
  for (const nlohmann::json& one : directory.list(directory.json(), "node_parts")) {
    set.node_parts.push_back(directory.column<NodePart>(one, "node_parts"));
    const auto& own = set.node_parts.back();
    if (own.size() != summary.nodes || std::ranges::any_of(own, [](NodePart p) { return p > NodePart::test; })) {
      file->fail("directory", "masks are not one per node");
    }
  }
  return set;
}

/// A set whose graphs and attributes, of which it has none yet, go to the file.
GraphSet sinking(PackedWriter& writer, GraphSet out = {}) {
  out.graphs = Graphs(writer.records(0), {});
  out.attributes = Ragged<float>(writer.records(1));
  out.edge_attributes = Ragged<float>(writer.records(2));
  return out;
}

void finish(PackedWriter& writer, GraphSet& out, std::uint64_t hash) {
  out.graphs.finish();
  if (!out.attributes.empty()) out.attributes.records().finish();
  if (!out.edge_attributes.empty()) out.edge_attributes.records().finish();
  writer.finish(out, hash);
}

}  // namespace

GraphSet open_packed(const std::filesystem::path& path, std::size_t most) {
  GraphSet set = open_bytes(std::make_shared<PackedBytes>(path, most));
  set.name = path.stem().string();
  return set;
}

GraphSet parse_packed(std::string_view bytes, std::string_view name, Cleaning*) {
  return open_bytes(std::make_shared<PackedBytes>(bytes, name));
}

std::uint64_t packed_hash(const std::filesystem::path& path) {
  return Directory(std::make_shared<const PackedBytes>(path, kMostMapped)).number("hash");
}

void write_packed(const std::filesystem::path& path, const GraphSet& set) {
  PackedWriter writer(path);
  GraphSet out = sinking(writer, set);
  SetHash hash;
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    if (interrupted()) throw Interrupted("stopped before all graphs were packed; nothing was written");
    const Graph graph = set.graphs[g];
    out.graphs.push_back(graph);
    if (!set.attributes.empty()) out.attributes.push_back(set.attributes[g]);
    if (!set.edge_attributes.empty()) out.edge_attributes.push_back(set.edge_attributes[g]);
    hash.add(graph, block_of(set.attributes, g), block_of(set.edge_attributes, g));
  }
  finish(writer, out, hash.finish(set));
}

std::uint64_t pack_graphs(const std::filesystem::path& from, std::optional<Format> format, Cleaning* cleaning,
                          const std::filesystem::path& to) {
  std::error_code ignored;
  const bool pipe = !std::filesystem::is_directory(from, ignored) && !std::filesystem::is_regular_file(from, ignored);
  const bool lines = pipe ? format == Format::jsonl : locate_graphs(from, format).format == Format::jsonl;
  if (!lines) {
    const GraphSet set = read_graphs(from, format, cleaning);
    write_graphs(to, set, Format::packed);
    return set.graphs.size();
  }
  JsonlReader reader(pipe ? from : locate_graphs(from, format).path, cleaning);
  PackedWriter writer(to);
  GraphSetBuilder builder(sinking(writer));
  SetHash hash;
  while (auto item = reader.next()) {
    if (interrupted()) throw Interrupted("stopped before all graphs were packed; nothing was written");
    hash.add(item->graph, item->attributes.values, item->edge_attributes.values);
    builder.add(std::move(*item), reader.here());
  }
  if (builder.size() == 0) reader.here().fail("expected a graph (a JSON object), found none");
  GraphSet set = builder.finish();
  finish(writer, set, hash.finish(set));
  return set.graphs.size();
}

}  // namespace tyche
