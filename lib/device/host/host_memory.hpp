#pragma once

#include <memory>

#include "device/real/real_memory.hpp"

namespace memreplay {

/// The memory of this machine: mapped regions, and a file without a name for virtual memory. Its
/// execution works at once, in the calling thread.
std::unique_ptr<RealMemory> open_host_memory();

/// Work on memory of this machine, done at once by the calling thread: all streams are one.
class HostExecution final : public Execution {
 public:
  void fill(StreamIndex stream, RealRange range, std::uint64_t tag, Touch touch) override;
  void check(StreamIndex stream, RealRange range, std::uint64_t tag, Touch touch) override;
  std::vector<TouchMismatch> mismatches() override;

  Point record(StreamIndex) override { return 0; }
  void forget(Point) override {}
  void wait(Point) override {}
  bool reached(Point) override { return true; }
  void wait(StreamIndex, Point) override {}
  bool same(StreamIndex, StreamIndex) const override { return true; }
  void synchronise() override {}

 private:
  std::vector<TouchMismatch> mismatches_;
};

}  // namespace memreplay
