#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "core/error.hpp"
#include "core/text.hpp"
#include "trace/mrt/mrt_file.hpp"
#include "trace/mrt/mrt_stream.hpp"

namespace memreplay {
namespace {

/// From so many events on it is said that they are all held in memory.
constexpr std::uint64_t kMany = 20'000'000;

/// All events of all traces, in their columns.
void read_events(const Input& input, const MrtAbout& about, Recording& recording) {
  std::deque<BlockDecoder> decoders;
  for (const Trace& trace : recording.traces) {
    decoders.emplace_back(mrt_limits(recording, trace), kEveryColdColumn);
  }
  std::size_t at = kMrtFrontBytes;
  EventColumns events;
  for (std::size_t i = 0; i < about.blocks.size(); ++i) {
    const MrtBlockHead& head = about.blocks[i];
    const std::size_t bytes = sizeof head + head.bytes;
    try {
      decode_mrt_block(input.bytes.substr(at, bytes), head, decoders[head.trace], events);
    } catch (const MrtFault& fault) {
      throw InputError(input.name, mrt_place(i), fault.what());
    }
    append(events, recording.traces[head.trace]);
    at += bytes;
    if (input.progress) {
      input.progress(static_cast<double>(at) / static_cast<double>(input.bytes.size()));
    }
  }
}

/// What nothing but the program's requests and frees decides can be told while they are read.
bool can_stream(const Recording& recording, const Trace& trace, const EventTotals& totals) {
  return !is_torch(recording) && totals.program_alone && trace.coverage.starts_empty &&
         trace.start.segments.empty() && trace.end.segments.empty();
}

bool stays_in_file(const Input& input, const ReadOptions& options, const MrtAbout& about) {
  const Recording& recording = about.recording;
  bool longer = false;
  for (std::size_t i = 0; i < recording.traces.size(); ++i) {
    if (!can_stream(recording, recording.traces[i], about.totals[i])) return false;
    longer |= about.totals[i].events > options.most_in_memory;
  }
  return longer && input.mapped;
}

void note_size(const Input& input, const ReadOptions& options, const MrtAbout& about) {
  constexpr Bytes kHotBytes = 16;
  std::uint64_t events = 0;
  for (const EventTotals& totals : about.totals) events += totals.events;
  if (events < kMany || !options.note) return;
  options.note(fmt::format(
      "{}: what is asked needs the whole trace: {} events are held in memory, {} at least",
      input.name, human_count(events), human_size(events * kHotBytes)));
}

Recording read(const Input& input, const ReadOptions& options) {
  auto about = std::make_shared<MrtAbout>(read_mrt_about(input));
  Recording recording = about->recording;
  if (stays_in_file(input, options, *about)) {
    stream_mrt(input, about, recording);
    return recording;
  }
  note_size(input, options, *about);
  read_events(input, *about, recording);
  return recording;
}

}  // namespace

ReaderInfo mrt_reader() {
  return {
      .name = "mrt",
      .summary = "memreplay's own binary form of any recording: small, checked, as long as may be",
      .recognises = [](const Input& input) { return input.bytes.starts_with(kMrtMagic); },
      .read = read};
}

}  // namespace memreplay
