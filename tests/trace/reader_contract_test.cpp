#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "trace/compressed.hpp"
#include "trace/drawn_events.hpp"
#include "trace/event_count.hpp"
#include "trace/reader.hpp"
#include "trace/reader_samples.hpp"

namespace memreplay {
namespace {

std::string sample_name(const testing::TestParamInfo<std::size_t>& info) {
  std::string name(reader_samples().at(info.param).format);
  std::erase(name, '-');
  return name + std::to_string(info.param);
}

/// The events of the first trace, where the format has any.
std::string first_events(const Recording& recording) {
  return recording.traces.empty() ? "" : drawn_events(recording.traces.front());
}

/// What every reader keeps, on a small file of its format.
class EveryReader : public testing::TestWithParam<std::size_t> {
 protected:
  const ReaderSample& sample_ = reader_samples().at(GetParam());

  static Recording read(const std::string& bytes) { return read_recording("log", bytes, {}); }
  Recording golden() const { return read(sample_.golden()); }
  /// Also of what is so damaged that no reader would recognise it; "none" of what is read.
  std::string refused(const std::string& bytes) const {
    try {
      read_recording("log", bytes, {.format = std::string(sample_.format)});
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  }
};

INSTANTIATE_TEST_SUITE_P(Sample, EveryReader,
                         testing::Range<std::size_t>(0, reader_samples().size()), sample_name);

TEST(ReaderContract, EveryReaderHasASample) {
  for (const ReaderInfo& reader : readers()) {
    if (reader.is_text) continue;  // has no events
    EXPECT_TRUE(std::ranges::any_of(
        reader_samples(), [&](const ReaderSample& sample) { return sample.format == reader.name; }))
        << reader.name << ": no sample in reader_samples.cpp";
  }
}

TEST_P(EveryReader, AloneRecognisesItsSample) {
  for (const ReaderInfo& reader : readers()) {
    EXPECT_EQ(reader.recognises({"log", sample_.golden()}), reader.name == sample_.format)
        << reader.name;
  }
}

TEST_P(EveryReader, ReadsItsSampleEventByEvent) {
  EXPECT_EQ(first_events(golden()), sample_.events);
}

TEST_P(EveryReader, CountsWhatItNeedNotKeep) {
  Recording kept = golden();
  Recording counted = read_recording("log", sample_.golden(), {.counted = true});
  ASSERT_EQ(counted.traces.size(), kept.traces.size());
  for (std::size_t i = 0; i < kept.traces.size(); ++i) {
    Trace& trace = counted.traces[i];
    if (!trace.streamed) continue;
    EXPECT_FALSE(trace.streamed->can_open());
    EventCount count;
    count.add(kept.traces[i]);
    EXPECT_EQ(trace.streamed->totals(), count.totals());
    EXPECT_GT(trace.size(), 0u);
    trace.streamed.reset();
    static_cast<EventColumns&>(kept.traces[i]) = {};
  }
  EXPECT_EQ(counted, kept);
}

TEST_P(EveryReader, ReadsOrRefusesAFileThatIsCutAnywhere) {
  const std::string whole = sample_.golden();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string said = refused(whole.substr(0, length));
    EXPECT_TRUE(said == "none" || said.starts_with("log:")) << length << " bytes: " << said;
  }
}

TEST_P(EveryReader, ReadsWhatIsCompressed) {
  EXPECT_EQ(read(gzipped(sample_.golden())), golden());
  EXPECT_EQ(read(zstandard(sample_.golden())), golden());
}

TEST_P(EveryReader, ReadsTheLineEndsMarkAndMissingEndOfOtherSystems) {
  if (!sample_.is_text) GTEST_SKIP() << "no text";
  std::string text = sample_.golden();
  if (text.ends_with('\n')) text.pop_back();
  EXPECT_EQ(read(text), golden());
  EXPECT_EQ(read("\xEF\xBB\xBF" + text), golden());
  for (std::size_t at = 0; (at = text.find('\n', at)) != text.npos; at += 2) {
    text.insert(at, 1, '\r');
  }
  EXPECT_EQ(first_events(read(text + "\r\n")), sample_.events);
}

TEST_P(EveryReader, RefusesSizesThatNoBlockHasByTheirPlace) {
  if (!sample_.is_text) GTEST_SKIP() << "no text";
  const std::vector<std::string> sizes =
      sample_.is_hexadecimal
          ? std::vector<std::string>{"-1", "8000000000000000", "ffffffffffffffff",
                                     "10000000000000000"}
          : std::vector<std::string>{"-1", "9223372036854775808", "18446744073709551615",
                                     "18446744073709551616"};
  for (const std::string& size : sizes) {
    const std::string said = refused(sample_.with_size(size));
    EXPECT_TRUE(said.starts_with("log:") && said.find_first_of("0123456789") != said.npos)
        << size << ": " << said;
  }
}

TEST_P(EveryReader, TakesTheColumnsOfATableInAnyOrder) {
  if (sample_.separator == 0) GTEST_SKIP() << "no columns";
  std::istringstream lines(sample_.golden());
  std::string turned;
  for (std::string line; std::getline(lines, line);) {
    std::string behind;
    for (std::size_t from = 0; from <= line.size();) {
      const std::size_t end = std::min(line.find(sample_.separator, from), line.size());
      const std::string field = line.substr(from, end - from);
      behind = from == 0 ? field : field + sample_.separator + behind;
      from = end + 1;
    }
    turned += behind + "\n";
  }
  EXPECT_NE(turned, sample_.golden());
  EXPECT_EQ(read(turned).traces, golden().traces);
}

TEST_P(EveryReader, SaysOfARepairWhereItIsMetFirst) {
  for (const Trace& trace : golden().traces) {
    for (const auto& counts : {trace.coverage.dropped, trace.coverage.synthesised}) {
      for (const auto& [reason, count] : counts) {
        EXPECT_TRUE(trace.coverage.first_places.contains(reason)) << reason;
      }
    }
  }
}

}  // namespace
}  // namespace memreplay
