#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/text.hpp"
#include "extensions/what_if/find/find_report.hpp"
#include "extensions/what_if/find/phrases.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/plot.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kRowsOfValues = 8;
constexpr std::size_t kLongestAxisName = 10;

/// What was tried of the values in a column: the highest of each kind.
struct ValueColumn {
  const ValueTried* fits = nullptr;
  const ValueTried* fails = nullptr;
  bool recorded = false;
};

Bytes highest_shown(const FoundValue& found) {
  Bytes highest = std::max<Bytes>(1, found.device.usable());
  for (const ValueTried* tried : values_shown(found)) {
    highest = std::max({highest, tried->peak_reserved, tried->peak_requested});
  }
  return highest;
}

class ValuePlot {
 public:
  ValuePlot(const FoundValue& found, const std::string& name, bool unicode, std::size_t width)
      : found_(found),
        name_(name),
        last_(values_shown(found).back()->value),
        frame_(highest_shown(found), kRowsOfValues, unicode, width),
        columns_(frame_.columns()) {
    for (const ValueTried* tried : values_shown(found)) add(*tried);
  }

  std::string text() const {
    const PlotGlyphs& glyphs = frame_.glyphs();
    const Bytes usable = found_.device.usable();
    const std::size_t limit = frame_.row_at(usable);
    const auto cell = [&](std::size_t row, std::size_t at) {
      const ValueColumn& column = columns_[at];
      if (column.fits != nullptr) {
        if (row < frame_.rows_of(column.fits->peak_requested)) return glyphs.inner;
        if (row < frame_.rows_of(column.fits->peak_reserved)) return glyphs.outer;
      }
      if (column.fails != nullptr && row < frame_.rows_of(column.fails->peak_reserved)) {
        return glyphs.beyond;
      }
      return usable > 0 && row == limit ? glyphs.limit : " ";
    };
    return largest_line() + frame_.area(cell) + recorded_line() +
           frame_.ends(name_.size() > kLongestAxisName ? "value" : name_, "0", value_name(last_)) +
           legend();
  }

 private:
  std::size_t column_of(std::int64_t value) const {
    const double share = static_cast<double>(value) / static_cast<double>(last_);
    const std::size_t columns = frame_.columns();
    return std::min(columns - 1, static_cast<std::size_t>(share * static_cast<double>(columns)));
  }

  void add(const ValueTried& tried) {
    ValueColumn& column = columns_[column_of(tried.value)];
    const ValueTried*& kind = tried.fits ? column.fits : column.fails;
    shared_ = shared_ || kind != nullptr;
    if (kind == nullptr || kind->peak_reserved <= tried.peak_reserved) kind = &tried;
    column.recorded = column.recorded || tried.recorded;
  }

  std::string largest_line() const {
    if (!found_.largest) return {};
    const char* so = found_.interrupted || found_.unbounded ? "fits" : "is the largest that fits";
    return frame_.mark(column_of(*found_.largest),
                       fmt::format("{} = {} {}", name_, value_name(*found_.largest), so));
  }

  std::string recorded_line() const {
    if (std::ranges::none_of(columns_, &ValueColumn::recorded)) return {};
    std::string drawn;
    for (const ValueColumn& column : columns_) {
      drawn += column.recorded ? frame_.glyphs().mark_below : " ";
    }
    return frame_.plain_line("recorded", drawn);
  }

  std::string legend() const {
    const PlotGlyphs& glyphs = frame_.glyphs();
    const bool fits = std::ranges::any_of(columns_, [](auto& c) { return c.fits != nullptr; });
    const bool fails = std::ranges::any_of(columns_, [](auto& c) { return c.fails != nullptr; });
    std::string fills;
    if (fits)
      fills = fmt::format("{} requested   {} reserved beyond that", glyphs.inner, glyphs.outer);
    if (fails) {
      fills += fmt::format("{}{} {}", fits ? "   " : "", glyphs.beyond,
                           fits ? "does not fit" : "reserved, does not fit");
    }
    const std::string limit = fmt::format("{} {}{}", glyphs.limit, device_with_room(found_.device),
                                          shared_ ? "   (highest of each column)" : "");
    return frame_.plain_line("", fills) + frame_.plain_line("", limit);
  }

  const FoundValue& found_;
  const std::string& name_;
  std::int64_t last_;
  PlotFrame frame_;
  std::vector<ValueColumn> columns_;
  bool shared_ = false;  ///< a column has several of one kind
};

void append_found(Sheet& out, const FindAnswer& answer, const FoundValue& found) {
  const TextStyle& style = out.style();
  out += '\n';
  if (answer.found.size() > 1) append_paragraph(out, found_name(found) + ":");
  if (answer.plotted) {
    out += value_plot(found, answer.facts.name, style.unicode, out.width());
    out += '\n';
  }
  append_table(out, curve_table(found, answer.facts));
}

}  // namespace

std::string to_text(const FindAnswer& answer, const TextStyle& style) {
  Sheet out(style);
  for (const std::string& sentence : found_sentences(answer)) append_paragraph(out, sentence);
  if (answer.found.size() > 1) {
    out += '\n';
    append_table(out, largest_table(answer));
  }
  for (const FoundValue& found : answer.found) append_found(out, answer, found);
  if (!answer.held_back.empty()) {
    out += '\n';
    append_paragraph(out, held_back_sentence(answer));
    append_table(out, held_back_table(answer));
  }
  out += '\n';
  for (const std::string& sentence : closing_sentences(answer)) append_paragraph(out, sentence);
  return out.text();
}

std::string value_plot(const FoundValue& found, const std::string& name, bool unicode,
                       std::size_t width) {
  if (found.tried.empty()) return {};
  return ValuePlot(found, name, unicode, width).text();
}

}  // namespace memreplay
