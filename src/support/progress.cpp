#include "support/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <ctime>
#include <utility>

namespace tyche {

namespace {
// Set by a signal handler, read by every thread: lock-free atomics are good for both.
std::atomic<bool> stop_asked{false};
std::atomic<std::int64_t> asked_at{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free,
              "a signal may come anywhere");

std::int64_t milliseconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1000000;
}

// A second Ctrl-C ends the program at once. timeout(1) and batch systems send one signal twice, to the process and to
// its group: what comes within half a second is still the first.
void on_signal(int number) {
  constexpr std::int64_t kSameMilliseconds = 500;
  if (!stop_asked) {
    asked_at = milliseconds_now();
  } else if (number == SIGINT && milliseconds_now() - asked_at > kSameMilliseconds) {
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
  stop_asked = true;
}
}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return stop_asked; }
void set_interrupted(bool value) { stop_asked = value; }

std::string format_duration(double seconds) {
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string one_line(const std::string& text) { return "\r\x1b[K\x1b[?7l" + text + "\x1b[?7h"; }

Progress::Progress(std::string label, std::uint64_t total, std::FILE* out)
    : label_(std::move(label)), total_(total), out_(out), terminal_(out != nullptr && ::isatty(::fileno(out)) != 0) {}

Progress::~Progress() { finish(); }

void Progress::add(std::uint64_t count, const std::string& note) {
  if (out_ == nullptr) return;
  const std::scoped_lock lock(mutex_);
  done_ += count;
  if (!note.empty()) note_ = note;
  const auto now = Clock::now();
  const auto wait = terminal_ ? std::chrono::milliseconds(drawn_ ? 200 : 1000) : std::chrono::milliseconds(10000);
  if (now - last_ < wait) return;
  last_ = now;
  draw(now);
}

std::string Progress::line(Clock::time_point now) const {
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double share = total_ == 0 ? 0 : std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
  const std::string left = share > 0 ? format_duration(elapsed * (1 - share) / share) + " left" : "";
  if (terminal_) {
    const auto filled = static_cast<std::size_t>(share * 24);
    return one_line(fmt::format("{} [{}{}] {}/{}  {}  {}", label_, std::string(filled, '#'),
                                std::string(24 - filled, '.'), done_, total_, left, note_));
  }
  return fmt::format("{}: {} of {} ({:.0f} %), {} gone, {}{}{}\n", label_, done_, total_, 100 * share,
                     format_duration(elapsed), left, note_.empty() ? "" : ", ", note_);
}

void Progress::draw(Clock::time_point now) {
  std::fputs(line(now).c_str(), out_);
  std::fflush(out_);
  drawn_ = true;
}

void Progress::clear() {
  if (out_ != nullptr && terminal_ && drawn_) {
    std::fputs("\r\x1b[K", out_);
    std::fflush(out_);
  }
  drawn_ = false;
}

void Progress::finish() {
  const std::scoped_lock lock(mutex_);
  clear();
  out_ = nullptr;
}

}  // namespace tyche
