#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "extensions/page/page.hpp"
#include "extensions/page/page_data.hpp"
#include "program/places.hpp"
#include "report/parts/escapes.hpp"
#include "trace/recorded_levels.hpp"

namespace memreplay {
namespace {

constexpr std::uint64_t kMostColumns = 1200;
constexpr std::size_t kRows = 260;
constexpr std::size_t kLeft = 80;
constexpr std::size_t kTop = 10;
constexpr std::size_t kLine = 18;

using Colour = std::array<std::uint8_t, 3>;
/// The palette of colours.js; the last is a grey for places that cover little.
constexpr std::array<Colour, 13> kColours = {{{0, 114, 178},
                                              {230, 159, 0},
                                              {0, 158, 115},
                                              {204, 121, 167},
                                              {86, 180, 233},
                                              {213, 94, 0},
                                              {240, 228, 66},
                                              {0, 66, 103},
                                              {133, 92, 0},
                                              {0, 92, 67},
                                              {118, 70, 97},
                                              {139, 132, 38},
                                              {150, 157, 166}}};
constexpr std::size_t kOthers = kColours.size() - 1;

/// A rectangle of pixels, row after row.
template <typename Pixel>
struct Raster {
  std::size_t columns = 0;
  std::vector<Pixel> pixels;

  explicit Raster(std::size_t columns_of_it)
      : columns(columns_of_it), pixels(columns_of_it * kRows) {}
  Pixel& at(std::size_t column, std::size_t row) { return pixels[row * columns + column]; }
};

/// The live blocks of a trace, the oldest first, carried from event to event.
class LiveList {
 public:
  LiveList(const Trace& trace, const Places& places)
      : trace_(trace),
        places_(places),
        end_(trace.slot_count),
        blocks_(trace.slot_count + std::size_t{1}) {
    blocks_[end_] = {.older = end_, .newer = end_};
    for (const SegmentInfo& segment : trace.start.segments) {
      for (const BlockInfo& block : segment.blocks) {
        if (block.slot == kNoSlot || block.state != BlockState::allocated) continue;
        append(block.slot, block.requested, asker_of(trace, block));
      }
    }
  }

  void play(std::uint64_t event) {
    const Slot slot = trace_.slots[event];
    if (trace_.ops[event] == Op::allocate) {
      append(slot, trace_.sizes[event], asker_of(trace_, event));
    } else if (trace_.ops[event] == Op::free || trace_.ops[event] == Op::free_requested) {
      remove(slot);
    }
  }

  /// Numbers of blocks begin with 1; block n was asked for at place_of()[n - 1].
  std::vector<std::uint32_t>& place_of() { return place_of_; }

  /// `use(number, bytes)`
  template <typename Use>
  void for_each(const Use& use) const {
    for (std::size_t at = blocks_[end_].newer; at != end_; at = blocks_[at].newer) {
      use(blocks_[at].number, blocks_[at].bytes);
    }
  }

 private:
  struct Block {
    std::size_t older = 0;
    std::size_t newer = 0;
    Bytes bytes = 0;
    std::uint32_t number = 0;  ///< 0: none lives here
  };

  void append(Slot slot, Bytes bytes, const Asker& asker) {
    remove(slot);
    place_of_.push_back(places_.of(asker));
    const std::size_t last = blocks_[end_].older;
    blocks_[slot] = {last, end_, bytes, static_cast<std::uint32_t>(place_of_.size())};
    blocks_[last].newer = blocks_[end_].older = slot;
  }

  void remove(Slot slot) {
    if (slot == kNoSlot || blocks_[slot].number == 0) return;
    Block& block = blocks_[slot];
    blocks_[block.older].newer = block.newer;
    blocks_[block.newer].older = block.older;
    block.number = 0;
  }

  const Trace& trace_;
  const Places& places_;
  std::size_t end_;
  std::vector<Block> blocks_;  ///< by slot; the last is both ends of the list
  std::vector<std::uint32_t> place_of_;
};

/// Moment m is right after event m - 1, the first one before all events.
struct Moment {
  std::uint64_t number = 0;
  Bytes live = 0;
};

/// For every column the moment of its most live bytes.
std::vector<Moment> moments_of(const Trace& trace) {
  const std::uint64_t moments = trace.size() + std::uint64_t{1};
  std::vector<Moment> most(std::min(moments, kMostColumns));
  RecordedLevels levels(trace);
  std::uint64_t moment = 0;
  for (std::uint64_t column = 0; column < most.size(); ++column) {
    most[column] = {moment, levels.requested()};
    for (; moment < (column + 1) * moments / most.size(); ++moment) {
      if (levels.requested() > most[column].live) most[column] = {moment, levels.requested()};
      if (moment < trace.size()) levels.play(moment);
    }
  }
  return most;
}

/// What is to be drawn: every pixel is the number of a block, 0 where there is none.
struct Drawn {
  Raster<std::uint32_t> blocks;
  std::vector<std::uint32_t> place_of;  ///< by number - 1
  Bytes top = 1;
};

Drawn drawn(const Trace& trace, const Places& places) {
  const std::vector<Moment> moments = moments_of(trace);
  Drawn made{Raster<std::uint32_t>(moments.size())};
  for (const Moment& moment : moments) made.top = std::max(made.top, moment.live);
  const double rows_of_a_byte = static_cast<double>(kRows) / static_cast<double>(made.top);
  LiveList live(trace, places);
  std::uint64_t played = 0;
  for (std::size_t column = 0; column < moments.size(); ++column) {
    while (played < moments[column].number) live.play(played++);
    double below = 0;
    std::size_t row = 0;
    live.for_each([&](std::uint32_t number, Bytes bytes) {
      below += static_cast<double>(bytes);
      const double rounded = below * rows_of_a_byte + 0.5;  // a sum of bytes may have no number
      const auto until = static_cast<std::size_t>(std::min(rounded, static_cast<double>(kRows)));
      for (; row < until; ++row) made.blocks.at(column, kRows - 1 - row) = number;
    });
  }
  made.place_of = std::move(live.place_of());
  return made;
}

/// A place that is in the picture.
struct Shown {
  std::uint32_t place = 0;
  std::uint64_t pixels = 0;
};

/// What covers the most of the picture comes first.
std::vector<Shown> shown_places(const Drawn& picture, std::size_t places) {
  std::vector<Shown> shown(places);
  for (std::uint32_t i = 0; i < places; ++i) shown[i].place = i;
  for (const std::uint32_t block : picture.blocks.pixels) {
    if (block > 0) ++shown[picture.place_of[block - 1]].pixels;
  }
  std::erase_if(shown, [](const Shown& one) { return one.pixels == 0; });
  std::ranges::stable_sort(shown, std::greater{}, &Shown::pixels);
  return shown;
}

std::string big_endian(std::size_t number) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(number >> shift & 255);
  return bytes;
}

std::string png_chunk(std::string_view name, std::string_view content) {
  const std::string checked = std::string(name) + std::string(content);
  const uLong crc =
      crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
  return big_endian(content.size()) + checked + big_endian(crc);
}

// Pixels are 0, nothing, or 1 + 2 * a colour, and one more where it is darker.
std::string png(const Raster<std::uint8_t>& raster) {
  std::string palette(3, '\0');
  for (const Colour& colour : kColours) {
    for (const int share : {100, 72}) {
      for (const int part : colour) palette += static_cast<char>(part * share / 100);
    }
  }
  std::string rows;
  for (std::size_t row = 0; row < kRows; ++row) {
    rows += '\0';  // no filter
    rows.append(raster.pixels.begin() + static_cast<std::ptrdiff_t>(row * raster.columns),
                raster.pixels.begin() + static_cast<std::ptrdiff_t>((row + 1) * raster.columns));
  }
  constexpr std::string_view kHow("\x08\x03\0\0\0", 5);  // 8 bits, by a palette
  return "\x89PNG\r\n\x1a\n" +
         png_chunk("IHDR", big_endian(raster.columns) + big_endian(kRows) + std::string(kHow)) +
         png_chunk("PLTE", palette) + png_chunk("tRNS", std::string_view("\0", 1)) +
         png_chunk("IDAT", deflated(rows)) + png_chunk("IEND", "");
}

// A darker line where another block begins above, as far as both are to be seen.
Raster<std::uint8_t> coloured(Drawn& picture, const std::vector<std::size_t>& colour_of_place) {
  Raster<std::uint8_t> pixels(picture.blocks.columns);
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t column = 0; column < pixels.columns; ++column) {
      const std::uint32_t block = picture.blocks.at(column, row);
      if (block == 0) continue;
      const bool begins = row == 0 || picture.blocks.at(column, row - 1) != block;
      const bool goes_on = row + 1 < kRows && picture.blocks.at(column, row + 1) == block;
      pixels.at(column, row) = static_cast<std::uint8_t>(
          1 + 2 * colour_of_place[picture.place_of[block - 1]] + (begins && goes_on ? 1 : 0));
    }
  }
  return pixels;
}

std::string axis(Bytes top) {
  const Bytes step = std::bit_ceil(std::max<Bytes>(top / 5, 1));
  std::string out;
  for (Bytes tick = 0; tick <= top / step; ++tick) {
    const double share = static_cast<double>(tick * step) / static_cast<double>(top);
    out += fmt::format("<text class=\"end\" x=\"{}\" y=\"{:.0f}\">{}</text>\n", kLeft - 6,
                       kTop + kRows * (1 - share) + 4, human_size(tick * step));
  }
  return out;
}

std::string legend(const std::vector<Shown>& shown, const Places& places) {
  const auto all =
      std::accumulate(shown.begin(), shown.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const Shown& one) { return sum + one.pixels; });
  std::string out;
  std::size_t y = kTop + kRows + 2 * kLine + 8;
  const auto line = [&](const Colour& colour, const std::string& said, std::uint64_t pixels) {
    out += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"11\" height=\"11\" fill=\"rgb({},{},{})\"/>"
        "<text x=\"{}\" y=\"{}\">{}  {:.0f} %</text>\n",
        kLeft, y - 10, colour[0], colour[1], colour[2], kLeft + 18, y, markup_text(said),
        100 * static_cast<double>(pixels) / static_cast<double>(all));
    y += kLine;
  };
  std::uint64_t rest = 0;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (i < kOthers) line(kColours[i], places.name(shown[i].place), shown[i].pixels);
    rest += i < kOthers ? 0 : shown[i].pixels;
  }
  if (rest > 0) line(kColours[kOthers], counted(shown.size() - kOthers, "other place"), rest);
  return out;
}

}  // namespace

void write_blocks_picture(const Subject& subject, std::ostream& out) {
  const Trace& trace = subject.trace();
  const Places places(subject.recording());
  Drawn picture = drawn(trace, places);
  const std::vector<Shown> shown = shown_places(picture, places.size());
  std::vector<std::size_t> colour_of_place(places.size(), kOthers);
  for (std::size_t i = 0; i < std::min(shown.size(), kOthers); ++i) {
    colour_of_place[shown[i].place] = i;
  }

  const std::size_t lines = std::min(shown.size(), kColours.size());
  const std::size_t width = kLeft + kMostColumns + 20;
  const std::size_t height = kTop + kRows + (lines + 2) * kLine;
  out << fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" "
      "role=\"img\">\n<title>Live blocks of {} over {}</title>\n",
      width, height, width, height, markup_text(subject.recording().path),
      counted(trace.size(), "event"));
  out << "<style>text { font: 12px system-ui, sans-serif; fill: #1b1f24; } .end { text-anchor: "
         "end; "
         "}\nrect.paper { fill: #ffffff; }\n@media (prefers-color-scheme: dark) { text { fill: "
         "#e6edf3; } rect.paper { fill: #10151a; } }\n</style>\n";
  out << fmt::format("<rect class=\"paper\" width=\"{}\" height=\"{}\"/>\n", width, height);
  out << fmt::format(
      "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" "
      "style=\"image-rendering: pixelated\" href=\"data:image/png;base64,{}\"/>\n",
      kLeft, kTop, kMostColumns, kRows, base64(png(coloured(picture, colour_of_place))));
  out << axis(picture.top);
  out << fmt::format(
      "<text x=\"{}\" y=\"{}\">event 0</text>\n"
      "<text class=\"end\" x=\"{}\" y=\"{}\">{}</text>\n",
      kLeft, kTop + kRows + kLine, kLeft + kMostColumns, kTop + kRows + kLine,
      human_count(trace.size()));
  out << legend(shown, places) << "</svg>\n";
}

}  // namespace memreplay
