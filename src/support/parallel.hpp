#pragma once
/// Work spread over threads, with results that do not depend on how many there are.
///
///   std::vector<Answer> out(items.size());
///   parallel_for(items.size(), threads, [&](std::size_t i) { out[i] = solve(items[i]); });
#include <cstddef>
#include <functional>

namespace tyche {

/// The number of threads to use for a request of `asked` (0: as many as the machine has).
[[nodiscard]] unsigned resolve_threads(unsigned asked);

/// Calls body(i) once for every i in [0, count), on at most `threads` threads (0: all cores), in no particular order;
/// returns when all are done. Each i is handed out on its own, so make bodies worth a few microseconds. If bodies
/// throw, the exception of the smallest i that threw is rethrown after all threads have stopped; indices not yet begun
/// are skipped then.
void parallel_for(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& body);

}  // namespace tyche
