#pragma once

#include <cuda.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>

namespace stand_in {

/// A point in the work of a stream.
struct Moment {
  bool reached = false;
  std::uint64_t time_ns = 0;  ///< by the double's clock, which only kernels move
  CUstream stream = nullptr;
};

/// Work that was asked of streams and not done yet. It is done as late as possible; of several
/// streams one task each in turn, what was asked for last first.
class Work {
 public:
  Work() { add_stream(nullptr); }

  void add_stream(CUstream stream) { streams_[stream]; }
  bool has_stream(CUstream stream) const { return streams_.contains(stream); }
  void remove_stream(CUstream stream);  ///< after its work is done
  std::size_t streams() const { return streams_.size() - 1; }

  void add(CUstream stream, std::function<void()> task);
  std::shared_ptr<Moment> mark(CUstream stream);
  void wait_for(CUstream stream, std::shared_ptr<Moment> moment);

  void reach(const Moment& moment);
  void finish(CUstream stream);
  void finish_all();

  std::uint64_t time_ns = 0;

 private:
  struct Task {
    std::uint64_t number;
    std::function<void()> run;
    std::shared_ptr<Moment> after;
  };
  static bool is_ready(const Task& task);
  void do_next(CUstream stream);

  std::map<CUstream, std::deque<Task>> streams_;
  std::uint64_t tasks_ = 0;
};

}  // namespace stand_in
