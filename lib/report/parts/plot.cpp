#include "report/parts/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/text.hpp"
#include "report/parts/plot_frame.hpp"

namespace memreplay {
namespace {

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

}  // namespace memreplay
