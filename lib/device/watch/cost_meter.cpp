#include "device/watch/cost_meter.hpp"

namespace memreplay {

void CostMeter::on_device_call(const DeviceCall& call) {
  using Kind = DeviceCall::Kind;
  switch (call.kind) {
    case Kind::obtain:
      return add(cost_.alloc.ms(call.bytes));
    case Kind::give_back:
      return add(cost_.free.ms(call.bytes));
    case Kind::map:
    case Kind::alias:
      return add_pieces(cost_.map, call);
    case Kind::unmap:
    case Kind::unalias:
      return add_pieces(cost_.unmap, call);
    case Kind::adopt:
    case Kind::adopt_mapped:
    case Kind::allocate:
    case Kind::free:
      return;
  }
}

// Where the pieces are not known the whole is one.
void CostMeter::add_pieces(const CostCurve& curve, const DeviceCall& call) {
  const Bytes piece = call.granule == 0 ? call.bytes : call.granule;
  add(static_cast<double>(call.bytes / piece) * curve.ms(piece));
}

}  // namespace memreplay
