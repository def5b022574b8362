#pragma once
/// Numbers that begin at a cache line, zeros unless said, in huge pages where the system gives them.
#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace tyche::engine::cpu {

template <class Number>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t count, bool zeros = true) : size_(count) {
    if (count == 0) return;
    constexpr std::size_t kHuge = std::size_t{2} << 20;
    const std::size_t unit = count * sizeof(Number) >= kHuge ? kHuge : 64;
    const std::size_t bytes = (count * sizeof(Number) + unit - 1) / unit * unit;
    data_.reset(static_cast<Number*>(std::aligned_alloc(unit, bytes)));
    if (!data_) throw std::bad_alloc();
    if (unit == kHuge) ::madvise(data_.get(), bytes, MADV_HUGEPAGE);
    if (zeros) std::memset(data_.get(), 0, bytes);
  }

  [[nodiscard]] Number* data() { return data_.get(); }
  [[nodiscard]] const Number* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(Number* memory) const { std::free(memory); }
  };
  std::unique_ptr<Number, Free> data_;
  std::size_t size_ = 0;
};

using AlignedFloats = AlignedBuffer<float>;

}  // namespace tyche::engine::cpu
