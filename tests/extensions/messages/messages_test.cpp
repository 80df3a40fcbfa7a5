#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "extensions/messages/message_kind.hpp"
#include "extensions/messages/message_samples.hpp"

namespace memreplay {
namespace {

using Messages = std::vector<OomMessage>;

Messages told_by(std::string_view text) {
  Messages messages = messages_in(text);
  put_together(messages);
  return messages;
}

std::optional<Figure> figure_named(std::string_view name) {
  for (std::size_t i = 0; i < kFigures; ++i) {
    if (name_of(static_cast<Figure>(i)) == name) return static_cast<Figure>(i);
  }
  return std::nullopt;
}

TEST(PastedMessages, EveryKindHasSamplesOfTwoWordings) {
  for (const MessageKind& kind : message_kinds()) {
    EXPECT_GE(std::ranges::count(message_samples(), kind.name, &MessageSample::kind), 2)
        << kind.name;
  }
}

TEST(PastedMessages, ALinkOrATitleOfATerminalHidesNothing) {
  const std::string message =
      "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 6.00 GiB total capacity)";
  for (const char* before :
       {"\x1b]8;;file:///a.py\x1b\\a.py\x1b]8;;\x1b\\ ", "\x1b]0;title\x07",
        "\x1b]8;;a\x07b\x1b]8;;\x07", "\x1b]never ended ", "\x1bP1$r\x1b\\", "\x1b_a\x1b\\",
        "\x1b^a\x1b\\", "\x1bXa\x1b\\",
        "\\u001b]8;;file:///a.py\\u001b\\\\a.py\\u001b]8;;\\u001b\\\\ ", "\\u001b]0;title\\u0007",
        "^[]8;;a^[\\b^[]8;;^[\\ ", "\\x1b]0;title\\x07", "\x1b]open\n"}) {
    const Messages messages = told_by(before + message);
    ASSERT_EQ(messages.size(), 1u) << before;
    EXPECT_TRUE(messages[0][Figure::requested]) << before;
  }
}

TEST(PastedMessages, ARankOfALineIsThatOfAllItsMessages) {
  const auto message = [](const char* size) {
    return std::string("CUDA out of memory. Tried to allocate ") + size +
           " GiB (GPU 0; 6.00 GiB total capacity; 781.59 MiB already allocated; 3.03 GiB free; "
           "1.24 "
           "GiB reserved in total by PyTorch)";
  };
  std::string line = "{\"rank\": 3, \"log\": [";
  for (const char* size : {"1.00", "2.00", "3.00"}) line += '"' + message(size) + "\", ";
  const Messages messages = told_by(line + "]}\n" + message("4.00") + '\n');
  ASSERT_EQ(messages.size(), 4u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(messages[i][Count::rank], 3u) << i;
  EXPECT_EQ(messages[3][Count::rank], std::nullopt);
}

TEST(PastedMessages, EverySampleIsReadAsItsKindWithItsFigures) {
  for (const MessageSample& sample : message_samples()) {
    SCOPED_TRACE(sample.wording);
    const Messages messages = told_by(sample.text);
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(messages[0].kind, sample.kind);
    for (const auto& [name, size] : sample.mebibytes) {
      const auto& figure = messages[0][figure_named(name).value()];
      ASSERT_TRUE(figure) << name;
      EXPECT_NEAR(static_cast<double>(figure->bytes) / (1 << 20), size, 0.001) << name;
    }
  }
}

/// What happens to texts on their way from a log into a report.
class Noise {
 public:
  explicit Noise(unsigned seed) : random_(seed) {}

  std::string over(std::string text) {
    const std::function<std::string(std::string)> kinds[] = {
        [&](std::string t) { return "epoch 3, loss 0.25\n" + std::move(t) + "Traceback\n"; },
        [&](std::string t) { return wrapped(std::move(t)); },
        [&](std::string t) { return coloured(std::move(t)); },
        [&](std::string t) { return prefixed(std::move(t)); },
        [&](std::string t) { return escaped(std::move(t)); },
        [&](std::string t) { return cut(std::move(t)); }};
    for (const auto& kind : kinds) {
      if (below(3) == 0) text = kind(std::move(text));
    }
    return text;
  }

 private:
  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }

  std::string wrapped(std::string text) {
    const std::size_t width = 12 + below(80);
    std::string lines;
    std::size_t column = 0;
    for (const char c : text) {
      if (c != '\n' && column == width) {
        lines += '\n';
        column = 0;
      }
      lines += c;
      column = c == '\n' ? 0 : column + 1;
    }
    return lines;
  }

  std::string coloured(std::string text) {
    for (int i = 0; i < 5; ++i) {
      const std::size_t at = text.find(' ', below(text.size() + 1));
      if (at != text.npos) text.insert(at, below(2) == 0 ? "\x1b[31;1m" : "\x1b[0m");
    }
    return text;
  }

  std::string prefixed(std::string text) {
    static constexpr const char* kPrefixes[] = {
        "> ",
        "[rank3]: ",
        "worker_1  | ",
        "(EngineCore pid=12) ",
        "[default0]:",
        "2024-01-02 03:04:05.123456: I tsl/framework/bfc_allocator.cc:1101] ",
        "INFO 05-01 08:00:00 [core.py:7] ",
        "2024-01-01T00:00:00.1Z stderr F "};
    const std::string prefix = kPrefixes[below(std::size(kPrefixes))];
    std::string lines;
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t end = std::min(text.find('\n', from), text.size() - 1) + 1;
      lines += prefix + text.substr(from, end - from);
      from = end;
    }
    return lines;
  }

  std::string escaped(std::string text) {
    std::string json = "{\"log\": \"";
    for (const char c : text) json += c == '\n' ? "\\n" : c == '"' ? "\\\"" : std::string(1, c);
    return json + "\", \"stream\": \"stderr\"}\n";
  }

  std::string cut(std::string text) {
    const std::size_t from = below(2) == 0 ? 0 : below(text.size());
    return text.substr(from, below(2) == 0 ? text.npos : below(text.size() - from) + 1);
  }

  std::mt19937 random_;
};

// Whether some message of the kind says the same, where this one says anything.
template <typename Get>
bool is_told(const Messages& truth, const OomMessage& message, const Get& get) {
  if (!get(message)) return true;
  return std::ranges::any_of(truth, [&](const OomMessage& one) {
    return one.kind == message.kind && get(one) == get(message);
  });
}

// A rounded figure and an exact one of the same text are both right.
bool is_figure(const Messages& truth, const OomMessage& message, std::size_t i) {
  const auto& figure = message.figures[i];
  return !figure || std::ranges::any_of(truth, [&](const OomMessage& one) {
    const auto& other = one.figures[i];
    if (one.kind != message.kind || !other) return false;
    const auto apart =
        std::max(figure->bytes, other->bytes) - std::min(figure->bytes, other->bytes);
    return apart <= std::max(figure->within, other->within);
  });
}

TEST(PastedMessages, NoiseTakesFiguresAwayAndChangesNone) {
  for (const MessageSample& sample : message_samples()) {
    const Messages truth = told_by(sample.text);
    for (unsigned seed = 0; seed < 200; ++seed) {
      const std::string text = Noise(seed).over(std::string(sample.text));
      for (const OomMessage& message : told_by(text)) {
        for (std::size_t i = 0; i < kFigures; ++i) {
          ASSERT_TRUE(is_figure(truth, message, i))
              << name_of(static_cast<Figure>(i)) << " of " << message.kind << ", seed " << seed
              << ": " << message.figures[i]->bytes << '\n'
              << text;
        }
        for (std::size_t i = 0; i < kCounts; ++i) {
          if (static_cast<Count>(i) == Count::rank) continue;
          ASSERT_TRUE(is_told(truth, message, [&](const OomMessage& one) { return one.counts[i]; }))
              << name_of(static_cast<Count>(i)) << ", seed " << seed << '\n'
              << text;
        }
      }
    }
  }
}

TEST(PastedMessages, WhereLinesBreakAndWhatStandsBeforeThemDoesNotMatter) {
  const std::string text(message_samples()[0].text);
  Messages plain = told_by(text);
  for (const std::size_t width : {20u, 37u, 64u}) {
    for (const std::string prefix : {"", "> ", "[rank3]: ", "\xE2\x94\x82 ", "worker_1  | "}) {
      std::string lines;
      for (std::size_t at = 0; at < text.size(); at += width) {
        lines += prefix + text.substr(at, std::min(width, text.size() - 1 - at)) + '\n';
      }
      Messages messages = told_by(lines);
      ASSERT_EQ(messages.size(), 1u) << lines;
      messages[0][Count::rank].reset();
      EXPECT_EQ(messages[0], plain[0]) << lines;
    }
  }
}

TEST(PastedMessages, LinesOfSeveralRanksMayBeMixed) {
  const Messages messages = told_by(
      "[rank0]: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total\n"
      "[rank1]: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 1 has a total\n"
      "[rank0]: capacity of 8.00 GiB of which 1.00 GiB is free.\n"
      "[rank1]: capacity of 9.00 GiB of which 1.50 GiB is free.\n");
  ASSERT_EQ(messages.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(messages[i][Count::rank], i);
    EXPECT_EQ(messages[i][Figure::requested]->bytes, (2 + i) << 30);
    EXPECT_EQ(messages[i][Figure::device]->bytes, (8 + i) << 30);
  }
}

TEST(PastedMessages, EqualMessagesAreCounted) {
  const std::string text(message_samples()[1].text);
  const Messages messages = told_by(text + text + text);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].times, 3u);
}

TEST(PastedMessages, ANumberThatALineBreakPartsCountsWhereItHasDecimalsOnly) {
  const Messages messages = told_by(
      "CUDA out of memory. Tried to allocate 12\n2.50 MiB. GPU 1\n2 has a total capacity of 8.00 "
      "GiB\n");
  EXPECT_EQ(messages.at(0)[Figure::requested]->bytes, Bytes{245} << 19);
  EXPECT_FALSE(messages.at(0)[Count::gpu]);
}

}  // namespace
}  // namespace memreplay
