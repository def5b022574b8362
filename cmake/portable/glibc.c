// What libstdc++, libgcc and the archives of Debian ask of glibc that 2.28 does not have (docs/portable.md): each here
// by what 2.28 does have. All of it is hidden: nobody else in a process sees these.
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

// ---- bliss and GMP read these two as if they were their own, which a shared library cannot allow (--wrap).
extern FILE* __real_stdout;
extern FILE* __real_stderr;
FILE* __wrap_stdout;
FILE* __wrap_stderr;
__attribute__((constructor(101))) static void streams(void) {
  __wrap_stdout = __real_stdout;
  __wrap_stderr = __real_stderr;
}

// ---- 2.36: random bytes, for the salt of expat's tables and for std::random_device.
void arc4random_buf(void* into, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t got = getrandom((char*)into + done, size - done, 0);
    if (got < 0 && errno != EINTR) abort();
    if (got > 0) done += (size_t)got;
  }
}
uint32_t arc4random(void) {
  uint32_t bits;
  arc4random_buf(&bits, sizeof bits);
  return bits;
}

// ---- 2.35: libgcc's way from an address to the table by which exceptions unwind. It was dl_iterate_phdr before.
struct sought {
  uintptr_t address;
  struct dl_find_object* found;
};
static int holds(struct dl_phdr_info* object, size_t size, void* data) {
  (void)size;
  struct sought* sought = data;
  const ElfW(Phdr)* frames = NULL;
  uintptr_t begin = 0, end = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    if (part->p_type == PT_GNU_EH_FRAME) frames = part;
    if (part->p_type != PT_LOAD) continue;
    const uintptr_t from = object->dlpi_addr + part->p_vaddr;
    if (sought->address < from || sought->address >= from + part->p_memsz) continue;
    begin = from;
    end = from + part->p_memsz;
  }
  if (end == 0) return 0;
  if (frames == NULL) return -1;
  sought->found->dlfo_map_start = (void*)begin;
  sought->found->dlfo_map_end = (void*)end;
  sought->found->dlfo_eh_frame = (void*)(object->dlpi_addr + frames->p_vaddr);
  return 1;
}
int _dl_find_object(void* address, struct dl_find_object* found) {
  memset(found, 0, sizeof *found);
  struct sought sought = {(uintptr_t)address, found};
  return dl_iterate_phdr(holds, &sought) == 1 ? 0 : -1;
}

// ---- 2.32: "perhaps not" is always true.
char __libc_single_threaded = 0;

// ---- 2.33: the calls by name; before, headers turned them into these, which carry the layout's number.
#ifdef __x86_64__
enum { stat_layout = 1 };
#else
enum { stat_layout = 0 };
#endif
int __xstat(int layout, const char* path, struct stat* into);
int __lxstat(int layout, const char* path, struct stat* into);
int __fxstat(int layout, int file, struct stat* into);
int __fxstatat(int layout, int folder, const char* path, struct stat* into, int flags);
int stat(const char* path, struct stat* into) { return __xstat(stat_layout, path, into); }
int lstat(const char* path, struct stat* into) { return __lxstat(stat_layout, path, into); }
int fstat(int file, struct stat* into) { return __fxstat(stat_layout, file, into); }
int fstatat(int folder, const char* path, struct stat* into, int flags) {
  return __fxstatat(stat_layout, folder, path, into, flags);
}
// The same where all is 64 bits wide.
int stat64(const char* path, struct stat64* into) { return stat(path, (struct stat*)into); }
int lstat64(const char* path, struct stat64* into) { return lstat(path, (struct stat*)into); }
int fstat64(int file, struct stat64* into) { return fstat(file, (struct stat*)into); }
int fstatat64(int folder, const char* path, struct stat64* into, int flags) {
  return fstatat(folder, path, (struct stat*)into, flags);
}

// ---- 2.30: to wait until a time of another clock than that of the day. A step of the latter meanwhile makes the wait
// shorter or longer, as it did then.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  struct timespec there, here;
  if (clock_gettime(clock, &there) != 0 || clock_gettime(CLOCK_REALTIME, &here) != 0) return EINVAL;
  long long seconds = (long long)until->tv_sec - there.tv_sec + here.tv_sec;
  long long rest = (long long)until->tv_nsec - there.tv_nsec + here.tv_nsec;
  for (; rest < 0; rest += 1000000000) --seconds;
  for (; rest >= 1000000000; rest -= 1000000000) ++seconds;
  const struct timespec same = {(time_t)seconds, (long)rest};
  return pthread_cond_timedwait(condition, mutex, &same);
}
