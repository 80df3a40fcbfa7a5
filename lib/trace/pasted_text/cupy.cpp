#include "trace/pasted_text/message_kind.hpp"

namespace memreplay {

// cupy/cuda/memory.pyx: these words since 6, "to allocate" before; the limit since 7.
MessageKind cupy_message() {
  return {.name = "cupy",
          .detail = "CuPy's OOM message",
          .starts = {"Out of memory allocating {requested} (allocated so far: {live}",
                     "Out of memory allocating {requested} (",
                     "out of memory to allocate {requested} (total {live}"},
          .fields = {"limit set to: {limit}"}};
}

}  // namespace memreplay
