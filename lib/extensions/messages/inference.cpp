#include "extensions/messages/message_kind.hpp"

namespace memreplay {
namespace {

void complete_tensorrt(OomMessage& message, const MessageSpan& span) {
  static const Pattern kSkipped = "Skipping tactic";
  message.harmless = span.says(kSkipped);
  if (message.harmless) message[OomWord::type] = "skipped";
}

// What the memory was for.
void complete_ggml(OomMessage& message, const MessageSpan& span) {
  struct Use {
    Pattern sign;
    const char* name;
  };
  static const Use kUses[] = {{"compute", "compute"},           {"graph_reserve", "compute"},
                              {"gallocr", "compute"},           {"kv cache", "KV cache"},
                              {"kv_cache", "KV cache"},         {"error loading model", "weights"},
                              {"load_tensors", "weights"},      {"llama_model_load", "weights"},
                              {"unable to allocate", "weights"}};
  for (const Use& use : kUses) {
    if (message[OomWord::type].empty() && span.says(use.sign)) message[OomWord::type] = use.name;
  }
  if (message[OomWord::call].empty()) message[OomWord::call] = "the device";
  static const Pattern kAgain = "retrying without pipeline parallelism";
  if (span.says(kAgain)) {
    message.harmless = true;
    message[OomWord::type] = "retried";
  }
}

bool join_parts(OomMessage& before, const OomMessage& after) {
  if (after.harmless) {
    before.harmless = true;
    before[OomWord::type] = after[OomWord::type];
  }
  return add_missing(before, after);
}

void complete_mlx(OomMessage& message, const MessageSpan& span) {
  static const Pattern kResources = "Resource limit (";
  static const Pattern kCommands = "kIOGPUCommandBuffer";
  if (span.says(kResources)) message[OomWord::type] = "buffers";
  if (span.says(kCommands)) message[OomWord::type] = "command buffer";
}

// What an arena grew by belongs to the request before it, not to a later one.
bool join_arena(OomMessage& before, const OomMessage& after) {
  if (after[Figure::requested] && before[Figure::requested]) before[Figure::grown].reset();
  return replace_all(before, after);
}

}  // namespace

// onnxruntime/core/framework/bfc_arena.cc since 1.0: a request that no region serves, and the node
// whose run asked for it.
MessageKind onnxruntime_message() {
  return {
      .name = "onnxruntime",
      .detail = "ONNX Runtime's error",
      .starts =
          {"Non-zero status code returned while running",
           "Failed to allocate memory for requested buffer of size {requested:B}",
           "Available memory of {device_free:B} is smaller than requested bytes of {requested:B}"},
      .fields = {"node. Name:'{node}' Status"},
      .join = add_missing};
}

// onnxruntime/core/framework/bfc_arena.cc since 1.8, its verbose lines; requested and rounded bytes
// since 1.17.
MessageKind onnxruntime_arena_message() {
  return {.name = "onnxruntime-arena",
          .detail = "a log of ONNX Runtime's arena",
          .starts = {"Creating BFCArena for {buffer} with following configs",
                     "Creating {*}Arena for {buffer} with following configs",
                     "Extending BFCArena for {buffer}.",
                     "Reserving memory in BFCArena for {buffer} size: {requested:B}",
                     "Extended allocation by {grown}", "Total allocated bytes: {reserved:B}"},
          .fields = {"memory limit: {limit:B}", "arena_extend_strategy: {strategy}",
                     "(requested) num_bytes: {requested:B}", "num_bytes: {requested:B}",
                     "bin_num: {number} rounded_bytes: {requested:B}"},
          .complete = [](OomMessage& message, const MessageSpan&) { message.overflows.clear(); },
          .join = join_arena,
          .is_state = true};
}

// TensorRT's log of 5 to 10: the builder goes on without a tactic that has too little memory.
MessageKind tensorrt_message() {
  return {.name = "tensorrt",
          .detail = "TensorRT's log",
          .starts = {"Requested amount of GPU memory ({requested}) could not be allocated",
                     "Requested amount of memory ({requested}) could not be allocated",
                     "due to insufficient memory on requested size of {requested:B}",
                     "due to oom error on requested size of {requested:B}"},
          .fields = {"on requested size of {requested:B}"},
          .complete = complete_tensorrt,
          .join = add_missing};
}

// llama.cpp's ggml-cuda.cu, ggml-alloc.c, ggml-backend.cpp, ggml-vulkan.cpp, ggml-sycl.cpp and
// llama*.cpp, of 2024 to 2026; ROCm and MUSA builds say cudaMalloc too.
MessageKind ggml_message() {
  return {
      .name = "ggml",
      .detail = "llama.cpp's error",
      .starts = {"allocating {requested} on device {gpu}: {call} failed",
                 "failed to allocate {buffer} buffer of size {requested:B}",
                 "unable to allocate {buffer} buffer", "failed to allocate buffer for kv cache",
                 "failed to allocate compute", "failed to allocate buffer, size = {requested}",
                 "ggml_vulkan: Device memory allocation of size {requested:B} failed",
                 "can't allocate {requested} of memory on device",
                 "error loading model: unable to allocate",
                 "buffer '{buffer}' size {requested:B} is larger than buffer maximum of {limit:B}"},
      .complete = complete_ggml,
      .join = join_parts,
      .harmless = {"retrying without pipeline parallelism"}};
}

// MLX's backend/metal/allocator.cpp and device.cpp: the maximum since 0.1; Metal's own error of a
// command buffer.
MessageKind mlx_message() {
  return {
      .name = "mlx",
      .detail = "MLX's error",
      .starts =
          {"Attempting to allocate {requested} which is greater than the maximum allowed buffer "
           "size of {limit}",
           "Attempting to allocate {requested} which is greater",
           "[malloc] Unable to allocate {requested}",
           "[malloc_or_wait] Unable to allocate {requested}",
           "[metal::malloc] Unable to allocate {requested}",
           "[metal::malloc] Resource limit ({number}) exceeded",
           "kIOGPUCommandBufferCallbackErrorOutOfMemory"},
      .complete = complete_mlx};
}

}  // namespace memreplay
