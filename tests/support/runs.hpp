#pragma once

#include <string>

#include "run/answer.hpp"

namespace memreplay {

struct RunFigures {
  Bytes reserved = 0;
  Bytes allocated = 0;
  std::uint64_t device_allocs = 0;
  std::uint64_t ooms = 0;
};

inline Run run_of(std::string strategy, RunFigures figures) {
  Run run;
  run.strategy = std::move(strategy);
  run.metrics.peak_requested = figures.allocated;
  run.metrics.peak_allocated = figures.allocated;
  run.metrics.peak_reserved = figures.reserved;
  run.metrics.device_allocs = figures.device_allocs;
  run.metrics.ooms = figures.ooms;
  return run;
}

}  // namespace memreplay
