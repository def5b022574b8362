#pragma once
/// One row-major block of features for every graph of a job: blocks that somebody holds, or (of sets that need not fit
/// into memory) a function that makes a graph's block whenever it is asked for.
///
///   const std::vector<std::vector<float>> held = {{1, 0}, {0, 1}};
///   const FeatureBlocks blocks = held;                         // a view: what is held must outlive it
///   std::vector<float> scratch;
///   for (const float x : blocks.read(1, scratch)) …
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace tyche::engine {

class FeatureBlocks {
 public:
  /// Fills in the block of a graph, from any thread.
  using Make = std::function<void(std::uint32_t graph, std::vector<float>& out)>;

  FeatureBlocks() = default;
  template <class Blocks>
  requires std::convertible_to<const Blocks&, std::span<const std::vector<float>>> FeatureBlocks(const Blocks& held)
      : held_(held), size_(held_.size()), things_(size_) {}
  /// Blocks of `size` graphs, of the right size, all numbers finite.
  FeatureBlocks(Make make, std::size_t size)
      : make_(std::make_shared<const Make>(std::move(make))), size_(size), things_(size) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// Whether they are made, and so known to be right.
  [[nodiscard]] bool made() const { return make_ != nullptr; }
  [[nodiscard]] std::vector<float> operator[](std::size_t graph) const {
    if (make_ == nullptr) return held_[of(graph)];
    std::vector<float> out;
    (*make_)(static_cast<std::uint32_t>(of(graph)), out);
    return out;
  }
  /// The same, in `scratch` where it has to be made.
  [[nodiscard]] std::span<const float> read(std::size_t graph, std::vector<float>& scratch) const {
    if (make_ == nullptr) return held_[of(graph)];
    (*make_)(static_cast<std::uint32_t>(of(graph)), scratch);
    return scratch;
  }
  /// Under other numbers, as Graphs::numbered, and each once.
  [[nodiscard]] FeatureBlocks numbered(std::vector<std::uint32_t> of) const {
    FeatureBlocks out = *this;
    for (std::uint32_t& number : of) number = static_cast<std::uint32_t>(this->of(number));
    out.size_ = of.size();
    out.of_ = std::make_shared<const std::vector<std::uint32_t>>(std::move(of));
    return out;
  }
  [[nodiscard]] FeatureBlocks things() const {
    FeatureBlocks out = *this;
    out.size_ = things_;
    out.of_.reset();
    return out;
  }
  [[nodiscard]] FeatureBlocks first(std::size_t count) const {
    FeatureBlocks part = *this;
    part.size_ = count;
    return part;
  }
  [[nodiscard]] std::vector<std::vector<float>> all() const {
    std::vector<std::vector<float>> out;
    for (std::size_t g = 0; g < size_; ++g) out.push_back((*this)[g]);
    return out;
  }

 private:
  std::span<const std::vector<float>> held_;
  std::shared_ptr<const Make> make_;
  std::size_t size_ = 0, things_ = 0;
  std::shared_ptr<const std::vector<std::uint32_t>> of_;  ///< none: number i is that of block i

  [[nodiscard]] std::size_t of(std::size_t number) const { return of_ == nullptr ? number : (*of_)[number]; }
};

}  // namespace tyche::engine
