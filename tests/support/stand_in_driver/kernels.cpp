// Modules and the two kernels of memreplay, as loops.
#include <algorithm>
#include <cstdint>

#include "device/real/touch_parts.hpp"
#include "world.hpp"

using memreplay::TouchedRange;
using memreplay::TouchPart;
using stand_in::called_in_context;
using stand_in::hex;
using stand_in::World;

namespace {

constexpr std::uint64_t kKernelNanoseconds = 1000;

const CUfunction kFill = reinterpret_cast<CUfunction>(0xf111);
const CUfunction kCheck = reinterpret_cast<CUfunction>(0xc4ec);

void fill(TouchedRange range, std::uint64_t tag) {
  for (std::uint64_t i = 0; i < memreplay::touch_part_count(range); ++i) {
    memreplay::fill_part(memreplay::touch_part(range, i), tag);
  }
}

void check(TouchedRange range, std::uint64_t tag, std::uint64_t& lowest) {
  for (std::uint64_t i = 0; i < memreplay::touch_part_count(range); ++i) {
    const TouchPart part = memreplay::touch_part(range, i);
    const std::uint64_t found = memreplay::first_difference(part, tag);
    if (found < part.to) lowest = std::min(lowest, found);
  }
}

}  // namespace

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return called_in_context("cuModuleLoadData", [&](World& w) {
    *module = w.new_handle<CUmodule>();
    w.modules[*module] = static_cast<const char*>(image);
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleUnload(CUmodule module) {
  return called_in_context("cuModuleUnload", [&](World& w) {
    if (w.modules.erase(module) == 0) return w.wrong("a module is unloaded that is not there");
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return called_in_context("cuModuleGetFunction", [&](World& w) {
    const auto text = w.modules.find(module);
    if (text == w.modules.end()) return w.wrong("a module is used that is not there");
    const std::string entry = std::string(".entry ") + name + "(";
    if (text->second.find(entry) == std::string::npos) return CUDA_ERROR_NOT_FOUND;
    const bool is_fill = std::string(name) == "memreplay_fill";
    if (!is_fill && std::string(name) != "memreplay_check") return CUDA_ERROR_NOT_FOUND;
    *function = is_fill ? kFill : kCheck;
    return CUDA_SUCCESS;
  });
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid, unsigned grid_y, unsigned grid_z,
                        unsigned block, unsigned block_y, unsigned block_z, unsigned,
                        CUstream stream, void** arguments, void**) {
  return called_in_context("cuLaunchKernel", [&](World& w) {
    if (grid * grid_y * grid_z == 0 || block * block_y * block_z == 0 || block > 1024) {
      return w.wrong("cuLaunchKernel of no threads, or of too many");
    }
    if (!w.work.has_stream(stream)) return w.wrong("a kernel on a stream that is not there");
    if (function != kFill && function != kCheck) return CUDA_ERROR_INVALID_HANDLE;
    const TouchedRange range = *static_cast<const TouchedRange*>(arguments[0]);
    const std::uint64_t tag = *static_cast<const std::uint64_t*>(arguments[1]);
    const CUdeviceptr lowest =
        function == kCheck ? *static_cast<const CUdeviceptr*>(arguments[2]) : 0;
    w.work.add(stream, [&w, range, tag, lowest] {
      w.work.time_ns += kKernelNanoseconds;
      if (!w.can_access(range.from, range.to) ||
          (lowest != 0 && !w.can_access(lowest, lowest + 8))) {
        w.wrong("a kernel touches " + hex(range.from) + " to " + hex(range.to) +
                ", where not all is memory");
      } else if (lowest == 0) {
        fill(range, tag);
      } else {
        check(range, tag, *reinterpret_cast<std::uint64_t*>(lowest));
      }
    });
    return CUDA_SUCCESS;
  });
}
