#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "analysis/vary/predict.hpp"

namespace memreplay {

/// Which values of a parameter a program was recorded at, and which one is asked for.
struct Variation {
  std::string name;
  std::vector<std::int64_t> values;  ///< the recordings' values, in their order; none twice
  std::optional<std::int64_t> at;
};

/// Recordings of one program at several values of a parameter. Those that end at an OOM before one
/// whole step is known are left out.
class VariedProgram {
 public:
  /// The recordings outlive this. Throws UsageError where they are not of the same devices, or
  /// where fewer than two are left; only `gpu` of each, when it is given.
  VariedProgram(const std::deque<Recording>& recordings, const Variation& variation,
                std::optional<int> gpu);

  const std::string& name() const { return name_; }
  /// Ascending.
  const std::vector<std::int64_t>& values() const { return values_; }
  std::size_t devices() const { return devices_.size(); }
  /// The recordings of one device, in the order of the values.
  const std::deque<Subject>& subjects(std::size_t device) const { return devices_[device]; }

  /// The program on each device, as recorded where it was. `without`: the index of a value that is
  /// left out.
  std::vector<MadeRecordings> at(std::int64_t value, std::optional<std::size_t> without = {}) const;

 private:
  MadeRecordings recorded(std::size_t device, std::size_t i) const;

  std::string name_;
  std::vector<LeftOutSource> left_out_;
  std::vector<std::int64_t> values_;
  std::vector<std::deque<Subject>> devices_;
  std::vector<std::vector<std::vector<StartTried>>> starts_tried_;  ///< by device and value
};

}  // namespace memreplay
