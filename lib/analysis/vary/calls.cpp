#include "analysis/vary/calls.hpp"

#include <algorithm>

#include "trace/frame_kind.hpp"

namespace memreplay {
namespace {

FrameKind kind_of(const Recording& recording, const Frame& frame) {
  return frame_kind(recording.texts[frame.name], recording.texts[frame.file]);
}

bool has_python(const Recording& recording, std::uint32_t stack) {
  return std::ranges::any_of(recording.stacks[stack], [&](std::uint32_t frame) {
    return is_python(kind_of(recording, recording.frames[frame]));
  });
}

std::string file_name(const std::string& path) {
  return path.substr(path.find_last_of("/\\") + 1);  // all of it where there is none
}

/// Lanes and stacks of one recording, each looked up once.
class Numbering {
 public:
  Numbering(const Recording& recording, const Trace& trace, CommonAskers& askers)
      : recording_(recording), trace_(trace), askers_(askers) {}

  CallBlock block(Bytes size, std::uint32_t stack, std::size_t lane) {
    const auto [at, is_new] = known_.try_emplace({stack, lane});
    if (is_new) {
      at->second = {askers_.number(recording_, stack, trace_.lanes[lane]),
                    has_python(recording_, stack)};
    }
    return {size, at->second.first, at->second.second};
  }

 private:
  const Recording& recording_;
  const Trace& trace_;
  CommonAskers& askers_;
  std::map<std::pair<std::uint32_t, std::size_t>, std::pair<std::uint32_t, bool>> known_;
};

/// Takes (ask, free it) out again where it repeats the pair before. What stands for the block that
/// was freed last.
std::uint32_t join_repetition(Calls& calls) {
  const std::size_t n = calls.calls.size();
  const std::uint32_t freed = calls.calls.back().block;
  if (n < 4) return freed;
  const AlignedCall* last = &calls.calls[n - 4];
  const std::uint32_t first = last[0].block;
  const std::uint32_t again = last[2].block;
  const bool pairs = !last[0].frees && last[1].frees && last[1].block == first && !last[2].frees &&
                     last[3].frees && last[3].block == again;
  if (!pairs || again + 1 != calls.blocks.size()) return freed;
  const CallBlock& a = calls.blocks[first];
  const CallBlock& b = calls.blocks[again];
  if (a.size != b.size || a.asker != b.asker) return freed;
  calls.calls.resize(n - 2);
  calls.event_of.resize(n - 2);
  calls.blocks.pop_back();
  return first;
}

}  // namespace

std::uint32_t CommonAskers::number(const Recording& recording, std::uint32_t stack, Lane lane) {
  std::vector<Line> lines;
  for (const std::uint32_t index : recording.stacks[stack]) {
    const Frame& frame = recording.frames[index];
    const FrameKind kind = kind_of(recording, frame);
    if (!is_python(kind)) continue;
    const bool own = kind == FrameKind::own;
    lines.emplace_back(own ? file_name(recording.texts[frame.file]) : std::string(),
                       recording.texts[frame.name], own && by_line_ ? frame.line : kNoLine);
  }
  const auto next = static_cast<std::uint32_t>(numbers_.size());
  return numbers_.try_emplace({std::move(lines), lane.stream, lane.pool}, next).first->second;
}

Calls calls_of(const Recording& recording, const Trace& trace, const BlockLives& lives,
               CommonAskers& askers) {
  Calls calls;
  Numbering numbering(recording, trace, askers);
  calls.block_of_life.reserve(lives.blocks.size());
  for (const BlockLife& life : lives.blocks) {  // the others follow when they are asked for
    if (!life.existed_before()) break;
    calls.block_of_life.push_back(static_cast<std::uint32_t>(calls.blocks.size()));
    const bool freed = life.freed != BlockLife::kNever;  // by whom tells more than who asked
    calls.blocks.push_back(numbering.block(life.size,
                                           freed ? stack_at(trace, life.freed) : life.stack,
                                           freed ? trace.lane_of[life.freed] : 0));
  }
  const auto add = [&](std::size_t event, bool frees, std::uint32_t block) {
    calls.calls.push_back({frees, block});
    calls.event_of.push_back(event);
  };
  for (std::size_t event = 0; event < trace.ops.size(); ++event) {
    const std::uint32_t life = lives.block_of[event];
    if (life == BlockLives::kNone) continue;
    if (life == calls.block_of_life.size()) {
      calls.block_of_life.push_back(static_cast<std::uint32_t>(calls.blocks.size()));
      calls.blocks.push_back(
          numbering.block(lives.blocks[life].size, lives.blocks[life].stack, trace.lane_of[event]));
      calls.blocks.back().call = static_cast<std::uint32_t>(calls.calls.size());
      add(event, false, calls.block_of_life[life]);
    } else if (lives.blocks[life].freed == event) {
      add(event, true, calls.block_of_life[life]);
      calls.block_of_life[life] = join_repetition(calls);
    }
  }
  return calls;
}

}  // namespace memreplay
