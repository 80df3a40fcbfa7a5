#include "trace/pasted_text/message_kind.hpp"

namespace memreplay {
namespace {

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

}  // namespace

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
      .join = join_parts};
}

}  // namespace memreplay
