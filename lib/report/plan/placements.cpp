#include <fmt/format.h>

#include "report/plan/plan.hpp"

namespace memreplay {

void write_placements(const PlannedDevice& device, std::ostream& out) {
  const bool several = !device.memories.empty();
  out << (several ? "id,lower,upper,size,offset,memory\n" : "id,lower,upper,size,offset\n");
  if (!device.height) return;
  for (const PlannedBuffer& buffer : device.buffers) {
    out << fmt::format("{},{},{},{},{}{}{}\n", buffer.name, buffer.lower, buffer.upper, buffer.size,
                       buffer.offset, several ? "," : "",
                       several ? device.memories[buffer.memory].name : "");
  }
}

}  // namespace memreplay
