// libFuzzer's way to the targets; MEMREPLAY_FUZZ_TARGET names one.

#include <cstdint>
#include <cstdlib>

#include "fuzz/fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const memreplay::FuzzTarget kTarget = [] {
    const char* name = std::getenv("MEMREPLAY_FUZZ_TARGET");
    return memreplay::target_named(name == nullptr ? "" : name);
  }();
  memreplay::run_target(kTarget, {reinterpret_cast<const char*>(bytes), size});
  return 0;
}
