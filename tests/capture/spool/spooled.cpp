// spooled FOLDER [OUT]: what the spools of a folder say, a line each, for the tests that record
// real programs. With OUT each becomes OUT/PROCESS.mrt. Exit 1 where the order of a spool is wrong.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <span>

#include "spool/recording.hpp"
#include "trace/gate.hpp"
#include "trace/writer.hpp"

using namespace memreplay;
using namespace memreplay::capture;

namespace {

/// Live blocks never overlap: the proof that the order is that of the calls. Blocks from before a
/// fork are not looked at.
class LiveRanges {
 public:
  bool take(const Record& record) {
    const Call call = call_of(record);
    if (call == Call::free || call == Call::reallocating) {
      return live_.erase(record.address), true;
    }
    if (call != Call::allocate) return true;
    const Address end = record.address + std::max<Bytes>(bytes_of(record), 1);
    const auto next = live_.lower_bound(record.address);
    if (next != live_.end() && next->first < end) return false;
    if (next != live_.begin() && std::prev(next)->second > record.address) return false;
    live_.emplace(record.address, end);
    return true;
  }

 private:
  std::map<Address, Address> live_;
};

std::uint64_t overlaps(const SpooledProcess& process) {
  const SpoolFile spool(process.spool);
  SpoolRecords records(spool);
  LiveRanges live;
  std::uint64_t count = 0;
  while (const Record* record = records.next()) count += !live.take(*record);
  return count;
}

/// "a 1000 0 0:0": operation, size, stream, pool.
std::string line_of(const Trace& trace, std::size_t event) {
  const char op = trace.ops[event] == Op::allocate ? 'a' : trace.ops[event] == Op::oom ? 'o' : 'f';
  const StreamPool lane = trace.lane(event);
  const PoolId pool = trace.pools[lane.pool];
  return fmt::format("\"{} {} {} {}:{}\"", op, trace.sizes[event], trace.streams[lane.stream],
                     pool.first, pool.second);
}

/// All events of a process, by device.
std::string events_of(const Recording& recording) {
  std::vector<std::string> traces;
  for (const Trace& trace : recording.traces) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < trace.size(); ++i) lines.push_back(line_of(trace, i));
    traces.push_back(fmt::format("\"{}\": [{}]", trace.gpu, fmt::join(lines, ", ")));
  }
  return fmt::format("{{{}}}", fmt::join(traces, ", "));
}

void print(const SpooledProcess& process, std::uint64_t overlaps) {
  SpoolSummary summary;
  const Recording recording = read_recording(process, summary);
  check_recording(recording);
  fmt::print(
      "{{\"process\": {}, \"recorder\": \"{}\", \"forked\": {}, \"allocations\": {}, \"frees\": "
      "{}, "
      "\"refused\": {}, \"unknown_frees\": {}, \"inherited\": {}, \"live_blocks\": {}, "
      "\"peak_bytes\": {}, \"missing\": {}, \"unrecorded_forks\": {}, \"stopped_by\": {}, "
      "\"overlaps\": {}, "
      "\"given_again\": {}, \"traces\": {}}}\n",
      process.process, process.recorder, process.is_forked, summary.allocations, summary.frees,
      summary.refused, summary.unknown_frees, summary.inherited, summary.live_blocks,
      summary.peak_bytes, summary.missing, summary.unrecorded_forks, summary.stopped_by, overlaps,
      recording.traces.front().coverage.synthesised.contains(
          "frees of blocks whose place was given again"),
      process.recorder == "cuda" ? events_of(recording) : "{}");
}

void write(const SpooledProcess& process, const std::filesystem::path& folder) {
  const auto stem = std::filesystem::path(process.spool).stem();
  const std::string out = (folder / stem).string() + ".mrt";
  std::ofstream file(out, std::ios::binary);
  stream_recording(process, *writer_for(out).open(file));
}

}  // namespace

int main(int count, char** arguments) {
  const std::span<char*> args(arguments, static_cast<std::size_t>(count));
  bool is_right = true;
  for (const SpooledProcess& process : processes_in(args[1]).processes) {
    const std::uint64_t wrong = process.recorder == "malloc" ? overlaps(process) : 0;
    is_right = is_right && wrong == 0;
    print(process, wrong);
    if (args.size() > 2) write(process, args[2]);
  }
  return is_right ? 0 : 1;
}
