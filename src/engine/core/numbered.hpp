#pragma once
/// Things that have numbers, each one number or several. Not owned.
///
///   const Numbered<Graph> plain(graphs);                   // graph i has number i
///   const Numbered<Graph> twice(graphs, graph_of);         // number i is that of graphs[graph_of[i]]
///
/// What is drawn for a graph is keyed by its number. So a graph that an epoch draws 32 times stands once and has 32
/// numbers.
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tyche::engine {

template <class T>
class Numbered {
 public:
  Numbered() = default;
  template <class Things>
  requires std::convertible_to<const Things&, std::span<const T>> Numbered(const Things& things,
                                                                           std::span<const std::uint32_t> of = {})
      : things_(things), of_(of) {}

  [[nodiscard]] std::size_t size() const { return of_.empty() ? things_.size() : of_.size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] const T& operator[](std::size_t number) const { return things_[of(number)]; }
  /// Each once.
  [[nodiscard]] std::span<const T> things() const { return things_; }
  /// Which of the things has this number.
  [[nodiscard]] std::size_t of(std::size_t number) const { return of_.empty() ? number : of_[number]; }
  /// The first so many numbers. Requires one at least.
  [[nodiscard]] Numbered first(std::size_t count) const {
    return of_.empty() ? Numbered(things_.first(count)) : Numbered(things_, of_.first(count));
  }

  struct Iterator {
    const Numbered* all;
    std::size_t number;
    const T& operator*() const { return (*all)[number]; }
    Iterator& operator++() {
      ++number;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;
  };
  [[nodiscard]] Iterator begin() const { return {this, 0}; }
  [[nodiscard]] Iterator end() const { return {this, size()}; }

 private:
  std::span<const T> things_;
  std::span<const std::uint32_t> of_;
};

}  // namespace tyche::engine
