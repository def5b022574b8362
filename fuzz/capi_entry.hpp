#pragma once
/// One call that reads bytes as a sequence of calls of the C interface, with whatever pointers, sizes, handles and
/// texts the bytes ask for, and checks what the interface promises. The fuzz target and a test share it.
///
/// An input is to cost a millisecond at most, so that there can be millions: sequences are short, and of calls that
/// take longer than all others together (to train, to draw, to certify) a sequence makes one, or none where it is told
/// so.
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tyche.h"

namespace tyche::fuzz {

class CallSequence {
 public:
  explicit CallSequence(std::string_view bytes, bool slow = true) : bytes_(bytes), slow_(slow) {}

  void run() {
    const std::uint64_t before = tyche_live_handles();
    while (!bytes_.empty() && calls_ < kCalls) one_call();
    for (const tyche_handle handle : handles_) (void)tyche_free(handle);
    if (!handles_.empty()) require(tyche_free(handles_.back()) == TYCHE_BAD_HANDLE, "freed twice");
    require(tyche_live_handles() == before, "handles were lost");
  }

 private:
  static constexpr unsigned kCalls = 10;

  static void require(bool holds, const char* what) {
    if (!holds) throw std::logic_error(std::string(what).append(": ").append(tyche_error_message()));
  }

  unsigned char byte() {
    if (bytes_.empty()) return 0;
    const auto out = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    return out;
  }

  /// One that is alive, one that may be freed, or one that never was.
  tyche_handle handle() {
    const unsigned char which = byte();
    if (which == 255) return 0;
    if (which == 254 || handles_.empty()) return (std::uint64_t{byte()} << 32) | byte();
    return handles_[which % handles_.size()];
  }

  const char* options() {
    static const char* const known[] = {
        nullptr,
        "",
        "{}",
        "[]",
        "{\"dim\": 2}",
        "{\"dim\": 9}",
        "{\"individualise\": 1, \"draws\": 2}",
        "{\"individualise\": \"leaf\", \"cell\": \"x\"}",
        "{\"draws\": 2, \"depth\": 1, \"seed\": 3}",
        "{\"random\": \"colours\", \"epoch\": 2}",
        "{\"random\": \"features\", \"columns\": 3}",
        "{\"sets\": \"2\"}",
        "{\"folds\": 1, \"epochs\": 1, \"width\": 4, \"layers\": 1, \"threads\": 1, \"rni\": 0.5}",
        "{\"folds\": 1, \"epochs\": 1, \"model\": \"what\"}",
        "{\"epochs\": -1}",
        "{\"rounds\": 1}",
        "{\"svg\": true}"};
    const unsigned char which = byte();
    if (which < 200) return known[which % std::size(known)];
    text_.clear();
    for (int i = 0; i < 24 && !bytes_.empty(); ++i) text_ += static_cast<char>(byte());
    text_.push_back('\0');
    return text_.c_str();
  }

  /// `made` by reference: it is looked at after the call that is the other argument.
  void keep(tyche_status status, const tyche_handle& made) {
    require(status >= TYCHE_OK && status <= TYCHE_NO_MEMORY, "an internal error");
    require((status == TYCHE_OK) == (made != 0), "a status that does not fit its handle");
    if (status != TYCHE_OK) return require(*tyche_error_message() != '\0', "an error without a word");
    const char* json = nullptr;
    require(tyche_info(made, &json, nullptr) == TYCHE_OK && (*json == '{' || *json == '['), "no JSON");
    handles_.push_back(made);
  }

  /// Two or four paths and cycles with labels, so that later calls have something to work on.
  void good_set() {
    const std::uint64_t graphs = byte() % 2 == 0 ? 2 : 4;
    std::vector<std::uint64_t> node_ptr{0}, edge_ptr{0};
    std::vector<std::int64_t> from, to;
    std::vector<std::int32_t> labels;
    for (std::uint64_t g = 0; g < graphs; ++g) {
      const std::int64_t nodes = 3 + byte() % 6;
      const bool cycle = byte() % 2 == 0;
      for (std::int64_t v = 1; v < nodes + (cycle ? 1 : 0); ++v) {
        from.push_back(v - 1);
        to.push_back(v % nodes);
      }
      node_ptr.push_back(node_ptr.back() + static_cast<std::uint64_t>(nodes));
      edge_ptr.push_back(from.size());
      labels.push_back(static_cast<std::int32_t>(g % 2));
    }
    tyche_graphs all{};
    all.size = sizeof all;
    all.graphs = graphs;
    all.nodes = node_ptr.back();
    all.edges = edge_ptr.back();
    all.node_ptr = node_ptr.data();
    all.edge_ptr = edge_ptr.data();
    all.from = from.data();
    all.to = to.data();
    all.labels = labels.data();
    tyche_handle made = 0;
    const tyche_status status = tyche_set_from_arrays(&all, &made);
    require(status == TYCHE_OK, "good graphs are refused");
    keep(status, made);
  }

  /// Graphs of at most 15 nodes, with arrays that may lie about anything but their length.
  void from_arrays() {
    const std::uint64_t graphs = byte() % 4;
    std::vector<std::uint64_t> node_ptr{byte() % 8u == 7u ? 1u : 0u}, edge_ptr{0};
    for (std::uint64_t g = 0; g < graphs; ++g) {
      node_ptr.push_back(node_ptr.back() + byte() % 16);
      edge_ptr.push_back(edge_ptr.back() + byte() % 24);
    }
    const std::uint64_t nodes = node_ptr.back(), edges = edge_ptr.back();
    std::vector<std::int64_t> from, to;
    std::vector<std::uint32_t> types(nodes), edge_labels(edges);
    std::vector<std::int32_t> labels;
    std::vector<float> attributes(nodes * 2), edge_attributes(edges), targets(graphs);
    for (std::uint64_t e = 0; e < edges; ++e) {
      from.push_back(static_cast<std::int64_t>(byte() % 18) - 1);
      to.push_back(static_cast<std::int64_t>(byte() % 18) - 1);
      edge_labels[e] = byte() % 3;
    }
    for (std::uint32_t& type : types) type = byte() % 3;
    for (std::uint64_t g = 0; g < graphs; ++g) labels.push_back(byte() % 2);
    tyche_graphs all{};
    all.size = byte() == 9 ? 3 : sizeof all;
    all.graphs = graphs;
    all.nodes = nodes + (byte() == 9 ? 1 : 0);
    all.edges = edges;
    const unsigned char which = byte();
    all.node_ptr = byte() == 9 ? nullptr : node_ptr.data();
    all.edge_ptr = byte() == 9 ? nullptr : edge_ptr.data();
    all.from = byte() == 9 ? nullptr : from.data();
    all.to = to.data();
    all.both_ways = which & 1;
    if ((which & 2) != 0) all.types = types.data();
    if ((which & 4) != 0) all.labels = labels.data();
    if ((which & 8) != 0) all.attributes = attributes.data();
    all.attribute_columns = byte() % 3 == 1 ? 0 : (which & 8) != 0 ? 2 : 0;
    if ((which & 16) != 0) all.edge_labels = edge_labels.data();
    if ((which & 32) != 0) {
      all.edge_attributes = edge_attributes.data();
      all.edge_attribute_columns = 1;
    }
    if ((which & 64) != 0) {
      all.targets = targets.data();
      all.target_columns = 1;
    }
    tyche_handle made = 0;
    keep(tyche_set_from_arrays(byte() == 9 ? nullptr : &all, &made), made);
  }

  void arrays() {
    static const char* const names[] = {"ptr",     "offsets", "neighbours", "types",         "edge_index",
                                        "labels",  "ranks",   "columns",    "probabilities", "parameters",
                                        "nothing", "",        "points",     "edge_labels",   "edge_attributes"};
    tyche_array array{};
    const unsigned char which = byte();
    if (tyche_array_of(handle(), which == 255 ? nullptr : names[which % std::size(names)], &array) != TYCHE_OK) return;
    static const std::size_t sizes[] = {0, 4, 8, 4, 8, 4, 8};
    require(array.type >= TYCHE_INT32 && array.type <= TYCHE_FLOAT64, "a type that is none");
    require(array.dimensions == 1 || array.dimensions == 2, "dimensions");
    const std::size_t count = array.shape[0] * (array.dimensions == 2 ? array.shape[1] : 1);
    unsigned sum = 0;  // every byte is readable
    const auto* data = static_cast<const unsigned char*>(array.data);
    for (std::size_t i = 0; i < count * sizes[array.type]; ++i) sum += data[i];
    seen_ += sum;
  }

  void one_call() {
    ++calls_;
    tyche_handle made = 0;
    tyche_handle* out = byte() == 9 ? nullptr : &made;
    switch (byte() % 24) {
      case 0:
        return good_set();
      case 1:
      case 2:
        return from_arrays();
      case 3:
        return arrays();
      case 4: {
        const std::uint64_t numbers[] = {byte() % 4u, byte() % 4u, byte()};
        return keep(tyche_set_select(handle(), byte() == 9 ? nullptr : numbers, byte() % 4, out), made);
      }
      case 5: {
        const std::int32_t labels[] = {0, 1, 0, 1};
        return keep(tyche_set_relabel(handle(), labels, byte() % 5, out), made);
      }
      case 6: {
        const std::string_view own = bytes_.substr(0, 40);
        bytes_.remove_prefix(own.size());
        return keep(tyche_set_parse(own.data(), own.size(), "fuzz", byte() % 2 == 0 ? nullptr : "graph6", out), made);
      }
      case 7:
        return keep(tyche_graph6(handle(), byte() % 4, out), made);
      case 8:
        if (!std::exchange(slow_, false)) return;
        return keep(tyche_draw(handle(), byte() % 4, out), made);
      case 9:
        return keep(tyche_wl(handle(), byte() % 4, handle(), byte() % 4, options(), out), made);
      case 10:
        return keep(tyche_wl_pairs(handle(), options(), out), made);
      case 11:
        return keep(tyche_wl_groups(handle(), options(), out), made);
      case 12:
        return keep(tyche_colours(handle(), options(), out), made);
      case 13:
        return keep(tyche_individualise(handle(), options(), out), made);
      case 14: {
        const std::uint32_t ids[] = {1, 2, 3};
        return keep(tyche_random_columns(handle(), options(), ids, byte() % 4, out), made);
      }
      case 15:
        if (!std::exchange(slow_, false)) return;
        return keep(tyche_train(handle(), options(), nullptr, nullptr, nullptr, out), made);
      case 16:
        return keep(tyche_trained_model(handle(), byte() % 2, out), made);
      case 17:
        return keep(tyche_predict(handle(), handle(), "{\"draws\": 2, \"threads\": 1}", out), made);
      case 18:
        return keep(
            tyche_theory_compile(byte() == 9 ? nullptr : "exists y. E(x,y)", options(), handle(), byte() % 4, out),
            made);
      case 19: {
        const float targets[] = {0.5f, 1.0f, -2.0f, std::numeric_limits<float>::quiet_NaN()};
        return keep(tyche_set_retarget(handle(), byte() == 9 ? nullptr : targets, byte() % 5, byte() % 2, out), made);
      }
      case 20:
        return keep(tyche_inspect(handle(), options(), out), made);
      case 21:
        if (!std::exchange(slow_, false)) return;
        return keep(tyche_certify(handle(), options(), out), made);
      case 22:
        return keep(tyche_theory_check(byte() == 9 ? nullptr : "exists x. R1(x)", handle(), byte() % 4, out), made);
      default:
        (void)tyche_free(handle());
    }
  }

  std::string_view bytes_;
  std::vector<tyche_handle> handles_;
  std::string text_;
  bool slow_;  ///< a slow call may still be made
  unsigned calls_ = 0, seen_ = 0;
};

}  // namespace tyche::fuzz
