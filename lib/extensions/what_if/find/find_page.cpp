#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "core/units.hpp"
#include "extensions/what_if/find/answer.hpp"
#include "extensions/what_if/find/find_report.hpp"
#include "extensions/what_if/find/phrases.hpp"
#include "report/parts/escapes.hpp"
#include "report/parts/html.hpp"
#include "report/parts/sizes.hpp"

namespace memreplay {
namespace {

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

constexpr Bytes kMostSizesNamed = 6;
constexpr std::int64_t kMostValuesNamed = 10;

Bytes step_of_sizes(Bytes top) {
  Bytes step = 1;
  while (top / step > kMostSizesNamed) step *= 2;
  return step;
}

/// 1, 2, 5, 10, 20, …
std::int64_t step_of_values(std::int64_t last) {
  for (std::int64_t step = 1;; step *= 10) {
    for (const std::int64_t part : {1, 2, 5}) {
      if (last / (part * step) <= kMostValuesNamed) return part * step;
    }
  }
}

double ValueAxes::x(std::int64_t value) const {
  return kLeft + (kRight - kLeft) * static_cast<double>(value) / static_cast<double>(last_);
}

double ValueAxes::y(Bytes size) const {
  return kBottom - (kBottom - kTop) * static_cast<double>(size) / static_cast<double>(top_);
}

std::string ValueAxes::text(const std::string& name) const {
  std::string out;
  const Bytes size_step = step_of_sizes(top_);
  std::vector<Bytes> sizes;
  for (Bytes size = size_step; size <= top_; size += size_step) sizes.push_back(size);
  std::vector<std::string> names = sizes_beside(sizes);
  sizes.push_back(0);
  names.emplace_back("0");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    out += fmt::format(
        "<path class=\"grid\" d=\"M{0} {1:.1f}H{2}\"/><text x=\"{3}\" y=\"{4:.1f}\" "
        "class=\"end\">{5}</text>\n",
        kLeft, y(sizes[i]), kRight, kLeft - 8, y(sizes[i]) + 5, names[i]);
  }
  const std::int64_t value_step = step_of_values(last_);
  for (std::int64_t value = 0; value <= last_; value += value_step) {
    out += fmt::format(
        "<path class=\"grid\" d=\"M{0:.1f} {1}V{2}\"/><text x=\"{0:.1f}\" y=\"{3}\" "
        "class=\"middle\">{4}</text>\n",
        x(value), kBottom, kBottom + 5, kBottom + 22, value_name(value));
  }
  out += fmt::format("<text x=\"{}\" y=\"{}\" class=\"middle\">{}</text>\n", (kLeft + kRight) / 2,
                     kBottom + 46, markup_text(name));
  return out + fmt::format("<text x=\"{}\" y=\"{}\">peak memory</text>\n", 8, kTop - 14);
}

constexpr std::size_t kCurveColours = 5;  ///< those of the page that lines can have
constexpr double kLineOfText = 20;

using SizeTried = std::function<Bytes(const ValueTried&)>;

BytesInterval reserved_interval(const ValueTried& tried) {
  return tried.interval ? tried.interval->peak_reserved
                        : BytesInterval{tried.peak_reserved, tried.peak_reserved};
}

bool is_open(const FoundValue& found) {
  return std::ranges::any_of(values_shown(found), [](const ValueTried* tried) {
    const BytesInterval interval = reserved_interval(*tried);
    return interval.low < interval.high;
  });
}

std::string colour_of(std::size_t strategy) {
  const std::size_t round = strategy / kCurveColours;
  return fmt::format("s{}{}", strategy % kCurveColours, round % 2 == 1 ? " dashed" : "");
}

class CurvesPicture {
 public:
  CurvesPicture(std::span<const FoundValue> found, const std::string& name)
      : found_(found), name_(name), axes_(last_value(found), top_of(found)) {}

  std::string text() const {
    std::string out =
        fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"peak memory by {}\">\n",
                    ValueAxes::kWidth, ValueAxes::kHeight, markup_text(name_));
    out += axes_.text(name_);
    for (std::size_t i = 0; i < found_.size(); ++i) out += band(i);
    out += line(found_.front(), "requested", [](auto& tried) { return tried.peak_requested; });
    if (found_.size() == 1) {
      out += line(found_.front(), "allocated", [](auto& tried) { return tried.peak_allocated; });
    }
    out += device();
    for (std::size_t i = 0; i < found_.size(); ++i) {
      out += line(found_[i], colour_of(i), [](auto& tried) { return tried.peak_reserved; });
    }
    for (std::size_t i = 0; i < found_.size(); ++i) out += points(i);
    for (std::size_t i = 0; i < found_.size(); ++i) out += largest(i);
    return out + "</svg>\n";
  }

  std::string legend() const {
    std::string out = "<ul class=\"legend\">\n" + key_of_line("requested", "requested");
    if (found_.size() == 1) out += key_of_line("allocated", "allocated");
    for (std::size_t i = 0; i < found_.size(); ++i) {
      out += key_of_line(colour_of(i), "reserved under " + found_[i].strategy);
      if (is_open(found_[i])) {
        out += key("<path class=\"band " + colour_of(i) + "\" d=\"M0 0H28V12H0z\"/>",
                   "range that the recordings leave open");
      }
    }
    out += key_of_line("bound", device_with_room(found_.front().device));
    out += key("<circle class=\"point recorded\" cx=\"14\" cy=\"6\" r=\"5\"/>", "recorded");
    out += key("<circle class=\"point\" cx=\"14\" cy=\"6\" r=\"5\"/>", "predicted");
    return out + "</ul>\n";
  }

 private:
  static std::int64_t last_value(std::span<const FoundValue> found) {
    std::int64_t last = 1;
    for (const FoundValue& one : found) {
      for (const ValueTried* tried : values_shown(one)) last = std::max(last, tried->value);
    }
    return last;
  }

  // With some room above the device's line, for what is written there.
  static Bytes top_of(std::span<const FoundValue> found) {
    Bytes top = found.front().device.usable();
    for (const FoundValue& one : found) {
      for (const ValueTried* tried : values_shown(one)) {
        top = std::max(
            {top, tried->peak_requested, tried->peak_reserved, reserved_interval(*tried).high});
      }
    }
    return std::max<Bytes>(1, top + top / 8);
  }

  std::string at(std::int64_t value, Bytes size) const {
    return fmt::format("{:.1f} {:.1f}", axes_.x(value), axes_.y(size));
  }

  std::string line(const FoundValue& found, const std::string& kind, const SizeTried& size) const {
    std::string path;
    for (const ValueTried* tried : values_shown(found)) {
      path += (path.empty() ? "M" : "L") + at(tried->value, size(*tried));
    }
    return fmt::format("<path class=\"line {}\" d=\"{}\"/>\n", kind, path);
  }

  std::string band(std::size_t strategy) const {
    if (!is_open(found_[strategy])) return {};
    std::vector<const ValueTried*> shown = values_shown(found_[strategy]);
    std::string path;
    for (const ValueTried* tried : shown) {
      path += (path.empty() ? "M" : "L") + at(tried->value, reserved_interval(*tried).high);
    }
    std::ranges::reverse(shown);
    for (const ValueTried* tried : shown) {
      path += "L" + at(tried->value, reserved_interval(*tried).low);
    }
    return fmt::format("<path class=\"band {}\" d=\"{}z\"/>\n", colour_of(strategy), path);
  }

  std::string device() const {
    const DeviceSummary& device = found_.front().device;
    const Bytes usable = device.usable();
    if (usable == 0) return {};
    return fmt::format(
        "<path class=\"bound\" d=\"M{0} {1:.1f}H{2}\"/><text x=\"{3}\" y=\"{4:.1f}\">{5}</text>\n",
        ValueAxes::kLeft, axes_.y(usable), ValueAxes::kRight, ValueAxes::kLeft + 8,
        axes_.y(usable) - 8, markup_text(device_with_room(device)));
  }

  std::string told(const FoundValue& found, const ValueTried& tried) const {
    return fmt::format("{} = {}, {}: requested {}, allocated {}, reserved {}; {}, {}", name_,
                       value_name(tried.value), found.strategy, human_size(tried.peak_requested),
                       human_size(tried.peak_allocated), reserved_text(tried),
                       tried.fits ? "fits" : "does not fit",
                       tried.recorded ? "recorded" : "predicted");
  }

  std::string points(std::size_t strategy) const {
    std::string out;
    for (const ValueTried* tried : values_shown(found_[strategy])) {
      out += fmt::format(
          "<circle class=\"point {}{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"><title>{}</title>"
          "</circle>\n",
          colour_of(strategy), tried->recorded ? " recorded" : "", axes_.x(tried->value),
          axes_.y(tried->peak_reserved), markup_text(told(found_[strategy], *tried)));
    }
    return out;
  }

  // Named over the axis, where curves that rise leave room, on a line of its own.
  std::string largest(std::size_t strategy) const {
    const FoundValue& found = found_[strategy];
    const auto there =
        std::ranges::find(found.tried, found.largest.value_or(0), &ValueTried::value);
    if (there == found.tried.end()) return {};
    const double x = axes_.x(there->value);
    const double y = axes_.y(there->peak_reserved);
    const bool left = x > (ValueAxes::kLeft + ValueAxes::kRight) / 2;
    const auto lines_below = static_cast<double>(found_.size() - 1 - strategy);
    return fmt::format(
        "<path class=\"lead\" d=\"M{0:.1f} {1:.1f}V{2}\"/>"
        "<circle class=\"ring {6}\" cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"10\"/>"
        "<text class=\"{3}\" x=\"{4:.1f}\" y=\"{5:.1f}\">{7}</text>\n",
        x, y, ValueAxes::kBottom, left ? "end strong" : "strong", x + (left ? -8 : 8),
        ValueAxes::kBottom - 12 - lines_below * kLineOfText, colour_of(strategy),
        markup_text(largest_label(found)));
  }

  std::string largest_label(const FoundValue& found) const {
    const std::string label = fmt::format("{} = {}", name_, value_name(*found.largest));
    return found_.size() == 1 ? label : fmt::format("{}: {}", found.strategy, label);
  }

  static std::string key(const std::string& drawn, const std::string& text) {
    return fmt::format("<li><svg class=\"key\" viewBox=\"0 0 28 12\">{}</svg>{}</li>\n", drawn,
                       markup_text(text));
  }
  static std::string key_of_line(const std::string& kind, const std::string& text) {
    return key(
        fmt::format("<path class=\"{}{}\" d=\"M0 6H28\"/>", kind == "bound" ? "" : "line ", kind),
        text);
  }

  std::span<const FoundValue> found_;
  const std::string& name_;
  ValueAxes axes_;
};

/// Strategies on one device as SVG: peaks by the value of the parameter, the device as a line, the
/// largest that fits of each named, and what the lines are below. For one strategy requested,
/// allocated and reserved, for several requested and what each reserves, with the interval where a
/// recording leaves one. Draws nothing where nothing was tried. `found` is not empty.
void draw_curves(std::span<const FoundValue> found, const std::string& name, std::ostream& out) {
  if (std::ranges::all_of(found, [](auto& one) { return one.tried.empty(); })) return;
  const CurvesPicture picture(found, name);
  out << picture.text() << picture.legend();
}

constexpr std::string_view kFindStyle =
    R"(svg text { font-size: 15px; fill: currentColor; paint-order: stroke; stroke: Canvas;
  stroke-width: 4px; }
svg .end { text-anchor: end; } svg .middle { text-anchor: middle; }
svg .strong { font-weight: bold; }
.grid { stroke: currentColor; opacity: 0.2; }
.line { fill: none; stroke-width: 2; }
.requested { stroke: currentColor; stroke-dasharray: 2 4; }
.allocated { stroke: currentColor; opacity: 0.6; }
.s0 { --line: var(--c4); } .s1 { --line: var(--c5); } .s2 { --line: var(--c2); }
.s3 { --line: var(--c6); } .s4 { --line: var(--c1); }
@media (prefers-color-scheme: dark) { .s0 { --line: var(--c0); } }
.s0, .s1, .s2, .s3, .s4 { stroke: var(--line); }
.dashed { stroke-dasharray: 10 3; }
.band { stroke: none; fill: var(--line); opacity: 0.2; }
.point { fill: Canvas; stroke-width: 2; stroke-dasharray: none; }
.recorded { fill: var(--line, currentColor); }
.key .point { stroke: currentColor; }
.ring { fill: none; stroke-width: 2; stroke-dasharray: none; }
.lead { stroke: currentColor; stroke-dasharray: 2 3; opacity: 0.6; }
.legend { display: flex; flex-wrap: wrap; gap: 0.3rem 1.5rem; padding: 0; list-style: none; }
.key { width: 28px; height: 12px; border: none; margin-right: 0.5rem; overflow: visible; }
table { border-collapse: collapse; margin: 1rem 0; }
caption { text-align: left; font-weight: bold; }
th, td { padding: 0.1rem 1rem 0.1rem 0; text-align: right; }
th { border-bottom: 1px solid #8c959f; }
.left { text-align: left; }
.scrolls-wide { overflow-x: auto; }
)";

/// One span for each device; its values stand side by side.
std::vector<std::span<const FoundValue>> by_device(const std::vector<FoundValue>& found) {
  std::vector<std::span<const FoundValue>> devices;
  for (std::size_t from = 0, to = 0; from < found.size(); from = to) {
    const auto same = [&](const FoundValue& other) {
      return device_with_room(other.device) == device_with_room(found[from].device);
    };
    while (to < found.size() && same(found[to])) ++to;
    devices.emplace_back(found.data() + from, to - from);
  }
  return devices;
}

void write_sentences(const std::vector<std::string>& sentences, std::ostream& out) {
  for (const std::string& sentence : sentences) out << html_text("p", sentence);
}

}  // namespace

void write_page(const FindAnswer& answer, std::ostream& out) {
  const std::string& name = answer.facts.name;
  const std::string heading = fmt::format("The largest {} that fits", name);
  out << page_beginning(heading, kFindStyle, heading);
  write_sentences(found_sentences(answer), out);
  const auto devices = by_device(answer.found);
  for (const std::span<const FoundValue> device : devices) {
    if (devices.size() > 1) out << html_text("h2", device_name(device.front().device));
    draw_curves(device, name, out);
  }
  out << html_text("p", "Lines connect the computed points; nothing between them was computed.",
                   "quiet");
  if (answer.found.size() > 1) {
    out << html_table(largest_table(answer), "For each strategy on each device");
  }
  for (const FoundValue& found : answer.found) {
    out << html_table(curve_table(found, answer.facts), found_name(found));
  }
  if (!answer.held_back.empty()) {
    out << html_table(held_back_table(answer), held_back_sentence(answer));
  }
  write_sentences(closing_sentences(answer), out);
  out << kPageEnd;
}

}  // namespace memreplay
