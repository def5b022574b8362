#pragma once
/// A disk that is full, without needing one: while a SmallDisk lives, no file of this process (or of one it starts) can
/// grow beyond some bytes, and writes beyond fail as on a full disk.
#include <sys/resource.h>

#include <csignal>

namespace tyche {

class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : previous_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &previous_);
    rlimit limit = previous_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallDisk() {
    setrlimit(RLIMIT_FSIZE, &previous_);
    std::signal(SIGXFSZ, previous_handler_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit previous_{};
  void (*previous_handler_)(int);
};

}  // namespace tyche
