#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/profile_bytes.hpp"

namespace memreplay {

/// A call as TensorFlow's profiler has it; what is allocated after it is counted by the file.
struct XSpaceCall {
  std::uint64_t ps = 0;  ///< since its thread's start
  bool allocates = true;
  std::uint64_t address = 0;
  std::uint64_t requested = 0;
  std::string op = {};
  std::string shape = {};  ///< an output of float
};

constexpr std::uint64_t kXSpaceLimit = std::uint64_t{1} << 30;

/// A profile of threads that begin at 1000 ns, with a plane that has nothing to do with memory.
/// What was `before` is counted, too; the calls are given in the order of time by those who care.
inline std::string xspace(const std::vector<std::vector<XSpaceCall>>& threads,
                          std::uint64_t before = 0, const std::string& allocator = "cpu_bfc") {
  const std::vector<std::string> names = {"",
                                          "allocator_name",
                                          "requested_bytes",
                                          "allocation_bytes",
                                          "addr",
                                          "bytes_allocated",
                                          "bytes_available",
                                          "peak_bytes_in_use",
                                          "fragmentation",
                                          "tf_op",
                                          allocator,
                                          "shape",
                                          "region_type",
                                          "output",
                                          "data_type"};
  std::string plane = field(2, std::string("/host:CPU")), stats;
  std::uint64_t in_use = before, next_text = names.size();
  const auto stat = [](std::uint64_t name, std::uint64_t value, std::uint64_t type = 4) {
    return field(4, field(1, name) + field(type, value));
  };
  const auto name_entry = [](std::uint64_t number, const std::string& text) {
    return field(1, number) + field(2, field(1, number) + field(2, text));
  };
  for (const auto& calls : threads) {
    std::string line = field(1, UINT64_MAX - 3) + field(2, std::string("python")) + field(3, 1000);
    line += field(4, field(1, 3) + field(2, 5));  // of something else
    for (const XSpaceCall& call : calls) {
      const std::uint64_t charged = (call.requested + 255) / 256 * 256;
      in_use = call.allocates ? in_use + charged : in_use - charged;
      std::string event = field(1, call.allocates ? 1 : 2) + field(2, call.ps);
      event += stat(1, 10, 7) + stat(2, call.requested) + stat(3, charged) + stat(4, call.address);
      event += stat(5, in_use) + stat(6, kXSpaceLimit - in_use) + stat(7, in_use + 512, 3);
      event += field(4, field(1, 8) + varint(2 << 3 | 1) + std::string(8, '\0'));  // a double
      if (!call.op.empty()) {
        stats += field(5, name_entry(next_text, call.op));
        event += stat(9, next_text++, 7);
      }
      if (!call.shape.empty()) {
        stats += field(5, name_entry(next_text, call.shape));
        event += stat(11, next_text++, 7) + stat(12, 13, 7) + stat(14, 1);
      }
      line += field(4, event);
    }
    plane += field(3, line);
  }
  plane += field(4, name_entry(1, "MemoryAllocation")) + field(4, name_entry(3, "MatMul"));
  plane += field(4, name_entry(2, "MemoryDeallocation")) + stats;
  for (std::size_t i = 1; i < names.size(); ++i) plane += field(5, name_entry(i, names[i]));
  return field(1, plane) + field(1, field(2, std::string("Task Environment"))) +
         field(4, std::string("host-of-somebody"));
}

}  // namespace memreplay
