#include "trace/pasted_text/message_kind.hpp"

namespace memreplay {

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

}  // namespace memreplay
