#include "extensions/ranks/request_stream.hpp"

#include <gtest/gtest.h>

#include "support/recordings.hpp"
#include "trace/mrt/mrt_bytes.hpp"

namespace memreplay {
namespace {

RequestStream stream_of(RecordingWriter& writer) {
  const Recording recording = writer.recording();
  RequestStream stream = request_stream(recording.traces.at(0));
  name_places(recording, recording.traces.at(0), stream);
  return stream;
}

Hash128 hash_of(const RequestStream& stream) { return Beginnings(stream).whole(); }

TEST(RequestStream, IsTheSameInOtherSlotsAndBetweenDriverEvents) {
  RecordingWriter a;
  a.alloc(0, 100).alloc(1, 200).free(0);
  RecordingWriter b;
  b.add(Op::segment_alloc, kNoSlot, 2 * kMiB).alloc(5, 100).alloc(3, 200).free(5);
  const RequestStream one = stream_of(a);
  const RequestStream other = stream_of(b);
  EXPECT_EQ(hash_of(one), hash_of(other));
  EXPECT_EQ(one.events, (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(other.events, (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST(RequestStream, TellsWhichOfTwoEqualBlocksIsFreed) {
  RecordingWriter a;
  a.alloc(0, 100).alloc(1, 100).free(0);
  RecordingWriter b;
  b.alloc(0, 100).alloc(1, 100).free(1);
  EXPECT_NE(hash_of(stream_of(a)), hash_of(stream_of(b)));
}

TEST(RequestStream, ARefusedRequestIsAnother) {
  RecordingWriter a;
  a.alloc(0, 100).alloc(1, 200);
  RecordingWriter b;
  b.alloc(0, 100).add(Op::oom, kNoSlot, 200);
  const RequestStream served = stream_of(a);
  const RequestStream refused = stream_of(b);
  EXPECT_EQ(first_difference(served, refused, 0), 1u);
}

TEST(RequestStream, IsUnpackedAsItWasPacked) {
  RecordingWriter a;
  const auto stack = a.stack({"model.py:41 forward"});
  a.alloc(0, 100, stack).alloc(1, std::uint64_t{1} << 40).free(0);
  const RequestStream stream = stream_of(a);
  const RequestStream again = unpacked(packed(stream));
  EXPECT_EQ(again.calls, stream.calls);
  EXPECT_EQ(again.events, stream.events);
  EXPECT_EQ(again.end, 3u);
  EXPECT_EQ(again.place(0), "model.py:41 forward");
  EXPECT_EQ(again.place(1), "");
}

TEST(RequestStream, DamagedBytesAreRefused) {
  RecordingWriter a;
  a.alloc(0, 100).free(0);
  const std::string bytes = packed(stream_of(a));
  EXPECT_THROW(unpacked(""), MrtFault);
  EXPECT_THROW(unpacked(bytes.substr(0, bytes.size() - 1)), MrtFault);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    try {
      unpacked(damaged);
    } catch (const MrtFault&) {
    }
  }
}

TEST(Beginnings, GoTogetherUntilTheFirstDifference) {
  for (const std::size_t at : {0, 1, 200, 255, 256, 300, 512, 600}) {
    RequestStream a;
    for (Bytes size = 1; size <= 700; ++size) a.calls.push_back({.size = size});
    RequestStream b = a;
    b.calls[at].size = 0;
    const std::size_t common = Beginnings(a).common(Beginnings(b));
    EXPECT_LE(common, at);
    EXPECT_EQ(common, at <= 256 ? at : at / 256 * 256) << at;
    EXPECT_EQ(first_difference(a, b, common), at);
    EXPECT_NE(hash_of(a), hash_of(b));
  }
}

}  // namespace
}  // namespace memreplay
