// toml++'s compiled part, in the place of libtomlplusplus, which Debian ships as a shared library only.
#define TOML_IMPLEMENTATION
#include <toml++/toml.h>
