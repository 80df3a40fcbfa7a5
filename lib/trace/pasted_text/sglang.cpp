#include "trace/pasted_text/message_kind.hpp"

namespace memreplay {
namespace {

void complete_sglang(OomMessage& message, const MessageSpan& span) {
  static const Pattern kParts = "K size: {size}, V size: {size}";
  static const Pattern kNothing = "--mem-fraction-static";
  static const Pattern kNegative = "profiled value -";
  static const Pattern kFull = "Try to lower your batch size";
  if (const auto parts = span.find(kParts)) {
    message[Figure::kv_cache] = sum_of(parts->values[0].size, parts->values[1].size);
  }
  if (span.says(kNothing) || span.says(kNegative)) message[OomWord::type] = "nothing left";
  if (span.says(kFull)) message[OomWord::type] = "KV cache full";
}

}  // namespace

// SGLang's model_runner.py and schedule_batch.py, 0.3 to 0.5; its GB are of 2^30 bytes.
MessageKind sglang_message() {
  return {
      .name = "sglang",
      .detail = "SGLang's lines about memory",
      .starts = {"Load weight begin. avail mem={device}", "Load weight end. {*}mem usage={weights}",
                 "Load weight end.", "KV Cache is allocated. #tokens: {tokens}",
                 "Memory pool end. avail mem={device_free}", "max_total_num_tokens={tokens}",
                 "max_total_tokens={tokens_needed} is larger than the profiled value",
                 "Not enough memory. Please try to increase --mem-fraction-static",
                 "Not enough memory. Please try increasing --mem-fraction-static",
                 "Prefill out of memory. Try to lower your batch size",
                 "Decode out of memory. Try to lower your batch size",
                 "out of memory. Try to lower your batch size"},
      .fields = {"KV size: {kv_cache}", "Try to allocate {tokens_needed} tokens",
                 "available_gpu_mem={device_free}", "Available tokens: {tokens_fitting}"},
      .complete = complete_sglang,
      .join = replace_all};
}

}  // namespace memreplay
