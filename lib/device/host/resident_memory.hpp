#pragma once

#include <vector>

#include "core/units.hpp"

namespace memreplay {

class ResidentGrowth;

/// The pages of this process that are in memory, shared ones included, by /proc/self/statm. A look
/// takes about a microsecond. Exact on Linux 6.18, as measured; kernels from 6.2 on may keep some
/// 100 KiB a processor uncounted.
class ResidentMemory {
 public:
  ResidentMemory();
  ~ResidentMemory();
  ResidentMemory(const ResidentMemory&) = delete;
  ResidentMemory& operator=(const ResidentMemory&) = delete;

  /// The resident memory now; raises the peaks of all that watch.
  Bytes sample();

 private:
  friend ResidentGrowth;

  int statm_;
  Bytes page_;
  std::vector<ResidentGrowth*> watching_;
};

/// The growth of the resident memory since a moment, now and at most at any sample.
class ResidentGrowth {
 public:
  explicit ResidentGrowth(ResidentMemory& memory);
  ~ResidentGrowth();
  ResidentGrowth(const ResidentGrowth&) = delete;
  ResidentGrowth& operator=(const ResidentGrowth&) = delete;

  /// Counts from now on. What the process's heap keeps free goes back first: blocks placed in pages
  /// that are already resident would not show.
  void begin();
  Bytes now() { return since_begin(memory_->sample()); }
  Bytes peak() const { return since_begin(peak_); }

 private:
  friend ResidentMemory;
  Bytes since_begin(Bytes resident) const { return resident > base_ ? resident - base_ : 0; }

  ResidentMemory* memory_;
  Bytes base_ = 0;
  Bytes peak_ = 0;
};

}  // namespace memreplay
