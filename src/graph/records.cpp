#include "graph/records.hpp"

#include <algorithm>
#include <limits>

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

}  // namespace tyche
