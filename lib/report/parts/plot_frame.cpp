#include "report/parts/plot_frame.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kMostColumns = 64;
constexpr std::size_t kLeastColumns = 24;
constexpr std::size_t kLabel = 10;   ///< columns of a size beside the axis
constexpr std::size_t kBeside = 14;  ///< columns of a line that are not the plot's
constexpr std::size_t kRowsOfATick = 4;

constexpr PlotGlyphs kUnicode = {.inner = "█",
                                 .outer = "░",
                                 .beyond = "▒",
                                 .side = "│",
                                 .tick = "┤",
                                 .corner = "└",
                                 .line = "─",
                                 .limit = "╌",
                                 .mark_above = "▼",
                                 .mark_below = "●",
                                 .oom = "✕"};
constexpr PlotGlyphs kAscii = {.inner = "#",
                               .outer = ".",
                               .beyond = ":",
                               .side = "|",
                               .tick = "+",
                               .corner = "+",
                               .line = "-",
                               .limit = "-",
                               .mark_above = "v",
                               .mark_below = "o",
                               .oom = "x"};

}  // namespace

PlotFrame::PlotFrame(Bytes top, std::size_t rows, bool unicode, std::size_t width)
    : top_(top),
      rows_(rows),
      glyphs_(unicode ? kUnicode : kAscii),
      columns_(std::clamp(width - std::min(width, kBeside), kLeastColumns, kMostColumns)) {}

bool PlotFrame::is_widest() const { return columns_ == kMostColumns; }

std::size_t PlotFrame::rows_of(Bytes value) const {
  if (value == 0) return 0;
  const double share = static_cast<double>(value) / static_cast<double>(top_);
  return std::max<std::size_t>(1,
                               static_cast<std::size_t>(share * static_cast<double>(rows_) + 0.5));
}

std::size_t PlotFrame::row_at(Bytes value) const {
  return std::max<std::size_t>(1, rows_of(value)) - 1;
}

std::string PlotFrame::line_of(const std::string& label, const char* border,
                               std::string drawn) const {
  while (!drawn.empty() && drawn.back() == ' ') drawn.pop_back();
  return fmt::format(" {:>{}} {}{}\n", label, kLabel, border, drawn);
}

std::string PlotFrame::plain_line(const std::string& label, const std::string& drawn) const {
  return line_of(label, " ", drawn);
}

std::string PlotFrame::mark(std::size_t column, const std::string& text) const {
  if (column + text.size() + 2 <= columns_) {
    return plain_line("", fmt::format("{:{}}{} {}", "", column, glyphs_.mark_above, text));
  }
  const std::size_t before = std::max(column, std::size_t{1}) - 1;
  return plain_line("", fmt::format("{:>{}} {}", text, before, glyphs_.mark_above));
}

std::string PlotFrame::area(const Cell& cell) const {
  std::string out;
  for (std::size_t row = rows_; row-- > 0;) {
    std::string drawn;
    for (std::size_t column = 0; column < columns_; ++column) drawn += cell(row, column);
    const bool labelled = (row + 1) % kRowsOfATick == 0;
    const Bytes size = top_ / rows_ * (row + 1) + top_ % rows_ * (row + 1) / rows_;
    out += line_of(labelled ? human_size(size) : "", labelled ? glyphs_.tick : glyphs_.side, drawn);
  }
  std::string axis;
  for (std::size_t column = 0; column < columns_; ++column) axis += glyphs_.line;
  return out + line_of("0", glyphs_.corner, axis);
}

std::string PlotFrame::ends(const std::string& label, const std::string& first,
                            const std::string& last) const {
  return plain_line(label, fmt::format("{}{:>{}}", first, last, columns_ - first.size()));
}

}  // namespace memreplay
