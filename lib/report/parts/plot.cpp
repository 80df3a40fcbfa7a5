#include "report/parts/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/text.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kMostColumns = 64;
constexpr std::size_t kLeastColumns = 24;
constexpr std::size_t kRows = 12;
constexpr std::size_t kLabel = 10;   ///< columns of a size beside the axis
constexpr std::size_t kBeside = 14;  ///< columns of a line that are not the plot's

struct Glyphs {
  const char *inner, *outer, *side, *tick, *corner, *line, *peak, *oom;
};
constexpr Glyphs kUnicode = {"█", "░", "│", "┤", "└", "─", "▼", "✕"};
constexpr Glyphs kAscii = {"#", ".", "|", "+", "+", "-", "v", "x"};

/// What of the plot is drawn in a column.
using Heights = std::vector<std::int64_t>;

class Plot {
 public:
  Plot(const RunPicture& picture, std::string inner, const Glyphs& glyphs, std::size_t columns)
      : picture_(picture), inner_name_(std::move(inner)), glyphs_(glyphs), columns_(columns) {
    inner_ = heights(picture.allocated);
    outer_ = heights(picture.reserved);
    const auto& highest = picture.reserved.empty() ? picture.allocated : picture.reserved;
    peak_ = *std::ranges::max_element(highest, {}, &CurvePoint::value);
  }

  std::string text() const {
    if (peak_.value <= 0) return {};
    std::string out = peak_line();
    for (std::size_t row = kRows; row-- > 0;) out += row_text(row);
    return out + axis() + ooms() + legend();
  }

 private:
  std::size_t column_of(std::uint64_t moment) const {
    const std::uint64_t all = picture_.to - picture_.from + 1;
    const double share =
        static_cast<double>(moment - picture_.from) / static_cast<double>(std::max(all, kLeast));
    return std::min(columns_ - 1, static_cast<std::size_t>(share * static_cast<double>(columns_)));
  }

  // The value with which a column begins counts too: a curve keeps it until it changes.
  Heights heights(const std::vector<CurvePoint>& points) const {
    Heights highest(columns_);
    std::size_t column = 0;
    std::int64_t value = 0;
    for (const CurvePoint& point : points) {
      const std::size_t there = column_of(point.event);
      for (; column < there; ++column) highest[column + 1] = value;
      value = point.value;
      highest[column] = std::max(highest[column], value);
    }
    for (; column + 1 < columns_; ++column) highest[column + 1] = value;
    return highest;
  }

  // Rows that a value fills, the nearest number; what there is is seen.
  std::size_t rows_of(std::int64_t value) const {
    if (value <= 0) return 0;
    const double share = static_cast<double>(value) / static_cast<double>(peak_.value);
    return std::max<std::size_t>(1, static_cast<std::size_t>(share * kRows + 0.5));
  }

  std::string line_of(const std::string& label, const char* border, std::string drawn) const {
    while (!drawn.empty() && drawn.back() == ' ') drawn.pop_back();
    return fmt::format(" {:>{}} {}{}\n", label, kLabel, border, drawn);
  }

  std::string peak_line() const {
    const std::string name = picture_.reserved.empty() ? inner_name_ : "reserved";
    // The first moment is before any event.
    const std::uint64_t moment = picture_.reserved.empty() ? peak_.event : picture_.fullest;
    const std::uint64_t event = std::max(moment, picture_.from + 1) - 1;
    const std::string text =
        fmt::format("{} peak {}, event {}", name, human_size(static_cast<Bytes>(peak_.value)),
                    human_count(event));
    const std::size_t column = column_of(moment);
    if (column + text.size() + 2 <= columns_) {
      return line_of("", " ", fmt::format("{:{}}{} {}", "", column, glyphs_.peak, text));
    }
    return line_of(
        "", " ",
        fmt::format("{:>{}} {}", text, std::max(column, std::size_t{1}) - 1, glyphs_.peak));
  }

  std::string row_text(std::size_t row) const {
    std::string drawn;
    for (std::size_t column = 0; column < columns_; ++column) {
      drawn += row < rows_of(inner_[column])   ? glyphs_.inner
               : row < rows_of(outer_[column]) ? glyphs_.outer
                                               : " ";
    }
    constexpr std::size_t kEvery = 4;
    const bool labelled = (row + 1) % kEvery == 0;
    const auto size = static_cast<Bytes>(peak_.value) / kRows * (row + 1) +
                      static_cast<Bytes>(peak_.value) % kRows * (row + 1) / kRows;
    return line_of(labelled ? human_size(size) : "", labelled ? glyphs_.tick : glyphs_.side, drawn);
  }

  std::string axis() const {
    std::string line;
    for (std::size_t column = 0; column < columns_; ++column) line += glyphs_.line;
    const std::string first = human_count(picture_.from);
    const std::string last = human_count(picture_.to);
    return line_of("0", glyphs_.corner, line) +
           line_of("event", " ", fmt::format("{}{:>{}}", first, last, columns_ - first.size()));
  }

  std::string ooms() const {
    if (picture_.ooms.empty()) return {};
    std::vector<bool> marked(columns_);
    std::uint64_t count = picture_.ooms_left_out;
    for (const RunPicture::Oom& oom : picture_.ooms) {
      marked[column_of(oom.event + 1)] = true;
      count += oom.count;
    }
    std::string drawn;
    for (const bool oom : marked) drawn += oom ? glyphs_.oom : " ";
    return line_of(fmt::format("OOM {}", human_count(count)), " ", drawn);
  }

  std::string legend() const {
    const std::string unused =
        picture_.reserved.empty() ? "" : fmt::format("   {} reserved beyond that", glyphs_.outer);
    const char* how = columns_ == kMostColumns ? "   (highest of each column)" : "";
    return line_of("", " ", fmt::format("{} {}{}{}", glyphs_.inner, inner_name_, unused, how));
  }

  static constexpr std::uint64_t kLeast = 1;
  const RunPicture& picture_;
  std::string inner_name_;
  const Glyphs& glyphs_;
  std::size_t columns_;
  Heights inner_;
  Heights outer_;
  CurvePoint peak_;
};

}  // namespace

std::string plot(const RunPicture& picture, const std::string& inner, bool unicode,
                 std::size_t width) {
  if (picture.allocated.empty() || picture.from == picture.to) return {};
  const std::size_t columns =
      std::clamp(width - std::min(width, kBeside), kLeastColumns, kMostColumns);
  return Plot(picture, inner, unicode ? kUnicode : kAscii, columns).text();
}

}  // namespace memreplay
