// What a program asks of libstdc++, libgcc and glibc and finds elsewhere in one that travels (cmake/portable): it runs
// with the same answers. Linked by tyche_portable(); travels.sh looks at it as the loader of glibc 2.28 would.
#include <expat.h>
#include <zlib.h>

#include <atomic>
#include <bliss/graph.hh>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

struct Constructed {
  Constructed() : value(7) {}
  int value;
};
Constructed constructed;  // before main: glibc below 2.34 leaves that to the program

int deep(int depth) {
  if (depth == 0) throw std::runtime_error("thrown");
  return deep(depth - 1) + 1;
}
int caught(int times) {
  int count = 0;
  for (int i = 0; i < times; ++i) {
    try {
      deep(20);
    } catch (const std::exception&) {
      ++count;
    }
  }
  return count;
}
int wrong = 0;
void expect(bool holds, const char* sentence) {
  if (holds) return;
  ++wrong;
  std::fprintf(stderr, "travels: not so: %s\n", sentence);
}

}  // namespace

int main(int count, char** words) {
  expect(constructed.value == 7, "constructors run before main");
  std::atomic<int> thrown{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { thrown += caught(500); });
  for (std::thread& one : threads) one.join();
  expect(thrown == 2000, "exceptions are caught in the thread that threw them");
  std::future<int> failing = std::async(std::launch::async, [] { return deep(3); });
  bool passed_on = false;
  try {
    failing.get();
  } catch (const std::runtime_error&) {
    passed_on = true;
  }
  expect(passed_on, "an exception passes from thread to thread");
  std::random_device device;
  expect(device() != device() || device() != device(), "random bytes are random");
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  const auto before = std::chrono::steady_clock::now();
  condition.wait_for(lock, std::chrono::milliseconds(20));
  const auto waited = std::chrono::steady_clock::now() - before;
  expect(waited > std::chrono::milliseconds(10) && waited < std::chrono::seconds(10),
         "a wait ends when its time is over");
  expect(std::filesystem::file_size(words[0]) > 100000 && !std::filesystem::exists("/no such file"),
         "files have sizes");
  expect(std::filesystem::is_directory("/"), "folders are folders");
  expect(std::hypot(count + 2.0, 4.0) == 5.0 && std::abs(std::exp(1.5 * count) - 4.4816890703380645) < 1e-15 &&
             std::pow(2.0, 10.0 * count) == 1024.0 && std::log(1.0 * count) == 0.0,
         "the functions of libm have their values");
  auto shared = std::make_shared<int>(3);
  const std::weak_ptr<int> weak = shared;
  shared.reset();
  expect(weak.expired(), "counts of references reach zero");
  bliss::Graph graph(5);
  graph.add_edge(0, 1);
  bliss::Stats stats;
  graph.canonical_form(stats, nullptr, nullptr);
  expect(stats.get_group_size_approx() == 12.0L, "bliss counts symmetries");
  XML_Parser parser = XML_ParserCreate(nullptr);
  expect(XML_Parse(parser, "<a x='1'/>", 10, 1) == XML_STATUS_OK, "expat parses");
  XML_ParserFree(parser);
  const Bytef digits[] = {'1', '2', '3', '4', '5', '6', '7', '8', '9'};
  expect(crc32(0, digits, 9) == 0xcbf43926u, "zlib reckons checksums");
  std::printf("travels: %d wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
