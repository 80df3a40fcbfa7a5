#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include "metamorphic/tried.hpp"
#include "questions/explain/answer.hpp"
#include "questions/explain/explain_report.hpp"
#include "trace/drawn_events.hpp"
#include "trace/reader.hpp"
#include "trace/writer.hpp"

// A recording is the same in every format that can hold it.

namespace memreplay {
namespace {

struct Written {
  std::string bytes;
  Losses losses;

  Recording read() const { return read_recording("written", bytes, {}); }
  /// Whether all that is said to be left out is what no strategy sees.
  bool replays_the_same() const {
    static const std::set<std::string> kUnseen = {"times", "stacks",
                                                  "beginnings and ends of annotated scopes"};
    for (const std::string& loss : losses) {
      std::istringstream list(loss.substr(loss.find("by events: ") + 11));
      for (std::string what; std::getline(list >> std::ws, what, ',');) {
        if (!kUnseen.contains(what.substr(0, what.rfind(" (")))) return false;
      }
    }
    return true;
  }
};

Written written(const WriterInfo& writer, const Recording& recording) {
  std::ostringstream out;
  Losses losses = writer.write(recording, out);
  return {std::move(out).str(), std::move(losses)};
}

class Formats : public Rule {
 protected:
  /// Every writer that can hold the recording, with what it wrote.
  template <typename Check>
  void in_each(const Check& check) const {
    const auto has_addresses = [](const Trace& trace) { return !trace.addresses.empty(); };
    for (const WriterInfo& writer : writers()) {
      SCOPED_TRACE(writer.format);
      if (writer.needs_addresses && !std::ranges::all_of(recording_.traces, has_addresses))
        continue;
      if (writer.one_device && recording_.traces.size() > 1) continue;
      check(writer, written(writer, recording_));
    }
  }
};
MEMREPLAY_TRY_RULES(Formats);

TEST_P(Formats, WhatIsWrittenIsReadAndWrittenAgainToTheByte) {
  in_each([&](const WriterInfo& writer, const Written& once) {
    EXPECT_EQ(written(writer, once.read()).bytes, once.bytes);
  });
}

/// A free that completes at once is one free, in one part or two.
std::string drawn_frees_whole(const Trace& trace) {
  static const std::regex kAtOnce(R"(r(\S+) c\1(?= |$))");
  return std::regex_replace(drawn_events(trace), kAtOnce, "f$1");
}

TEST_P(Formats, WhereNothingIsLeftOutEveryEventComesBack) {
  in_each([&](const WriterInfo& writer, const Written& once) {
    if (!once.losses.empty()) return;
    Recording back = once.read();
    ASSERT_EQ(back.traces.size(), recording_.traces.size());
    for (std::size_t i = 0; i < back.traces.size(); ++i) {
      EXPECT_EQ(drawn_frees_whole(back.traces[i]), drawn_frees_whole(recording_.traces[i]));
    }
    if (writer.one_device) return;  // a table has no column where all would be 0
    back.path = recording_.path;
    back.format = recording_.format;
    back.detail = recording_.detail;
    EXPECT_TRUE(back == recording_);
  });
}

TEST_P(Formats, EveryOneGivesTheSameFigures) {
  in_each([&](const WriterInfo&, const Written& once) {
    if (!once.replays_the_same()) return;
    const Recording back = once.read();
    const std::vector<StrategySpec> strategies = strategies_for(back);  // it may have no settings
    expect_same(replayed(inputs_of(back), strategies), replayed(inputs_of(recording_), strategies));
  });
}

TEST_P(Formats, EveryOneGivesTheSameVerdict) {
  const auto explained = [](const Recording& recording) {
    std::string text;
    const ExplainAnswer answered = answer(inputs_of(recording), ExplainQuestion{.runs = 20}, {});
    for (const ExplainedDevice& device : answered.devices) {
      const Explanation& why = device.explanation;
      text += fmt::format("{} at {}: {} live, {} requested of {}; ", name_of(why.cause),
                          why.event.value_or(0), why.live_requested, why.requested,
                          why.room.value_or(0));
    }
    return text;
  };
  in_each([&](const WriterInfo&, const Written& once) {
    if (!once.replays_the_same()) return;
    EXPECT_EQ(explained(once.read()), explained(recording_));
  });
}

}  // namespace
}  // namespace memreplay
