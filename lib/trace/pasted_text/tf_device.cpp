#include "trace/pasted_text/message_kind.hpp"

namespace memreplay {

// TensorFlow's gpu_device.cc: the memory that it gives a device's allocator, in MB of 2^20 bytes.
MessageKind tf_device_message() {
  return {.name = "tf-device",
          .detail = "TensorFlow's line of a device that it created",
          .starts = {"Created device {*}GPU:{gpu} with {limit:MiB} MB memory",
                     "Created TensorFlow device ({*}GPU:{gpu} with {limit:MiB} MB memory"}};
}

}  // namespace memreplay
