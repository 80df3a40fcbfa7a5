#pragma once

#include <cstddef>
#include <functional>

namespace memreplay {

/// Calls `work(i)` for every i in [0, count) on up to `threads` threads. An exception of one call
/// is thrown again once the others have ended.
void for_each_parallel(std::size_t count, unsigned threads,
                       const std::function<void(std::size_t)>& work);

}  // namespace memreplay
