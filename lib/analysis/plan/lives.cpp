#include "analysis/plan/lives.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "replay/planning.hpp"
#include "trace/minimalloc/minimalloc.hpp"

namespace memreplay {
namespace {

/// Requests from this size on are left out.
constexpr Bytes kNoDevice = Bytes{1} << 50;

/// Times of a file may be negative; their order stays.
std::uint64_t unsigned_time(std::int64_t time) {
  return static_cast<std::uint64_t>(time) + (std::uint64_t{1} << 63);
}

TraceLives stated_lives(const std::vector<StatedBuffer>& stated, Bytes alignment) {
  TraceLives lives;
  for (const StatedBuffer& buffer : stated) {
    const auto row = static_cast<std::uint32_t>(lives.buffers.size());
    if (buffer.size >= kNoDevice || buffer.alignment >= kNoDevice) {
      ++lives.left_out;
      continue;
    }
    lives.buffers.push_back({buffer.name, buffer.lower, buffer.upper, buffer.size, {}});
    lives.problem.blocks.push_back({unsigned_time(buffer.lower), unsigned_time(buffer.upper),
                                    round_up(buffer.size, alignment),
                                    std::max(alignment, buffer.alignment)});
    for (const StatedBuffer::Gap& gap : buffer.gaps) {
      lives.buffers.back().gaps.push_back({gap.from, gap.to, gap.low, gap.high});
      lives.problem.gaps.push_back(
          {row, unsigned_time(gap.from), unsigned_time(gap.to), gap.low, gap.high});
    }
    lives.problem.places.push_back(buffer.offset);
  }
  const auto given = [](const auto& place) { return place.has_value(); };
  if (std::ranges::none_of(lives.problem.places, given)) lives.problem.places.clear();
  return lives;
}

/// Blocks are called as the recording numbers them, or by the event that asks for them.
std::string name_of_request(const Trace& trace, const PlannedRequest& request, std::size_t number) {
  if (request.start == 0) return "start-" + std::to_string(number);
  const std::uint64_t event = request.start - 1;
  return std::to_string(trace.ids.empty() ? event : trace.ids[event]);
}

TraceLives program_lives(const Trace& trace, const Program& program, Bytes alignment) {
  TraceLives lives;
  const PlannedProgram planned = foresee(program);
  const std::uint64_t last = program.size() + 1;
  for (std::size_t i = 0; i < planned.requests.size(); ++i) {
    const PlannedRequest& request = planned.requests[i];
    const std::uint64_t end = std::min(request.end, last);
    if (end <= request.start) continue;  // freed before the first event
    if (request.size >= kNoDevice || request.alignment >= kNoDevice) {
      ++lives.left_out;
      continue;
    }
    const Bytes size = round_up(request.size, alignment);
    lives.buffers.push_back({name_of_request(trace, request, i),
                             static_cast<std::int64_t>(request.start),
                             static_cast<std::int64_t>(end),
                             size,
                             {}});
    lives.problem.blocks.push_back(
        {request.start, end, size, std::max(alignment, request.alignment)});
  }
  lives.problem.blocks = at_own_times(std::move(lives.problem.blocks));
  return lives;
}

}  // namespace

bool states_lives(const Recording& recording) {
  return recording.format == minimalloc_reader().name;
}

TraceLives lives_of(const Subject& subject, const ProgramOptions& options, Bytes alignment) {
  if (states_lives(subject.recording())) {
    const std::string& path = subject.recording().path;
    if (!std::filesystem::is_regular_file(path)) {
      throw UsageError(path + ": is no file; expected one, as lists of lifetimes are read twice");
    }
    return stated_lives(stated_buffers(path), alignment);
  }
  return program_lives(subject.trace(), program_of(subject, options), alignment);
}

}  // namespace memreplay
