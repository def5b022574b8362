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
      : held_(held), size_(held_.size()) {}
  /// Blocks of `size` graphs, of the right size, all numbers finite.
  FeatureBlocks(Make make, std::size_t size) : make_(std::make_shared<const Make>(std::move(make))), size_(size) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// Whether they are made, and so known to be right.
  [[nodiscard]] bool made() const { return make_ != nullptr; }
  [[nodiscard]] std::vector<float> operator[](std::size_t graph) const {
    if (make_ == nullptr) return held_[graph];
    std::vector<float> out;
    (*make_)(static_cast<std::uint32_t>(graph), out);
    return out;
  }
  /// The same, in `scratch` where it has to be made.
  [[nodiscard]] std::span<const float> read(std::size_t graph, std::vector<float>& scratch) const {
    if (make_ == nullptr) return held_[graph];
    (*make_)(static_cast<std::uint32_t>(graph), scratch);
    return scratch;
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
  std::size_t size_ = 0;
};

}  // namespace tyche::engine
