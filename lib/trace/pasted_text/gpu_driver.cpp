#include "trace/pasted_text/message_kind.hpp"

namespace memreplay {
namespace {

// A region that the driver refuses is asked for again, a tenth smaller each time.
bool join_attempts(OomMessage& before, const OomMessage& after) {
  const auto& last =
      before[before[Figure::last_attempt] ? Figure::last_attempt : Figure::requested];
  const auto& next = after[Figure::requested];
  if (!last || !next || next->bytes > last->bytes || before[Count::rank] != after[Count::rank])
    return false;
  if (next->bytes < last->bytes) before[Figure::last_attempt] = next;
  before[Count::retries] = before[Count::retries].value_or(0) + 1;
  return true;
}

}  // namespace

// TensorFlow's and XLA's cuda_driver.cc, cuda_executor.cc and rocm_driver.cc: "7.62G (8183459840
// bytes)" in 1.x, "3.25GiB (…)" since.
MessageKind gpu_driver_message() {
  return {.name = "gpu-driver",
          .detail = "a line of TensorFlow's or JAX's driver",
          .starts = {"failed to allocate {size} ({requested}) from device",
                     "failed to allocate {requested} from device",
                     "failed to alloc {requested} unified memory"},
          .join = join_attempts};
}

}  // namespace memreplay
