#include "report/find/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "core/text.hpp"
#include "report/find/axes.hpp"
#include "report/find/phrases.hpp"
#include "report/page/html.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kCurveColours = 5;  ///< those of the page that lines can have
constexpr double kLineOfText = 20;

using Size = std::function<Bytes(const ValueTried&)>;

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
                    ValueAxes::kWidth, ValueAxes::kHeight, escaped(name_));
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
                   "what the recordings leave open of it");
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

  std::string line(const FoundValue& found, const std::string& kind, const Size& size) const {
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
        axes_.y(usable) - 8, escaped(device_with_room(device)));
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
          axes_.y(tried->peak_reserved), escaped(told(found_[strategy], *tried)));
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
        escaped(largest_label(found)));
  }

  std::string largest_label(const FoundValue& found) const {
    const std::string label = fmt::format("{} = {}", name_, value_name(*found.largest));
    return found_.size() == 1 ? label : fmt::format("{}: {}", found.strategy, label);
  }

  static std::string key(const std::string& drawn, const std::string& text) {
    return fmt::format("<li><svg class=\"key\" viewBox=\"0 0 28 12\">{}</svg>{}</li>\n", drawn,
                       escaped(text));
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

}  // namespace

void draw_curves(std::span<const FoundValue> found, const std::string& name, std::ostream& out) {
  if (std::ranges::all_of(found, [](auto& one) { return one.tried.empty(); })) return;
  const CurvesPicture picture(found, name);
  out << picture.text() << picture.legend();
}

}  // namespace memreplay
