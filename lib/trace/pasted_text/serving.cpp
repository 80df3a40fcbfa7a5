#include "trace/pasted_text/message_kind.hpp"

namespace memreplay {
namespace {

void complete_vllm(OomMessage& message, const MessageSpan& span) {
  static const Pattern kNothing = "No available memory for the cache blocks";
  static const Pattern kStart = "on startup is less than desired";
  if (span.says(kNothing)) message[OomWord::type] = "nothing left";
  if (span.says(kStart)) {
    message[OomWord::type] = "not free";
    message[Figure::lacking] = difference_of(message[Figure::limit], message[Figure::device_free]);
  }
  if (message[Figure::lacking] && message[Figure::lacking]->bytes == 0) {
    message[Figure::lacking].reset();
    message[OomWord::type] = "used up";
  }
}

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

void complete_tgi(OomMessage& message, const MessageSpan& span) {
  static const Pattern kNothing = "Not enough memory to handle";
  static const Pattern kTotal = "total tokens with";
  if (span.says(kNothing)) message[OomWord::type] = span.says(kTotal) ? "total" : "nothing left";
}

}  // namespace

// vLLM's worker.py, gpu_worker.py and kv_cache_utils.py: lines of 0.4 to 0.11; V1 since 0.8 says
// "Available KV cache memory".
MessageKind vllm_message() {
  return {
      .name = "vllm",
      .detail = "vLLM's lines about memory at its start",
      .starts =
          {"can use total_gpu_memory ({device}) x gpu_memory_utilization ({fraction}) = {limit}",
           "Memory profiling results: total_gpu_memory={device}",
           "model weights take {weights}",
           "Available KV cache memory: -{lacking}",
           "Available KV cache memory: {kv_cache}",
           "Model loading took {weights}",
           "Loading model weights took {weights}",
           "GPU KV cache size: {tokens} tokens",
           "# GPU blocks: {kv_blocks}",
           "# cuda blocks: {kv_blocks}",
           "max seq len ({tokens_needed}) is larger than the maximum number of tokens that "
           "can be stored in KV cache ({tokens})",
           "max seq len ({tokens_needed}), ({needed} KV cache is needed",
           "max seq len ({tokens_needed}), {needed} KV cache is needed",
           "No available memory for the cache blocks",
           "total_gpu_memory {device}",
           "the current vLLM instance can use {limit}",
           "available_kv_cache_memory {kv_cache}",
           "Free memory on device cuda:{gpu} ({device_free:GiB}/{device}) on startup is less than",
           "Free memory on device {*}({device_free:GiB}/{device}) on startup is less than",
           "estimated maximum model length is {tokens_fitting}",
           "KV Cache is -{lacking}",
           "KV Cache is {kv_cache}"},
      .fields = {"non_torch_memory takes {outside}", "non_torch_memory={outside}",
                 "non_torch_memory {outside}", "PyTorch activation peak memory {activations}",
                 "PyTorch activation peak memory takes {activations}", "kv_cache_size={kv_cache}",
                 "available KV cache memory ({kv_cache})",
                 "desired GPU memory utilization ({fraction}, {limit})",
                 "desired GPU memory utilization {*}({fraction}, {limit})"},
      .complete = complete_vllm,
      .join = add_missing};
}

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

// Text Generation Inference: server/models/*.py and router's infer.rs, 0.9 to 3.
MessageKind tgi_message() {
  return {.name = "tgi",
          .detail = "Text Generation Inference's lines about memory",
          .starts = {"Not enough memory to handle {tokens_needed} prefill tokens",
                     "Not enough memory to handle {tokens_needed} total tokens",
                     "Not enough memory to handle", "max batch total tokens to {tokens}",
                     "max batch total tokens: {tokens}", "KV-cache blocks: {kv_blocks}"},
          .complete = complete_tgi,
          .join = replace_all};
}

}  // namespace memreplay
