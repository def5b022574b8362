#include "wl/quotient_cache.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "support/error.hpp"
#include "support/file.hpp"
#include "support/intern.hpp"
#include "support/seal.hpp"

namespace tyche::wl {

namespace {

constexpr std::string_view kMagic = "tyche sets 1\n\n\n\n";  // the number is the format's version
static_assert(kMagic.size() == 16);
constexpr std::size_t kChecksum = 8;

// ---- numbers of seven bits a byte, low bits first; the high bit says that more follow

struct Writer {
  std::string bytes;

  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
    bytes += static_cast<char>(value);
  }
  void signed_number(std::int64_t value) {
    number(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }
};

class Reader {
 public:
  Reader(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == bytes_.size()) fail("ends in the middle of a number");
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    fail("has a number of more than 64 bits");
  }
  std::int64_t signed_number() {
    const std::uint64_t value = number();
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t value = number();
    if (value >= bound) fail(fmt::format("has {} where a number below {} must stand", value, bound));
    return value;
  }
  // Which of `rows` classes.
  std::uint32_t row(std::int64_t value, std::uint64_t rows) const {
    if (value < 0 || static_cast<std::uint64_t>(value) >= rows) fail("refers to a class there is not");
    return static_cast<std::uint32_t>(value);
  }
  // A number of things of which each takes at least a byte.
  std::size_t count() { return static_cast<std::size_t>(below(bytes_.size() - at_ + 1)); }
  [[nodiscard]] bool done() const { return at_ == bytes_.size(); }
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError::at(name_, fmt::format("byte {}", at_), what);
  }

 private:
  std::string_view bytes_;
  std::string_view name_;
  std::size_t at_ = 0;
};

void write_step(const QuotientStep& step, Writer& out) {
  out.number(step.size());
  std::int64_t last_root = 0;
  for (std::size_t c = 0; c < step.size(); ++c) {
    const auto root = static_cast<std::int64_t>(step.roots[c]);
    out.signed_number(root - last_root);
    last_root = root;
    out.number(step.offsets[c + 1] - step.offsets[c]);
    std::int64_t before = root;
    for (std::uint64_t e = step.offsets[c]; e < step.offsets[c + 1]; ++e) {
      // The gap to the column before (the first: to the root), and whether a count other than 1 follows.
      const std::int64_t gap = static_cast<std::int64_t>(step.columns[e]) - before;
      const bool counted = step.counts[e] != 1;
      out.signed_number(2 * gap + (counted ? 1 : 0));
      if (counted) out.number(step.counts[e]);
      before = step.columns[e];
    }
  }
}

QuotientStep read_step(std::uint64_t rows_before, Reader& in) {
  QuotientStep step;
  const std::size_t size = in.count();
  step.roots.reserve(size);
  step.offsets.reserve(size + 1);
  std::int64_t root = 0;
  for (std::size_t c = 0; c < size; ++c) {
    step.roots.push_back(in.row(root += in.signed_number(), rows_before));
    std::int64_t column = root;
    for (std::size_t left = in.count(); left > 0; --left) {
      const std::int64_t coded = in.signed_number();
      column += coded >> 1;
      step.columns.push_back(in.row(column, rows_before));
      const std::uint64_t count = (coded & 1) != 0 ? in.below(std::uint64_t{1} << 16) : 1;
      if (count == 0) in.fail("has a neighbour counted 0 times");
      step.counts.push_back(static_cast<std::uint16_t>(count));
    }
    step.offsets.push_back(step.columns.size());
  }
  step.columns.shrink_to_fit();
  step.counts.shrink_to_fit();
  return step;
}

}  // namespace

std::string encode(const Quotient& quotient) {
  Writer out{std::string(kMagic)};
  out.number(quotient.kind.k);
  out.number(static_cast<std::uint64_t>(quotient.kind.choice));
  out.number(quotient.types.size());
  for (const SetType type : quotient.types) out.number(type);
  out.number(quotient.bases.size());
  for (const std::uint32_t base : quotient.bases) out.number(base);
  out.number(quotient.steps.size());
  for (const QuotientStep& step : quotient.steps) write_step(step, out);
  out.number(quotient.graphs());
  for (std::size_t g = 0; g < quotient.graphs(); ++g) {
    out.number(quotient.first[g + 1] - quotient.first[g]);
    std::int64_t before = 0;
    for (std::uint64_t i = quotient.first[g]; i < quotient.first[g + 1]; ++i) {
      out.signed_number(static_cast<std::int64_t>(quotient.classes[i]) - before);
      out.number(quotient.multiplicity[i]);
      before = quotient.classes[i];
    }
  }
  const std::uint64_t sum = checksum(out.bytes);
  out.bytes.append(reinterpret_cast<const char*>(&sum), kChecksum);
  return std::move(out.bytes);
}

Quotient decode_quotient(std::string_view bytes, std::string_view name) {
  constexpr std::size_t kNamed = 10;  // "tyche sets"
  if (bytes.substr(0, kNamed) != kMagic.substr(0, kNamed)) throw InputError::at(name, "", "is no file of sets");
  if (bytes.substr(0, kMagic.size()) != kMagic) throw InputError::at(name, "", "is of another version of the program");
  if (bytes.size() < kMagic.size() + kChecksum) throw InputError::at(name, "", "is cut short");
  const std::string_view content = bytes.substr(0, bytes.size() - kChecksum);
  std::uint64_t sum = 0;
  std::memcpy(&sum, bytes.data() + content.size(), kChecksum);
  if (checksum(content) != sum) throw InputError::at(name, "", "is damaged: its checksum does not fit");

  Reader in(content.substr(kMagic.size()), name);
  Quotient out;
  out.kind.k = static_cast<unsigned>(in.below(4));
  out.kind.choice = static_cast<SetChoice>(in.below(2));
  out.types.resize(in.count());
  for (SetType& type : out.types) type = in.number();
  out.bases.resize(in.count());
  for (std::uint32_t& base : out.bases) base = static_cast<std::uint32_t>(in.below(std::uint64_t{1} << 32));
  if (!out.bases.empty() && out.bases.size() != out.types.size() * out.kind.k) in.fail("has a wrong number of colours");
  for (std::size_t left = in.count(); left > 0; --left) out.steps.push_back(read_step(out.size(out.rounds()), in));
  const std::uint64_t last = out.size(out.rounds());
  for (std::size_t left = in.count(); left > 0; --left) {
    std::int64_t id = 0;
    for (std::size_t more = in.count(); more > 0; --more) {
      out.classes.push_back(in.row(id += in.signed_number(), last));
      out.multiplicity.push_back(static_cast<std::uint32_t>(in.below(std::uint64_t{1} << 32)));
      out.sets += out.multiplicity.back();
    }
    out.first.push_back(out.classes.size());
  }
  if (!in.done()) in.fail("goes on after its end");
  return out;
}

std::filesystem::path default_cache_folder() {
  const auto variable = [](const char* key) {
    const char* value = std::getenv(key);
    return std::filesystem::path(value == nullptr ? "" : value);
  };
  if (const auto own = variable("TYCHE_CACHE_DIR"); !own.empty()) return own;
  if (const auto base = variable("XDG_CACHE_HOME"); !base.empty()) return base / "tyche";
  if (const auto home = variable("HOME"); !home.empty()) return home / ".cache" / "tyche";
  return {};
}

std::filesystem::path cache_file(const std::filesystem::path& folder, std::span<const Graph> graphs,
                                 const QuotientOptions& options) {
  std::uint64_t hash = mix(options.rounds * 16 + options.kind.k * 4 + static_cast<std::uint64_t>(options.kind.choice));
  const auto add = [&](const auto& values) {
    const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0]));
    hash = mix(hash ^ checksum(bytes));
  };
  for (const Graph& graph : graphs) {
    add(graph.offsets());
    add(graph.adjacency());
    add(graph.types());
    if (graph.has_edge_labels()) add(graph.edge_labels());  // files of graphs without keep their names
  }
  for (const std::vector<std::uint32_t>& colours : options.node_colours) add(colours);
  return folder / fmt::format("sets-{}{}-{}-{:016x}.bin", options.kind.k,
                              options.kind.choice == SetChoice::all ? "" : "c", options.rounds, hash);
}

Quotient cached_quotient(std::span<const Graph> graphs, const QuotientOptions& options, const QuotientCache& cache) {
  // Connected sets are few: cheap to find again, whatever the number of subsets.
  double sets = 0;
  for (const Graph& graph : graphs) sets += subsets(graph.num_nodes(), options.kind.k);
  const bool worth = sets >= static_cast<double>(cache.least_sets) && options.kind.choice == SetChoice::all;
  if (cache.folder.empty() || options.keep_sets || !worth) return make_quotient(graphs, options);
  const auto say = [&](const std::string& line) {
    if (cache.say) cache.say(line);
  };

  const std::filesystem::path file = cache_file(cache.folder, graphs, options);
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) {
    try {
      Quotient found = decode_quotient(read_file(file), file.string());
      if (found.kind == options.kind && found.rounds() == options.rounds && found.graphs() == graphs.size()) {
        say(fmt::format("sets: read from {}", file.string()));
        return found;
      }
      say(fmt::format("sets: {} holds other graphs or rounds; made again", file.string()));
    } catch (const Error& error) {
      say(fmt::format("sets: {}; made again", error.what()));
    }
  }
  say(fmt::format("sets: colouring {:.3g} sets of {} nodes once, for this and later runs", sets, options.kind.k));
  Quotient made = make_quotient(graphs, options);
  try {
    make_folder(file.parent_path());
    write_file(file, encode(made));
    say(fmt::format("sets: kept in {}", file.string()));
  } catch (const Error& error) {
    say(fmt::format("sets: not kept for the next run: {}", error.what()));
  }
  return made;
}

}  // namespace tyche::wl
