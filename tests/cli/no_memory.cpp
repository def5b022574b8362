// Loaded before a rank's libraries (LD_PRELOAD): memory is at an end once there is something in the file that
// TYCHE_NO_MEMORY_AFTER names.
#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <new>

void* operator new(std::size_t size) {
  static std::atomic<unsigned> calls{0};
  static const char* const file = std::getenv("TYCHE_NO_MEMORY_AFTER");
  struct stat status {};
  if (file != nullptr && calls++ % 100 == 0 && ::stat(file, &status) == 0 && status.st_size > 0) throw std::bad_alloc();
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
