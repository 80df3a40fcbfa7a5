#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <istream>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace memreplay {

/// Requests of a client, a line each, which are read while others are answered: so one can be
/// cancelled. Where there is no thread for that, they are read one after the other.
class McpRequests {
 public:
  /// Longer ones are cut there.
  static constexpr std::size_t kLongest = std::size_t{1} << 20;

  /// Reads to the end of `in`, which is nobody else's from here on.
  explicit McpRequests(std::istream& in);
  /// Where the client still writes, its thread is left waiting.
  ~McpRequests();
  McpRequests(const McpRequests&) = delete;
  McpRequests& operator=(const McpRequests&) = delete;

  /// Waits for the next one; unset after the last.
  std::optional<std::string> next();
  /// Says which one next() gave, by its id as JSON has it. False where it is cancelled already.
  bool begin(const std::string& id);
  /// Becomes true when the one that was begun is cancelled: it gets no answer.
  const std::atomic<bool>& cancelled() const { return shared_->cancelled; }

 private:
  struct Shared {
    explicit Shared(std::istream& from) : in(from) {}

    std::istream& in;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::string> waiting;
    std::set<std::string> cancelled_ids;  ///< requests that were not begun
    std::string begun;                    ///< id; empty: none
    bool has_ended = false;
    std::atomic<bool> cancelled{false};
  };
  static void read(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;
  bool is_read_beside_ = false;
};

}  // namespace memreplay
