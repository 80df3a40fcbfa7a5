#include <algorithm>

#include "trace/pasted_text/message_kind.hpp"

namespace memreplay {
namespace {

void complete_report(OomMessage& message, const MessageSpan& span) {
  static const Pattern kNow = "MA {live} Max_MA";
  constexpr std::size_t kBefore = 20;
  const std::size_t from = span.from - std::min(span.from, kBefore);
  if (const auto now = kNow.find(span.packed, from, span.from)) kNow.fill(*now, message);
}

}  // namespace

// Megatron-LM's training/utils.py, report_memory(): MB of 2^20 bytes, cached for reserved up
// to 2.0; DeepSpeed's runtime/utils.py, see_memory_usage(): GB of 2^30 bytes.
MessageKind megatron_message() {
  return {.name = "megatron",
          .detail = "a line of Megatron's or DeepSpeed's memory report",
          .starts = {"memory (MB) | allocated: {live:MiB}", "Max_MA {live_peak} CA {reserved}"},
          .fields = {"| max allocated: {live_peak:MiB}", "| reserved: {reserved:MiB}",
                     "| max reserved: {reserved_peak:MiB}", "| cached: {reserved:MiB}",
                     "| max cached: {reserved_peak:MiB}", "Max_CA {reserved_peak}"},
          .complete = complete_report};
}

}  // namespace memreplay
