#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "trace/event_columns.hpp"
#include "trace/trace.hpp"
#include "trace/workloads.hpp"

namespace memreplay {

/// Random numbers from a seed: the same everywhere, which the distributions of the library are not.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(seed) {}

  /// In [0, 1), of 53 bits.
  double share() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  /// In [0, n), of n that is small beside 2^64.
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  /// In [least, most].
  std::uint64_t within(std::uint64_t least, std::uint64_t most) {
    return least + below(most - least + 1);
  }
  /// Exponential, with this mean; at most 37 times the mean.
  double exponential(double mean) { return -mean * std::log1p(-share()); }
  /// In [least, most), equally likely in each power of two. 0 < least.
  double log_uniform(double least, double most) {
    const double from = std::log2(least);
    return std::exp2(from + share() * (std::log2(most) - from));
  }
  /// Bounded Pareto: density ~ x^-(exponent + 1) in [least, most). 0 < exponent, 0 < least.
  double power(double least, double most, double exponent) {
    const double kept = 1 - std::pow(least / most, exponent);
    return least * std::pow(1 - share() * kept, -1 / exponent);
  }

 private:
  std::mt19937_64 random_;
};

/// The options of a workload by their keys, each as given or by its default. What means nothing
/// throws UsageError with the workload, the key and what was expected.
class WorkloadValues {
 public:
  /// `given`: "key=value,…", of keys among `known`; the last one wins.
  WorkloadValues(std::string_view workload, const std::vector<OptionInfo>& known,
                 std::string_view given);

  std::uint64_t whole(std::string_view key, std::uint64_t least, std::uint64_t most) const;
  /// Within [least, most].
  double number(std::string_view key, double least, double most) const;
  /// Within [1 byte, 1 TiB].
  Bytes size(std::string_view key) const;
  /// The index of the value among those that the option's `values` show.
  std::size_t choice(std::string_view key) const;

 private:
  const std::string& text(std::string_view key) const;
  [[noreturn]] void bad(std::string_view key, std::string_view expected) const;

  std::string workload_;
  const std::vector<OptionInfo>& known_;
  std::vector<std::string> texts_;  ///< by option
};

using TakeEvents = std::function<void(const EventColumns&)>;

/// What a workload does, event by event, handed on so many at a time. Memory is bounded by the live
/// blocks.
class WorkloadEvents {
 public:
  /// No more than `most` events; what a workload does after them has no effect. `tagged`: each
  /// event says what it is for.
  WorkloadEvents(std::uint64_t most, bool tagged, const TakeEvents& take)
      : left_(most), tagged_(tagged), take_(take) {}

  bool full() const { return left_ == 0; }
  /// A block of at least 1 byte. `tag`: a text of the workload.
  Slot allocate(Bytes size, std::uint32_t tag = 0);
  void free(Slot slot);
  void mark(std::uint32_t tag) { add(Op::marker, kNoSlot, 0, tag); }
  /// Hands on what is left; gives the number of slots in use.
  Slot finish();

 private:
  void add(Op op, Slot slot, Bytes size, std::uint32_t tag);
  void hand_on();

  std::uint64_t left_;
  bool tagged_;
  const TakeEvents& take_;
  EventColumns events_;
  std::vector<Bytes> sizes_;         ///< by slot
  std::vector<std::uint32_t> tags_;  ///< by slot
  std::vector<Slot> free_slots_;
  Slot slots_ = 0;
};

struct WorkloadOptions {
  std::uint64_t events = 1'000'000;
  std::uint64_t seed = 1;
  std::string live;  ///< the workload's option of that name, of which the recording does not tell
};

/// Hands the events of a workload, NAME or NAME:key=value,…, on as they are made, the same for the
/// same options, and gives the recording that they are of: one trace, without events. Memory is
/// bounded by the live blocks. Throws UsageError for an unknown name, key or value.
Recording generate(const std::string& workload, const WorkloadOptions& options,
                   const TakeEvents& take);

}  // namespace memreplay
