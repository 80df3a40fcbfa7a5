#include "core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

namespace memreplay {

void for_each_parallel(std::size_t count, unsigned threads,
                       const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex failing;
  const auto take_turns = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(failing);
        if (!failure) failure = std::current_exception();
      }
    }
  };
  std::deque<std::jthread> helpers;
  try {
    for (std::size_t i = 1; i < std::min<std::size_t>(threads, count); ++i) {
      helpers.emplace_back(take_turns);
    }
  } catch (const std::system_error&) {
    // No more threads are to be had: those that there are do the work.
  }
  take_turns();
  helpers.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace memreplay
