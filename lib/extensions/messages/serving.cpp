#include <algorithm>
#include <utility>

#include "extensions/messages/message_kind.hpp"

namespace memreplay {
namespace {

void complete_vllm(OomMessage& message, const MessageSpan& span) {
  static const Pattern kNothing = "No available memory for the cache blocks";
  static const Pattern kBytes = "Current kv cache memory in use is {kv_cache:B}";
  if (const auto in_use = span.find(kBytes)) kBytes.fill(*in_use, message);
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
  static const Pattern kDraft[] = {"Load weight end. {*}Eagle{*}mem usage={size}",
                                   "Load weight end. {*}EAGLE{*}mem usage={size}",
                                   "Load weight end. {*}NextN{*}mem usage={size}",
                                   "Load weight end. {*}MTP{*}mem usage={size}",
                                   "Load weight end. {*}Draft{*}mem usage={size}"};
  const auto is_draft = [&](const Pattern& p) {
    const auto match = p.match_at(span.packed, span.from);
    return match && match->end <= span.to;
  };
  if (message[Figure::weights] && std::ranges::any_of(kDraft, is_draft)) {
    message[Figure::draft_weights] = std::exchange(message[Figure::weights], std::nullopt);
  }
  if (span.says(kNothing) || span.says(kNegative)) message[OomWord::type] = "nothing left";
  if (span.says(kFull)) message[OomWord::type] = "KV cache full";
}

// What comes later replaces what was there; a second model, loaded beside the first, is its draft,
// and each capture of graphs adds to the others.
bool join_sglang(OomMessage& before, const OomMessage& after) {
  OomMessage next = after;
  const auto& start = before[Figure::free_at_start];
  if (after[Figure::free_at_start] && start) {
    // A server that starts again has about as much as at first.
    if (after[Figure::free_at_start]->bytes >= start->bytes - start->bytes / 20) {
      before = after;
      return true;
    }
    next[Figure::free_at_start].reset();
    before[Count::models] = 2;
  }
  const bool second = before[Count::models] == 2;
  if (second && next[Figure::weights]) {
    next[Figure::draft_weights] = std::exchange(next[Figure::weights], std::nullopt);
  }
  const bool has_draft = second || before[Figure::draft_weights] || next[Figure::draft_weights];
  if (has_draft && before[Figure::kv_cache] && next[Figure::kv_cache]) {
    next[Figure::draft_kv_cache] = std::exchange(next[Figure::kv_cache], std::nullopt);
    next[Count::tokens].reset();
  }
  if (before[Figure::graphs] && next[Figure::graphs]) {
    next[Figure::graphs] = sum_of(before[Figure::graphs], next[Figure::graphs]);
  }
  return replace_all(before, next);
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
           "Free memory on device ({free_at_start:GiB}/{device}) on startup. Desired GPU memory "
           "utilization is ({fraction}, {limit})",
           "Free memory on device {*}({free_at_start:GiB}/{device}) on startup. Desired GPU memory "
           "utilization is ({fraction}, {limit})",
           "Actual usage is {weights} for weight",
           "Graph capturing finished in {number} secs, took {graphs}",
           "CUDA graph pool memory: {graphs} (actual)",
           "available_kv_cache_memory {kv_cache}",
           "Free memory on device cuda:{gpu} ({device_free:GiB}/{device}) on startup is less than",
           "Free memory on device {*}({device_free:GiB}/{device}) on startup is less than",
           "estimated maximum model length is {tokens_fitting}",
           "KV Cache is -{lacking}",
           "KV Cache is {kv_cache}"},
      .fields = {"for weight, {activations} for peak activation",
                 "activation, {outside} for non-torch memory", "and {graphs} for CUDAGraph memory",
                 "Current kv cache memory in use is {kv_cache}", "non_torch_memory takes {outside}",
                 "non_torch_memory={outside}", "non_torch_memory {outside}",
                 "PyTorch activation peak memory {activations}",
                 "PyTorch activation peak memory takes {activations}", "kv_cache_size={kv_cache}",
                 "available KV cache memory ({kv_cache})",
                 "desired GPU memory utilization ({fraction}, {limit})",
                 "desired GPU memory utilization {*}({fraction}, {limit})"},
      .complete = complete_vllm,
      .join = add_missing,
      .is_state = true};
}

// SGLang's model_runner.py and schedule_batch.py, 0.3 to 0.5 (2026); its GB are of 2^30 bytes.
MessageKind sglang_message() {
  return {.name = "sglang",
          .detail = "SGLang's lines about memory",
          .starts = {"Load weight begin. avail mem={free_at_start}",
                     "Load weight end. {*}mem usage={weights}", "Load weight end.",
                     "KV Cache is allocated. #tokens: {tokens}",
                     "KV Cache is allocated. {*}#tokens: {tokens}",
                     "Memory pool end. avail mem={device_free}", "max_total_num_tokens={tokens}",
                     "cuda graph end. {*}mem usage={graphs}. avail mem={device_free}",
                     "CUDA graph end. {*}mem usage={graphs}. avail mem={device_free}",
                     "max_total_tokens={tokens_needed} is larger than the profiled value",
                     "Not enough memory. Please try to increase --mem-fraction-static",
                     "Not enough memory. Please try increasing --mem-fraction-static",
                     "Prefill out of memory. Try to lower your batch size",
                     "Decode out of memory. Try to lower your batch size",
                     "out of memory. Try to lower your batch size"},
          .fields = {"KV size: {kv_cache}", "Try to allocate {tokens_needed} tokens",
                     "available_gpu_mem={device_free}", "Available tokens: {tokens_fitting}"},
          .complete = complete_sglang,
          .join = join_sglang,
          .is_state = true};
}

// TensorRT-LLM's memoryCounters and kvCacheManager, 0.5 to 1.2; its GiB are of 2^30 bytes.
MessageKind trtllm_message() {
  return {.name = "trtllm",
          .detail = "TensorRT-LLM's lines about its KV cache",
          .starts = {"Memory usage when calculating max tokens in paged kv cache: total: {device}, "
                     "available: {device_free}",
                     "Allocated {kv_cache} for max tokens in paged KV cache ({tokens})",
                     "Max tokens in paged KV cache: {tokens}. Allocating {kv_cache:B}",
                     "Max tokens in paged KV cache: {tokens}",
                     "Using {tokens} tokens in paged KV cache",
                     "Number of blocks in KV cache primary pool: {kv_blocks}",
                     "max_tokens in paged kv cache: {tokens}",
                     "Estimated max memory in KV cache : {kv_cache}",
                     "available KV cache memory when calculating max tokens: {device_free}",
                     "Memory used after loading model weights (inside torch) in memory usage "
                     "profiling: {weights}"},
          .join = replace_all,
          .is_state = true};
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
          .join = replace_all,
          .is_state = true};
}

}  // namespace memreplay
