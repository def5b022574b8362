/* Loaded before the C library (LD_PRELOAD): makes one call on files under a folder fail, and counts such calls.
 *
 *   TYCHE_FAULT_UNDER=/tmp/run    only files under this folder
 *   TYCHE_FAULT_CALL=write        read, write, rename or fsync
 *   TYCHE_FAULT_AT=7              the seventh such call fails; 0: none does, they are counted
 *   TYCHE_FAULT_ERRNO=28          with this error
 *   TYCHE_FAULT_STICKY=1          and so do all that follow (a full disk stays full)
 *   TYCHE_FAULT_COUNT=FILE        the number of calls there were, written at the end
 *
 * The C library's own streams call the kernel inside it, where nothing can be put between: so fwrite, fflush, fclose and
 * fread are calls of their own here. A failing write leaves half of its bytes, as a full disk does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum Kind { READ, WRITE, RENAME, FSYNC, KINDS };
static const char *const names[KINDS] = {"read", "write", "rename", "fsync"};
static atomic_long calls;

static int kind_asked(void) {
  const char *name = getenv("TYCHE_FAULT_CALL");
  for (int kind = 0; name && kind < KINDS; ++kind)
    if (strcmp(name, names[kind]) == 0) return kind;
  return -1;
}

static long number(const char *name) {
  const char *text = getenv(name);
  return text ? atol(text) : 0;
}

static int under(const char *path) {
  const char *folder = getenv("TYCHE_FAULT_UNDER");
  return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

/* Whether this call is to fail; errno is set then. */
static int fails(enum Kind kind, const char *path) {
  if ((int)kind != kind_asked() || !under(path)) return 0;
  const long at = number("TYCHE_FAULT_AT"), now = atomic_fetch_add(&calls, 1) + 1;
  if (at == 0 || now < at || (now > at && number("TYCHE_FAULT_STICKY") == 0)) return 0;
  errno = (int)number("TYCHE_FAULT_ERRNO");
  return 1;
}

static int fails_on(enum Kind kind, int descriptor) {
  if ((int)kind != kind_asked()) return 0;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return fails(kind, path);
}

__attribute__((destructor)) static void tell(void) {
  const char *path = getenv("TYCHE_FAULT_COUNT");
  if (!path) return;
  char text[32];
  const int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&calls));
  const int out = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (out < 0) return;
  (void)!syscall(SYS_write, out, text, (size_t)length);
  syscall(SYS_close, out);
}

#define REAL(result, name, ...) \
  static result (*real)(__VA_ARGS__); \
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, name)

ssize_t write(int descriptor, const void *bytes, size_t size) {
  REAL(ssize_t, "write", int, const void *, size_t);
  if (!fails_on(WRITE, descriptor)) return real(descriptor, bytes, size);
  /* A call that is cut short says so; the next one has the error. Both in one: what was written stays. */
  const int error = errno;
  if (size > 1) (void)!real(descriptor, bytes, size / 2);
  errno = error;
  return -1;
}

ssize_t read(int descriptor, void *bytes, size_t size) {
  REAL(ssize_t, "read", int, void *, size_t);
  return fails_on(READ, descriptor) ? -1 : real(descriptor, bytes, size);
}

size_t fwrite(const void *bytes, size_t item, size_t count, FILE *file) {
  REAL(size_t, "fwrite", const void *, size_t, size_t, FILE *);
  if (!fails_on(WRITE, fileno(file))) return real(bytes, item, count, file);
  const int error = errno;
  const size_t half = real(bytes, item, count / 2, file);
  errno = error;
  return half;
}

size_t fread(void *bytes, size_t item, size_t count, FILE *file) {
  REAL(size_t, "fread", void *, size_t, size_t, FILE *);
  if (!fails_on(READ, fileno(file))) return real(bytes, item, count, file);
  file->_flags |= 0x20; /* what ferror looks at */
  return 0;
}

int fflush(FILE *file) {
  REAL(int, "fflush", FILE *);
  return file && fails_on(WRITE, fileno(file)) ? EOF : real(file);
}

int fclose(FILE *file) {
  REAL(int, "fclose", FILE *);
  const int flags = fcntl(fileno(file), F_GETFL);
  const int bad = (flags & O_ACCMODE) != O_RDONLY && fails_on(WRITE, fileno(file));
  const int error = errno, result = real(file);
  if (!bad) return result;
  errno = error;
  return EOF;
}

int fsync(int descriptor) {
  REAL(int, "fsync", int);
  return fails_on(FSYNC, descriptor) ? -1 : real(descriptor);
}

int rename(const char *from, const char *to) {
  REAL(int, "rename", const char *, const char *);
  return fails(RENAME, to) ? -1 : real(from, to);
}
