#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <map>
#include <random>
#include <sstream>

#include "extensions/page/page.hpp"
#include "extensions/page/unpacked.hpp"
#include "support/recordings.hpp"

namespace memreplay {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::size_t kRows = 260;
/// Nothing, and what is not told apart: the numbers of colours, darker or not, from 1 on.
using Pixels = std::vector<std::vector<int>>;  ///< columns of rows, the lowest first

std::string picture_of(const Recording& recording) {
  std::ostringstream out;
  write_blocks_picture(Subject(recording, recording.traces[0]), out);
  return out.str();
}

std::size_t number_at(const std::string& bytes, std::size_t at) {
  std::size_t number = 0;
  for (std::size_t i = 0; i < 4; ++i)
    number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

Pixels pixels_of(const std::string& svg) {
  const std::string begin = "data:image/png;base64,";
  const std::size_t from = svg.find(begin) + begin.size();
  const std::string png = from_base64(svg.substr(from, svg.find('"', from) - from));
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  std::size_t columns = 0;
  std::string rows;
  for (std::size_t at = 8; at < png.size(); at += 12 + number_at(png, at)) {
    const std::size_t size = number_at(png, at);
    const std::string name = png.substr(at + 4, 4);
    const std::string content = png.substr(at + 8, size);
    const std::string checked = name + content;
    EXPECT_EQ(
        crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size())),
        number_at(png, at + 8 + size));
    if (name == "IHDR") columns = number_at(content, 0);
    if (name != "IDAT") continue;
    rows = inflated(content, kRows * (columns + 1));
  }
  Pixels pixels(columns, std::vector<int>(kRows));
  for (std::size_t column = 0; column < columns; ++column) {
    for (std::size_t row = 0; row < kRows; ++row) {
      const int value = rows[(kRows - 1 - row) * (columns + 1) + 1 + column];
      pixels[column][row] = (value + 1) / 2;
    }
  }
  return pixels;
}

/// Where each block lies by itself, found anew for every moment.
struct Block {
  std::uint64_t born = 0;
  std::uint64_t dies = UINT64_MAX;
  Bytes bytes = 0;
  std::uint32_t stack = 0;
};

/// By the stack; 0 where nothing is.
Pixels slowly_drawn(const Trace& trace, std::size_t most_columns) {
  std::vector<Block> blocks;
  std::map<Slot, std::size_t> block_of;
  for (std::uint64_t i = 0; i < trace.size(); ++i) {
    const Slot slot = trace.slots[i];
    if (trace.ops[i] == Op::allocate) {
      block_of[slot] = blocks.size();
      blocks.push_back({.born = i + 1, .bytes = trace.sizes[i], .stack = trace.stacks[i]});
    } else if (trace.ops[i] == Op::free) {
      blocks[block_of.at(slot)].dies = i + 1;
    }
  }
  const auto live_at = [&](std::uint64_t moment) {
    std::vector<Block> live;
    for (const Block& block : blocks) {
      if (block.born <= moment && moment < block.dies) live.push_back(block);
    }
    return live;
  };
  const auto sum_at = [&](std::uint64_t moment) {
    Bytes sum = 0;
    for (const Block& block : live_at(moment)) sum += block.bytes;
    return sum;
  };
  const std::uint64_t moments = trace.size() + 1;
  Bytes top = 1;
  for (std::uint64_t moment = 0; moment < moments; ++moment) top = std::max(top, sum_at(moment));
  const std::size_t columns = std::min<std::size_t>(moments, most_columns);
  Pixels pixels(columns, std::vector<int>(kRows));
  for (std::size_t column = 0; column < columns; ++column) {
    std::uint64_t best = column * moments / columns;
    for (std::uint64_t moment = best; moment < (column + 1) * moments / columns; ++moment) {
      if (sum_at(moment) > sum_at(best)) best = moment;
    }
    Bytes below = 0;
    for (const Block& block : live_at(best)) {
      const double scale = static_cast<double>(kRows) / static_cast<double>(top);
      const auto from = std::lround(static_cast<double>(below) * scale);
      below += block.bytes;
      const auto to = std::lround(static_cast<double>(below) * scale);
      for (auto row = from; row < to; ++row) {
        pixels[column][static_cast<std::size_t>(row)] = static_cast<int>(block.stack);
      }
    }
  }
  return pixels;
}

TEST(BlocksPicture, IsWhatASlowModelDraws) {
  std::mt19937 random(7);
  for (const int events : {0, 1, 40, 1199, 1500}) {
    RecordingWriter writer;
    const std::vector<std::uint32_t> stacks = {
        writer.stack({"a.py:1 f"}), writer.stack({"b.py:2 g"}), writer.stack({"c.py:3 h"})};
    std::vector<bool> lives(30);
    for (int i = 0; i < events; ++i) {
      const auto slot = static_cast<Slot>(random() % 30);
      if (lives[slot]) {
        writer.free(slot);
      } else {
        const std::uint32_t which = std::min<std::uint32_t>(random() % 4, 2);
        writer.alloc(slot, 1 + random() % (which == 0 ? 90000 : 9000), stacks[which]);
      }
      lives[slot] = !lives[slot];
    }
    const Recording recording = writer.recording();
    const Pixels slow = slowly_drawn(recording.traces[0], 1200);
    const Pixels drawn = pixels_of(picture_of(recording));
    ASSERT_EQ(drawn.size(), slow.size());
    // What covers most has the first colour.
    std::map<int, std::size_t> covered;
    for (const auto& column : slow) {
      for (const int stack : column) ++covered[stack];
    }
    covered.erase(0);
    std::map<int, int> colour_of = {{0, 0}};
    while (!covered.empty()) {
      const auto most = std::ranges::max_element(
          covered, {}, [](const auto& stack_and_pixels) { return stack_and_pixels.second; });
      colour_of.emplace(most->first, static_cast<int>(colour_of.size()));
      covered.erase(most);
    }
    for (std::size_t column = 0; column < slow.size(); ++column) {
      for (std::size_t row = 0; row < kRows; ++row) {
        ASSERT_EQ(drawn[column][row], colour_of.at(slow[column][row]))
            << events << " events, column " << column << ", row " << row;
      }
    }
  }
}

TEST(BlocksPicture, NamesThePlacesThatCoverMostAndCountsTheOthers) {
  RecordingWriter writer;
  for (Slot slot = 0; slot < 15; ++slot) {
    const std::uint32_t stack = writer.stack({"m.py:" + std::to_string(slot) + " <f>"});
    writer.alloc(slot, (20 - slot) * Bytes{4096}, stack);
  }
  const std::string svg = picture_of(writer.recording());
  EXPECT_THAT(svg, HasSubstr(">m.py:0 &lt;f&gt;  "));
  EXPECT_THAT(svg, HasSubstr(">m.py:11 &lt;f&gt;  "));
  EXPECT_THAT(svg, Not(HasSubstr("m.py:12")));
  EXPECT_THAT(svg, HasSubstr(">3 other places  "));
  EXPECT_THAT(svg, HasSubstr("<title>Live blocks of written.csv over 15 events</title>"));
}

TEST(BlocksPicture, StaysInItsFrameWhereASumHasNoNumber) {
  RecordingWriter writer;
  for (Slot slot = 0; slot < 9; ++slot) writer.alloc(slot, Bytes{1} << 61);
  EXPECT_EQ(pixels_of(picture_of(writer.recording())).size(), 10u);
}

TEST(BlocksPicture, WhatWasThereBeforeIsTheLowest) {
  RecordingWriter writer;
  writer.alloc(1, 3000, writer.stack({"a.py:1 f"}));
  Recording recording = writer.recording();
  Trace& trace = recording.traces[0];
  trace.start.segments.push_back(
      {.size = 2 << 20,
       .blocks = {{.size = 1024, .requested = 1000, .state = BlockState::allocated, .slot = 0}}});
  const Pixels drawn = pixels_of(picture_of(recording));
  ASSERT_EQ(drawn.size(), 2u);
  EXPECT_EQ(std::ranges::count(drawn[0], 0), 195);  // of 260 rows for 4,000 bytes
  EXPECT_EQ(drawn[0][0], drawn[1][0]);
  EXPECT_NE(drawn[1][64], drawn[1][65]);
  EXPECT_EQ(std::ranges::count(drawn[1], 0), 0);
}

}  // namespace
}  // namespace memreplay
