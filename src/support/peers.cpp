#include "support/peers.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace tyche {

namespace {

// Long enough that a message's own time is small beside its numbers', short enough that ranks of a chain work at once.
constexpr std::size_t kChunk = 8192;

}  // namespace

void Peers::sum(std::span<const float* const> own, float* total, std::size_t size) const {
  const auto chunk_at = [&](std::size_t first) {
    return std::span<float>(total + first, std::min(kChunk, size - first));
  };
  // The tree's root is the last rank, where the sums are whole: counted from it, i's children are 2i + 1 and 2i + 2.
  const std::size_t place = size_ - 1 - rank_;
  const auto pass_down = [&](std::span<const float> chunk) {
    for (const std::size_t child : {2 * place + 1, 2 * place + 2}) {
      if (child < size_) send(size_ - 1 - child, chunk);
    }
  };
  for (std::size_t first = 0; first < size; first += kChunk) {
    const std::span<float> chunk = chunk_at(first);
    std::size_t next = 0;
    if (rank_ > 0) {
      receive(rank_ - 1, chunk);
    } else {
      std::copy_n(own[next++] + first, chunk.size(), chunk.data());
    }
    for (; next < own.size(); ++next) {
      const float* more = own[next] + first;
      for (std::size_t i = 0; i < chunk.size(); ++i) chunk[i] += more[i];
    }
    if (place > 0) {
      send(rank_ + 1, chunk);
    } else {
      pass_down(chunk);
    }
  }
  sent();
  if (place == 0) return;
  for (std::size_t first = 0; first < size; first += kChunk) {
    receive(size_ - 1 - (place - 1) / 2, chunk_at(first));
    pass_down(chunk_at(first));
  }
  sent();
}

void Peers::exchange(std::span<const Piece> pieces) const {
  if (size_ == 1) return;
  std::vector<std::size_t> begins(size_ + 1, 0);
  for (const Piece& piece : pieces) begins[piece.rank + 1] += piece.bytes.size();
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<std::byte> all(begins.back());
  const auto walk = [&](const auto& visit) {
    std::vector<std::size_t> at(begins.begin(), begins.end() - 1);
    for (const Piece& piece : pieces) {
      if (!piece.bytes.empty()) visit(piece, all.data() + at[piece.rank]);
      at[piece.rank] += piece.bytes.size();
    }
  };
  walk([&](const Piece& piece, std::byte* place) {
    if (piece.rank == rank_) std::memcpy(place, piece.bytes.data(), piece.bytes.size());
  });
  gather(all, begins);
  walk([&](const Piece& piece, const std::byte* place) {
    if (piece.rank != rank_) std::memcpy(piece.bytes.data(), place, piece.bytes.size());
  });
}

std::vector<std::uint64_t> Peers::all(std::uint64_t value) const {
  std::vector<std::uint64_t> values(size_, value);
  std::vector<Piece> pieces;
  for (std::size_t r = 0; r < size_; ++r) pieces.push_back(piece(r, std::span(values).subspan(r, 1)));
  exchange(pieces);
  return values;
}

std::size_t Peers::sum(std::size_t value) const {
  const std::vector<std::uint64_t> values = all(value);
  return std::accumulate(values.begin(), values.end(), std::size_t{0});
}

std::string Peers::spread(std::string text) const {
  text.resize(all(text.size()).front());
  const Piece whole[] = {piece(0, std::span(text))};
  exchange(whole);
  return text;
}

void Peers::settle(const std::exception_ptr& error) const {
  const std::vector<std::uint64_t> failed = all(error ? 1 : 0);
  const auto first = static_cast<std::size_t>(std::find(failed.begin(), failed.end(), 1) - failed.begin());
  if (first == rank_) std::rethrow_exception(error);
  if (first < size_) throw FailedElsewhere("another rank failed and says why; resume when that is mended");
}

void Peers::together(const std::function<void()>& body) const {
  std::exception_ptr error;
  try {
    body();
  } catch (...) {
    error = std::current_exception();
  }
  settle(error);
}

}  // namespace tyche
