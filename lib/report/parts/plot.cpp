#include "report/parts/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

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

constexpr std::size_t kRowsOfAPicture = 12;

/// What of the plot is drawn in a column.
using Heights = std::vector<std::int64_t>;

CurvePoint highest_of(const RunPicture& picture) {
  const auto& highest = picture.reserved.empty() ? picture.allocated : picture.reserved;
  return *std::ranges::max_element(highest, {}, &CurvePoint::value);
}

class Plot {
 public:
  Plot(const RunPicture& picture, std::string inner, bool unicode, std::size_t width)
      : picture_(picture),
        inner_name_(std::move(inner)),
        peak_(highest_of(picture)),
        frame_(static_cast<Bytes>(peak_.value), kRowsOfAPicture, unicode, width) {
    inner_ = heights(picture.allocated);
    outer_ = heights(picture.reserved);
  }

  std::string text() const {
    const PlotGlyphs& glyphs = frame_.glyphs();
    const auto cell = [&](std::size_t row, std::size_t column) {
      return row < rows_of(inner_[column])   ? glyphs.inner
             : row < rows_of(outer_[column]) ? glyphs.outer
                                             : " ";
    };
    return peak_line() + frame_.area(cell) +
           frame_.ends("event", human_count(picture_.from), human_count(picture_.to)) + ooms() +
           legend();
  }

 private:
  std::size_t column_of(std::uint64_t moment) const {
    const std::size_t columns = frame_.columns();
    const std::uint64_t all = picture_.to - picture_.from + 1;
    const double share =
        static_cast<double>(moment - picture_.from) / static_cast<double>(std::max(all, kLeast));
    return std::min(columns - 1, static_cast<std::size_t>(share * static_cast<double>(columns)));
  }

  // The value with which a column begins counts too: a curve keeps it until it changes.
  Heights heights(const std::vector<CurvePoint>& points) const {
    Heights highest(frame_.columns());
    std::size_t column = 0;
    std::int64_t value = 0;
    for (const CurvePoint& point : points) {
      const std::size_t there = column_of(point.event);
      for (; column < there; ++column) highest[column + 1] = value;
      value = point.value;
      highest[column] = std::max(highest[column], value);
    }
    for (; column + 1 < highest.size(); ++column) highest[column + 1] = value;
    return highest;
  }

  std::size_t rows_of(std::int64_t value) const {
    return frame_.rows_of(static_cast<Bytes>(std::max<std::int64_t>(0, value)));
  }

  std::string peak_line() const {
    const std::string name = picture_.reserved.empty() ? inner_name_ : "reserved";
    // The first moment is before any event.
    const std::uint64_t moment = picture_.reserved.empty() ? peak_.event : picture_.fullest;
    const std::uint64_t event = std::max(moment, picture_.from + 1) - 1;
    const std::string text =
        fmt::format("{} peak {}, event {}", name, human_size(static_cast<Bytes>(peak_.value)),
                    human_count(event));
    return frame_.mark(column_of(moment), text);
  }

  std::string ooms() const {
    if (picture_.ooms.empty()) return {};
    std::vector<bool> marked(frame_.columns());
    std::uint64_t count = picture_.ooms_left_out;
    for (const RunPicture::Oom& oom : picture_.ooms) {
      marked[column_of(oom.event + 1)] = true;
      count += oom.count;
    }
    std::string drawn;
    for (const bool oom : marked) drawn += oom ? frame_.glyphs().oom : " ";
    return frame_.plain_line(fmt::format("OOM {}", human_count(count)), drawn);
  }

  std::string legend() const {
    const std::string unused = picture_.reserved.empty() ? ""
                                                         : fmt::format("   {} reserved beyond that",
                                                                       frame_.glyphs().outer);
    const char* how = frame_.is_widest() ? "   (highest of each column)" : "";
    return frame_.plain_line(
        "", fmt::format("{} {}{}{}", frame_.glyphs().inner, inner_name_, unused, how));
  }

  static constexpr std::uint64_t kLeast = 1;
  const RunPicture& picture_;
  std::string inner_name_;
  CurvePoint peak_;
  PlotFrame frame_;
  Heights inner_;
  Heights outer_;
};

}  // namespace

std::string plot(const RunPicture& picture, const std::string& inner, bool unicode,
                 std::size_t width) {
  if (picture.allocated.empty() || picture.from == picture.to) return {};
  if (highest_of(picture).value <= 0) return {};
  return Plot(picture, inner, unicode, width).text();
}

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
