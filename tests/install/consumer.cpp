// Prints how the library would train here.
#include <cstdio>

#include "engine/engine.hpp"

int main() { std::puts(tyche::engine::make_engine("cpu", 1)->description().c_str()); }
