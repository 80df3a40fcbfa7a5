#include "report/parts/recording_advice.hpp"

#include <fmt/format.h>

namespace memreplay {
namespace {

bool is_npu(const TraceSummary& trace) {
  return trace.settings_variable == "PYTORCH_NPU_ALLOC_CONF" || trace.request_padding > 0;
}

}  // namespace

std::string better_recording(bool larger_before) {
  return larger_before ? "record from the start of the program, or a step of the largest shape too."
                       : "record from the start of the program, with room for all of its events.";
}

std::string how_to_record(const TraceSummary& trace) {
  const std::string memory = is_npu(trace) ? "torch_npu.npu.memory" : "torch.cuda.memory";
  return fmt::format(
      "record: {}._record_memory_history(max_entries=1000000) before the model is built, "
      "{}._dump_snapshot(\"run.pickle\") after a step or at the failure.",
      memory, memory);
}

std::string nothing_requested_sentence(const TraceSummary& trace) {
  const std::string what =
      trace.events == 0 ? "a state without a history" : "a history in which nothing is requested";
  const std::string lacks = fmt::format(
      "{} is {}: what the program asks for, and in which order, is not in it.", trace.path, what);
  if (!trace.format.starts_with("torch")) return lacks + " Record one with its allocations.";
  return fmt::format("{} To learn that, {}", lacks, how_to_record(trace));
}

}  // namespace memreplay
