#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <system_error>
#include <utility>

namespace memreplay {

/// Calls `work(i)` for every i in [0, count) on up to `threads` threads. An exception of one call
/// is thrown again once the others have ended.
void for_each_parallel(std::size_t count, unsigned threads,
                       const std::function<void(std::size_t)>& work);

/// The results of `work(i)` for every i in [0, count), taken in that order, while up to `threads`
/// are worked on: no more wait to be taken, however many there are.
template <class Result>
class WorkAhead {
 public:
  /// With one thread nothing is done ahead: each is worked on by who takes it, as is one alone.
  WorkAhead(std::size_t count, unsigned threads, std::function<Result(std::size_t)> work)
      : count_(count), threads_(count > 1 ? std::max(threads, 1U) : 1), work_(std::move(work)) {}

  /// Until the next, of which there must be one, can be taken.
  void wait() {
    while (next_ < count_ && begun_.size() < threads_) begun_.push_back(begin(next_++));
    begun_.front().wait();
  }
  /// The result of the next i. Throws what the work threw.
  Result take() {
    wait();
    std::future<Result> first = std::move(begun_.front());
    begun_.pop_front();
    return first.get();
  }

 private:
  std::future<Result> begin(std::size_t i) {
    if (threads_ > 1) {
      try {
        return std::async(std::launch::async, work_, i);
      } catch (const std::system_error&) {
        // No more threads are to be had.
      }
    }
    return std::async(std::launch::deferred, work_, i);
  }

  std::size_t count_;
  std::size_t threads_;
  std::function<Result(std::size_t)> work_;
  std::size_t next_ = 0;
  std::deque<std::future<Result>> begun_;  ///< not taken yet; ended before all else
};

}  // namespace memreplay
