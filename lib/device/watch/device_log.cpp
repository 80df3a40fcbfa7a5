#include "device/watch/device_log.hpp"

namespace memreplay {

void DeviceLog::on_device_call(const DeviceCall& call) {
  using Kind = DeviceCall::Kind;
  const auto note = [&](Op op) { events_.push_back({op, call.address, call.bytes}); };
  switch (call.kind) {
    case Kind::obtain:
    case Kind::allocate:
      return note(Op::segment_alloc);
    case Kind::give_back:
    case Kind::free:
      return note(Op::segment_free);
    case Kind::map:
    case Kind::alias:
      return note(Op::segment_map);
    case Kind::unmap:
    case Kind::unalias:
      return note(Op::segment_unmap);
    case Kind::adopt:
    case Kind::adopt_mapped:
      return;
  }
}

}  // namespace memreplay
