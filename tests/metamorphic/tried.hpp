#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "run/inputs.hpp"
#include "run/question.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// A trace on which the rules are tried.
struct TriedTrace {
  std::string name;  ///< as a part of a test's name
  std::function<Recording()> recording;
};
inline void PrintTo(const TriedTrace& trace, std::ostream* out) { *out << trace.name; }

TriedTrace random_trace(std::uint64_t seed);
/// Some traces, quickly tried.
std::vector<TriedTrace> sample();
/// Every bundled trace, every reader's samples, every workload, and many random ones.
std::vector<TriedTrace> every_trace();

/// A rule is a test over traces, so that its name, which runs it again, has both. Failures name the
/// strategy, where there are several.
class Rule : public testing::TestWithParam<TriedTrace> {
 protected:
  Rule() : recording_(GetParam().recording()) {
    std::seed_seq seed(GetParam().name.begin(), GetParam().name.end());
    random_.seed(seed);
  }

  Recording recording_;
  std::mt19937_64 random_;  ///< the same for the same trace
};

/// Tries the rules of a suite on a sample by default, on every trace among the long tests.
#define MEMREPLAY_TRY_RULES(suite)                                                  \
  INSTANTIATE_TEST_SUITE_P(Sample, suite, testing::ValuesIn(sample()), trace_name); \
  INSTANTIATE_TEST_SUITE_P(Long, suite, testing::ValuesIn(every_trace()), trace_name)
inline std::string trace_name(const testing::TestParamInfo<TriedTrace>& info) {
  return info.param.name;
}

/// The recordings as if they had been read, named 0, 1, …; with these edits made.
Inputs inputs_of(const std::vector<const Recording*>& recordings,
                 const std::vector<std::string>& edits = {});
inline Inputs inputs_of(const Recording& recording) { return inputs_of({&recording}); }

/// Every strategy on a simulated device; `recorded` where there are settings for it.
std::vector<StrategySpec> strategies_for(const Recording& recording);

ReplayAnswer replayed(const Inputs& inputs, const std::vector<StrategySpec>& strategies,
                      const Setup& setup = {});
/// Under every one of them.
ReplayAnswer replayed(const Recording& recording, const Setup& setup = {});

/// Runs have the same figures, times aside.
void expect_same(const Run& now, const Run& before);
void expect_same(const ReplayAnswer& now, const ReplayAnswer& before);

}  // namespace memreplay
