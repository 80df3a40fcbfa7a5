#include "core/error.hpp"
#include "device/host/malloc_library.hpp"
#include "strategy/parts/driver_blocks.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  DriverAllocatorOptions options{.kind = DriverAllocatorOptions::Kind::malloc};
  if (!driver_has(context, options.kind)) {
    throw UsageError("strategy 'malloc' needs the host: --device host");
  }
  const std::string_view library = find_option(spec, "lib").value_or("process");
  if (library != "process") options.library = library;
  return make_driver_blocks(context.device, options);
}

// A library may ask for another start of the program.
void check_here(const StrategySpec& spec) {
  if (const auto library = find_option(spec, "lib")) check_malloc_library(std::string(*library));
}

}  // namespace

/// malloc of this process or of a library, on the memory of this machine.
StrategyInfo malloc_strategy() {
  return {
      .name = "malloc",
      .summary = "malloc and free of the process or of a library; with --device host.",
      .options = {{"lib", "process|NAME", "process",
                   "This process's malloc, or that of a shared object such as libjemalloc.so.2."}},
      .make = make,
      .needs_device = "host",
      .known_as = {{"mimalloc"}, {"glibc"}, {"ptmalloc"}, {"heap"}},
      .check_here = check_here};
}

}  // namespace memreplay
