// A program's start as glibc 2.28 knew it. Since 2.34 libc itself runs a program's constructors, and what the linker
// puts at its entry names none; before, the entry had to bring a function that does. Later ones still call one that is
// brought.
#include <stddef.h>

typedef void initialiser(int, char**, char**);
extern initialiser* __preinit_array_start[] __attribute__((visibility("hidden")));
extern initialiser* __preinit_array_end[] __attribute__((visibility("hidden")));
extern initialiser* __init_array_start[] __attribute__((visibility("hidden")));
extern initialiser* __init_array_end[] __attribute__((visibility("hidden")));
extern void _init(void);

static void construct(int count, char** words, char** environment) {
  for (initialiser** one = __preinit_array_start; one != __preinit_array_end; ++one) (*one)(count, words, environment);
  _init();
  for (initialiser** one = __init_array_start; one != __init_array_end; ++one) (*one)(count, words, environment);
}

int __real___libc_start_main(int (*)(int, char**, char**), int, char**, initialiser*, void (*)(void), void (*)(void),
                             void*);
int __wrap___libc_start_main(int (*program)(int, char**, char**), int count, char** words, initialiser* init,
                             void (*fini)(void), void (*loader)(void), void* stack);
int __wrap___libc_start_main(int (*program)(int, char**, char**), int count, char** words, initialiser* init,
                             void (*fini)(void), void (*loader)(void), void* stack) {
  (void)init;
  return __real___libc_start_main(program, count, words, construct, fini, loader, stack);
}
