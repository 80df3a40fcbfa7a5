#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "fuzz/fuzz_target.hpp"
#include "trace/decompress.hpp"
#include "trace/event_count.hpp"
#include "trace/gate.hpp"
#include "trace/log_reading.hpp"
#include "trace/mrt/block_code.hpp"
#include "trace/pickle/pickle_opcodes.hpp"
#include "trace/pickle_bytes.hpp"
#include "trace/reader.hpp"
#include "trace/reader_samples.hpp"
#include "trace/snapshot/snapshot_words.hpp"
#include "trace/writer.hpp"

namespace memreplay {
namespace {

using Texts = std::vector<std::string>;

/// As a snapshot has them: as pickle and as JSON.
Texts snapshot_words() {
  Texts words;
  for (int op = 0; op < 256; ++op) {
    if (!name_of(static_cast<PickleOp>(op)).empty()) words.emplace_back(1, static_cast<char>(op));
  }
  for (const std::string_view word : kWordTexts) {
    words.push_back(text(word));
    words.push_back('"' + std::string(word) + '"');
  }
  return words;
}

Texts samples_of(const ReaderInfo& reader) {
  Texts samples;
  for (const ReaderSample& sample : reader_samples()) {
    if (sample.format == reader.name) samples.push_back(sample.golden());
  }
  return samples;
}

Texts words_of(const ReaderInfo& reader, const Texts& seeds) {
  if (reader.copy != nullptr) return snapshot_words();
  if (reader.columns.empty()) return words_in(seeds);
  Texts names;
  for (const ColumnInfo& column : reader.columns) {
    names.emplace_back(column.name);
    names.emplace_back(column.aliases);
  }
  Texts words = words_in(names);
  for (const char* mark : {",", ";", "\t", "\"", "\n", "\r\n", "0x", "a,", "f,", "-1"}) {
    words.emplace_back(mark);
  }
  return words;
}

/// What a copy of the content is in every format that has a form for it.
Texts copies(const ReaderInfo& reader, const Input& input) {
  Texts written;
  for (const WriterInfo& writer : writers()) {
    if (writer.write_value == nullptr) continue;
    std::ostringstream out;
    writer.write_value([&](ValueWriter& values) { reader.copy(input, values); }, out);
    written.push_back(std::move(out).str());
  }
  return written;
}

/// As formats that are written as their events come.
Texts written_again(const ReaderInfo& reader, const Input& input) {
  const Recording recording = reader.read(input, {.note = [](const std::string&) {}});
  Texts written;
  for (const WriterInfo& writer : writers()) {
    if (writer.open == nullptr) continue;
    std::ostringstream out;
    writer.write(recording, out);
    written.push_back(std::move(out).str());
  }
  return written;
}

/// Bundled files, small snapshots, failures and samples, also in the other forms that they have.
Texts all_contents() {
  Texts contents = bundled_files();
  contents.insert(contents.end(), small_snapshots().begin(), small_snapshots().end());
  std::ranges::move(failure_texts(), std::back_inserter(contents));
  for (const ReaderInfo& reader : readers()) {
    std::ranges::move(samples_of(reader), std::back_inserter(contents));
  }
  Texts others;
  for (const std::string& bytes : contents) {
    for (const ReaderInfo& reader : readers()) {
      const Input input{"seed", bytes};
      if (!reader.recognises(input)) continue;
      Texts forms = written_again(reader, input);
      if (reader.copy != nullptr)
        std::ranges::move(copies(reader, input), std::back_inserter(forms));
      std::ranges::move(forms, std::back_inserter(others));
    }
  }
  contents.insert(contents.end(), others.begin(), others.end());
  return contents;
}

Texts seeds_of(const ReaderInfo& reader, const Texts& contents) {
  Texts seeds;
  for (const std::string& bytes : contents) {
    if (reader.recognises({"seed", bytes})) seeds.push_back(bytes);
  }
  return seeds;
}

void read(const ReaderInfo& reader, std::string_view bytes, const std::string& columns = {}) {
  const Input input{"fuzz", bytes};
  reader.recognises(input);
  reader.read(input, {.columns = columns, .note = [](const std::string&) {}});
}

/// Both are equal, but for the events that were not kept.
void expect_counted(const Recording& counted, const Recording& kept) {
  if (counted.traces.size() != kept.traces.size()) std::abort();
  for (std::size_t i = 0; i < kept.traces.size(); ++i) {
    if (counted.traces[i].size() != kept.traces[i].size()) std::abort();
    if (!counted.traces[i].streamed) continue;
    EventCount count;
    count.add(kept.traces[i]);
    if (counted.traces[i].streamed->totals() != count.totals()) std::abort();
  }
}

/// By whoever recognises it, whole and as events that leave.
void read_as_recognised(std::string_view bytes) {
  const Input input{"fuzz", bytes};
  ForgottenEvents nowhere;
  for (const ReaderInfo& reader : readers()) {
    if (!reader.recognises(input)) continue;
    const Recording kept = reader.read(input, {});
    check_recording(kept);
    const ReadOptions counted{
        .format = std::string(reader.name), .counted = true, .takes_texts = true};
    expect_counted(read_recording("fuzz", bytes, counted), kept);
    if (reader.stream != nullptr) reader.stream(input, {}, [&]() -> EventSink& { return nowhere; });
  }
}

/// The columns named by hand in the first line, the table in the others.
void read_by_hand(const ReaderInfo& reader, std::string_view bytes) {
  const std::string_view first = bytes.substr(0, bytes.find('\n'));
  read(reader, bytes.substr(std::min(first.size() + 1, bytes.size())), std::string(first));
}

std::string gzipped(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string zstandard(const std::string& bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3));
  return packed;
}

/// A block after its checksum, which else keeps out all but what was written.
void decode_block(std::string_view bytes) {
  EventColumns events;
  try {
    BlockDecoder({.slots = 50, .texts = 3, .stacks = 3}, kEveryColdColumn)
        .decode(bytes, std::min<std::size_t>(bytes.size(), 100), events);
  } catch (const MrtFault&) {
  }
}

std::string block_of_hundred() {
  EventColumns events;
  for (Slot i = 0; i < 100; ++i) {
    events.ops.push_back(i < 50 ? Op::allocate : Op::free);
    events.slots.push_back(i % 50);
    events.sizes.push_back(Bytes{1000} + i % 50);
    events.times_us.push_back(i);
    events.tags.push_back(i % 3);
  }
  events.lane_of.resize(100);
  events.align_log2.resize(100);
  return BlockEncoder().encode(events, 0, 100);
}

void unpack(std::string_view bytes) {
  const Input input{"fuzz", bytes};
  if (is_compressed(bytes)) decompress(input);
}

}  // namespace

const Texts& small_snapshots() {
  static const Texts made = {
      snapshot(entry("alloc", 4096, 512, text("frames") + list(frame("f", 1) + frame("g", 2))) +
               entry("free_requested", 4096, 512) + entry("free_completed", 4096, 512)),
      snapshot(entry("segment_alloc", 1 << 21, 1 << 21) + entry("oom", 0, 9) +
               entry("annotate", 0, 0) + entry("snapshot", 0, 0))};
  return made;
}

std::vector<FuzzTarget> reader_targets() {
  const Texts contents = all_contents();
  std::vector<FuzzTarget> targets;
  for (const ReaderInfo& reader : readers()) {
    const std::string name(reader.name);
    const Texts seeds = seeds_of(reader, contents), words = words_of(reader, seeds);
    targets.push_back({name, [&reader](auto bytes) { read(reader, bytes); }, seeds, words});
    if (reader.copy != nullptr) {
      const auto copy = [&reader](auto bytes) { copies(reader, {"fuzz", bytes}); };
      targets.push_back({name + "-copy", copy, seeds, words});
    }
    if (!reader.columns.empty()) {
      targets.push_back({name + "-by-hand",
                         [&reader](auto bytes) { read_by_hand(reader, bytes); },
                         {"op=what,id=where,size=much\nwhat,where,much\nmalloc,7,100\nfree,7,\n"},
                         words});
    }
  }
  targets.push_back({"any-reader", read_as_recognised, contents, {}});
  targets.push_back({"mrt-block", decode_block, {block_of_hundred()}, {}});
  const std::string little = "op,id,size\na,1,100\nf,1,\n", none;
  targets.push_back(
      {"gzip", unpack, {gzipped(little), gzipped(none) + gzipped(little)}, {"\x1f\x8b"}});
  targets.push_back({"zstd",
                     unpack,
                     {zstandard(little), "\x50\x2a\x4d\x18\1\0\0\0x"s + zstandard(none + little)},
                     {"\x28\xb5\x2f\xfd", "\x50\x2a\x4d\x18"}});
  return targets;
}

}  // namespace memreplay
