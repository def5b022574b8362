#include "experiments/board.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace tyche::experiments {

class Board::Epochs : public Progress {
 public:
  explicit Epochs(Board& board) : Progress("", 0, nullptr), board_(board) {}
  void add(std::uint64_t count, const std::string& note) override { board_.add(count, note); }

 private:
  Board& board_;
};

Board::Board(std::FILE* out, double total_cost)
    : out_(out), terminal_(out != nullptr && ::isatty(::fileno(out)) != 0), total_(total_cost) {}

Board::~Board() {
  const std::scoped_lock lock(mutex_);
  clear();
}

std::unique_ptr<Progress> Board::begin(std::string label, std::uint64_t epochs, double cost, double planned) {
  const std::scoped_lock lock(mutex_);
  label_ = std::move(label);
  note_.clear();
  epochs_ = epochs;
  epochs_done_ = 0;
  cost_ = cost;
  total_ -= planned - static_cast<double>(epochs) * cost;
  group_start_ = Clock::now();
  if (terminal_) draw(group_start_);  // preparing a model on sets can take a while
  return std::make_unique<Epochs>(*this);
}

void Board::end(const std::string& line) {
  const std::scoped_lock lock(mutex_);
  if (out_ == nullptr) return;
  clear();
  std::fputs((line + "\n").c_str(), out_);
  std::fflush(out_);
}

void Board::add(std::uint64_t count, const std::string& note) {
  const std::scoped_lock lock(mutex_);
  if (out_ == nullptr) return;
  epochs_done_ += count;
  done_ += static_cast<double>(count) * cost_;
  note_ = note;
  const auto now = Clock::now();
  if (now - last_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(10000))) return;
  last_ = now;
  draw(now);
}

void Board::draw(Clock::time_point now) {
  const double gone = std::chrono::duration<double>(now - start_).count();
  const double share = total_ <= 0 ? 1 : std::min(1.0, done_ / total_);
  const double group_gone = std::chrono::duration<double>(now - group_start_).count();
  const double group_share = epochs_ == 0 ? 1 : static_cast<double>(epochs_done_) / static_cast<double>(epochs_);
  const auto left = [](double elapsed, double part) {
    return part <= 0 ? std::string("…") : format_duration(elapsed * (1 - part) / part);
  };
  const std::string text =
      fmt::format("{:3.0f} %, {} left | {} {}/{} epochs, {} left | {}", 100 * share, left(gone, share), label_,
                  epochs_done_, epochs_, left(group_gone, group_share), note_);
  const auto filled = static_cast<std::size_t>(share * 20);
  const std::string line =
      terminal_ ? one_line(fmt::format("[{}{}] {}", std::string(filled, '#'), std::string(20 - filled, '.'), text))
                : text + "\n";
  std::fputs(line.c_str(), out_);
  std::fflush(out_);
  drawn_ = true;
}

void Board::clear() {
  if (out_ != nullptr && terminal_ && drawn_) std::fputs("\r\x1b[K", out_);
  drawn_ = false;
}

}  // namespace tyche::experiments
