#include "trace/anonymise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "pickle_bytes.hpp"
#include "snapshot_copies.hpp"
#include "trace/frame_kind.hpp"

namespace memreplay {
namespace {

Recording small() {
  const auto with = [](const std::string& frames, std::int64_t time) {
    return text("time_us") + number(time) + text("user_metadata") + text("secret step") +
           text("frames") + list(frames);
  };
  const std::string outer = frame("secret_main", 7), inner = frame("secret_inner", 9);
  const TemporaryFile file(
      snapshot(entry("alloc", 0x7f00'1234'5000, 512, with(inner + outer, 5000)) +
               entry("alloc", 0x7f00'1234'5200, 512, with(outer, 5007)) +
               entry("free_requested", 0x7f00'1234'5000, 512, with(inner + outer, 5009)) +
               entry("free_completed", 0x7f00'1234'5000, 512, with(inner + outer, 5009))),
      ".pickle");
  return recording_of(file.path());
}

TEST(Anonymise, TextsBecomeNumbersAndEqualOnesStayEqual) {
  const Recording original = small();
  const Recording hidden = anonymised(original, {});
  EXPECT_EQ(hidden.stacks, original.stacks);
  ASSERT_EQ(hidden.frames.size(), 2u);
  EXPECT_EQ(hidden.texts[hidden.frames[0].name], "function_0");
  EXPECT_EQ(hidden.texts[hidden.frames[1].name], "function_1");
  EXPECT_EQ(hidden.frames[0].file, hidden.frames[1].file);
  EXPECT_EQ(hidden.texts[hidden.frames[0].file], "file_0.py");
  EXPECT_EQ(hidden.frames[1].line, original.frames[1].line);
  EXPECT_EQ(hidden.texts[hidden.traces[0].tags[0]], "tag_0");
  EXPECT_EQ(hidden.traces[0].tags[0], hidden.traces[0].tags[1]);
  for (const std::string& text : hidden.texts) {
    EXPECT_EQ(text.find("secret"), std::string::npos) << text;
  }
}

TEST(Anonymise, FramesStillSayWhoseCodeTheyAre) {
  const std::vector<std::pair<std::string, std::string>> frames = {
      {"secret", "/home/secret/enc/model.py"},
      {"secret", "/home/secret/dec/model.py"},
      {"other_secret", "/home/secret/dec/model.py"},
      {"<module>", "<ipython-input-3-secret>"},
      {"secret", "C:\\secret\\Lib\\site-packages\\secret\\a.py"},
      {"secret", "/secret/lib/python3.12/contextlib.py"},
      {"secret", "/secret/torchinductor_secret/a.py"},
      {"secret::f(int)", "secret.cpp"},
      {"c10::secret()", "??"},
      {"torch::autograd::generated::SecretBackward0::apply(int)", "??"},
      {"torch::autograd::Engine::secret()", ""}};
  Recording recording = small();
  for (const auto& [name, file] : frames) {
    recording.texts.push_back(name);
    recording.texts.push_back(file);
    const auto last = static_cast<std::uint32_t>(recording.texts.size() - 1);
    recording.frames.push_back({last - 1, last, kNoLine});
  }
  const Recording hidden = anonymised(recording, {});
  std::set<std::pair<std::string, std::string>> seen;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const Frame& frame = hidden.frames[hidden.frames.size() - frames.size() + i];
    const std::string &name = hidden.texts[frame.name], &file = hidden.texts[frame.file];
    EXPECT_EQ(frame_kind(name, file), frame_kind(frames[i].first, frames[i].second))
        << name << ' ' << file;
    EXPECT_EQ((name + file).find("ecret"), std::string::npos) << name << ' ' << file;
    EXPECT_TRUE(seen.emplace(name, file).second) << name << ' ' << file;
    EXPECT_EQ(frame.line, kNoLine);
  }
}

TEST(Anonymise, TimesCountFromTheFirstAndAddressesFromAFixedPlace) {
  const Recording hidden = anonymised(small(), {});
  EXPECT_EQ(hidden.traces[0].times_us, (std::vector<std::int64_t>{0, 7, 9, 9}));
  const Address first = hidden.traces[0].addresses[0];
  EXPECT_EQ(first, (Address{1} << 44) + 0x14'5000) << "the place within 2 MiB stays";
  EXPECT_EQ(hidden.traces[0].addresses[1], first + 512);
}

TEST(Anonymise, NumbersOfStreamsAndPoolsKeepTheirOrderAndTheDefaults) {
  Recording recording = small();
  Trace& trace = recording.traces[0];
  trace.streams = {0, 0x5555'0000, 0x7777'0000};
  trace.pools = {{0, 0}, {0, 40}, {900, 0}};
  const Recording hidden = anonymised(recording, {});
  EXPECT_EQ(hidden.traces[0].streams, (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(hidden.traces[0].pools, (std::vector<PoolId>{{0, 0}, {0, 1}, {1, 0}}));
}

TEST(Anonymise, TheSettingsTextStaysOnlyWhereTheCallerSaysSo) {
  Recording recording = small();
  recording.settings.conf = "expandable_segments:True";
  EXPECT_EQ(anonymised(recording, {.keep_settings_text = true}).settings, recording.settings);
  EXPECT_EQ(anonymised(recording, {}).settings.conf, "");
}

TEST(Anonymise, EveryBundledSnapshotKeepsItsStructureThroughAFile) {
  for (const auto& path : bundled_snapshots()) {
    const Recording original = recording_of(path);
    const Recording hidden =
        written_and_read<PickleWriter>(anonymised(original, {.keep_settings_text = true}));
    ASSERT_EQ(hidden.traces.size(), original.traces.size()) << path;
    EXPECT_EQ(hidden.stacks.size(), original.stacks.size()) << path;
    for (std::size_t i = 0; i < hidden.traces.size(); ++i) {
      const Trace &a = original.traces[i], &b = hidden.traces[i];
      EXPECT_EQ(a.ops, b.ops) << path;
      EXPECT_EQ(a.slots, b.slots) << path;
      EXPECT_EQ(a.sizes, b.sizes) << path;
      EXPECT_EQ(a.lane_of, b.lane_of) << path;
      EXPECT_EQ(a.lanes, b.lanes) << path;
      EXPECT_EQ(a.coverage, b.coverage) << path;
      EXPECT_EQ(reserved_bytes(a.start), reserved_bytes(b.start)) << path;
    }
  }
}

}  // namespace
}  // namespace memreplay
