#include "graph/records.hpp"

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

}  // namespace tyche
