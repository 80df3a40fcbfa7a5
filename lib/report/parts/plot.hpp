#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "metrics/run_picture.hpp"

namespace memreplay {

/// The curves of a picture in characters, less than 80 columns, or `width`, and 18 lines: reserved
/// over what is in use (`inner`: "allocated"), each column showing its highest value; the peak
/// named above, OOMs marked under the axis. Without `unicode` in ASCII. Empty where there is
/// nothing to draw.
std::string plot(const RunPicture& picture, const std::string& inner, bool unicode,
                 std::size_t width = 80);

struct PlotGlyphs {
  const char *inner, *outer, *beyond;  ///< what columns are filled with
  const char *side, *tick, *corner, *line, *limit;
  const char *mark_above, *mark_below, *oom;
};

/// What plots in characters share: glyphs, sizes upwards at the left, lines of less than 80
/// columns.
class PlotFrame {
 public:
  /// Rows from 0 to `top`, which is not 0, of lines with `width` columns. Without `unicode` ASCII.
  PlotFrame(Bytes top, std::size_t rows, bool unicode, std::size_t width);

  const PlotGlyphs& glyphs() const { return glyphs_; }
  std::size_t columns() const { return columns_; }
  /// Not narrowed by the width.
  bool is_widest() const;

  /// Rows that a value fills, the nearest number; what there is is seen.
  std::size_t rows_of(Bytes value) const;
  /// The row in which a value is.
  std::size_t row_at(Bytes value) const;

  /// The rows from the top, the sizes at every fourth, and the axis below them.
  using Cell = std::function<const char*(std::size_t row, std::size_t column)>;
  std::string area(const Cell& cell) const;

  std::string line_of(const std::string& label, const char* border, std::string drawn) const;
  std::string plain_line(const std::string& label, const std::string& drawn) const;
  /// A mark over a column, and what it says.
  std::string mark(std::size_t column, const std::string& text) const;
  /// The ends of what the axis shows.
  std::string ends(const std::string& label, const std::string& first,
                   const std::string& last) const;

 private:
  Bytes top_;
  std::size_t rows_;
  const PlotGlyphs& glyphs_;
  std::size_t columns_;
};

}  // namespace memreplay
