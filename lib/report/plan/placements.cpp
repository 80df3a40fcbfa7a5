#include <fmt/format.h>

#include "report/plan/plan.hpp"

namespace memreplay {

void write_placements(const PlannedDevice& device, std::ostream& out) {
  out << "id,lower,upper,size,offset\n";
  if (!device.height) return;
  for (const PlannedBuffer& buffer : device.buffers) {
    out << fmt::format("{},{},{},{},{}\n", buffer.name, buffer.lower, buffer.upper, buffer.size,
                       buffer.offset);
  }
}

}  // namespace memreplay
