#pragma once
/// What long work shows, and how it is stopped.
///
///   Progress progress("pairs", total, stderr);
///   ... progress.add(1);              // from any thread
///   if (interrupted()) throw Interrupted("stopped after ...");
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>

namespace tyche {

/// A bar with the time left where `out` is a terminal, a plain line every ten seconds or so elsewhere; nothing where
/// `out` is null or the work ends within a second. The library is handed one by cli/; it never makes its own. A class
/// that shows several pieces of work derives from it and has lines of its own.
class Progress {
 public:
  Progress(std::string label, std::uint64_t total, std::FILE* out);
  virtual ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `count` more units are done; `note` (say "loss 0.31") is shown behind the bar. Thread-safe.
  virtual void add(std::uint64_t count, const std::string& note = {});
  /// Removes the bar, so that other output can follow. Called by the destructor.
  void finish();

 protected:
  using Clock = std::chrono::steady_clock;
  /// The line of the moment, as a terminal or a file has it.
  [[nodiscard]] virtual std::string line(Clock::time_point now) const;
  void draw(Clock::time_point now);
  void clear();

  std::mutex mutex_;
  std::string label_;
  std::string note_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  std::FILE* out_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

/// From here on SIGINT and SIGTERM set a flag instead of ending the program; a second SIGINT ends it at once.
void catch_interrupts();
/// Whether a stop was asked for.
[[nodiscard]] bool interrupted();
/// For tests.
void set_interrupted(bool value);

/// What makes a terminal put `text` over the line the cursor is in, cut off at its right edge: a line that wraps could
/// not be overwritten by the next.
[[nodiscard]] std::string one_line(const std::string& text);

/// "1 h 02 min", "3 min 05 s", "4.2 s".
[[nodiscard]] std::string format_duration(double seconds);

}  // namespace tyche
