#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/units.hpp"

namespace memreplay {

/// Where things of a picture of peaks by values are, in the units of its view box.
class ValueAxes {
 public:
  static constexpr double kWidth = 1000, kHeight = 520;
  static constexpr double kLeft = 92, kRight = 976, kTop = 36, kBottom = 460;

  /// From 0 to the two, which are not.
  ValueAxes(std::int64_t last, Bytes top) : last_(last), top_(top) {}

  double x(std::int64_t value) const;
  double y(Bytes size) const;

  /// The frame, with sizes at multiples of a power of two and round values.
  std::string text(const std::string& name) const;

 private:
  std::int64_t last_;
  Bytes top_;
};

}  // namespace memreplay
