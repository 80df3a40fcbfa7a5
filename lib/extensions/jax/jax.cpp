#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "strategy/parts/strategy_wrapper.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

/// What the environment variables of JAX come to on one device.
struct JaxMemory {
  std::string allocator;  ///< "bfc", "platform", "cuda_async"
  bool preallocate = true;
  Bytes share = 0;  ///< the fraction as bytes of the device
};

/// The allocator that JAX would make, and the line that it logs then.
class Jax final : public StrategyWrapper<> {
 public:
  Jax(Parts allocator, std::string start_line, HandleTable<PartBlock> blocks = {})
      : StrategyWrapper(std::move(allocator), std::move(blocks)),
        start_line_(std::move(start_line)) {}

  std::unique_ptr<Strategy> clone(DeviceModel& device) const override {
    return std::make_unique<Jax>(copies(device), start_line_, blocks_);
  }

  std::optional<Placement> allocate(const Request& request) override {
    auto placement = last_part().allocate(request);
    if (placement) placement->handle = blocks_.add({placement->handle, 0});
    return placement;
  }

  Testimony testimony() const override {
    Testimony testimony = last_part().testimony();
    if (!start_line_.empty()) testimony.remarks.push_back(start_line_);
    return testimony;
  }

 private:
  std::string start_line_;
};

[[noreturn]] void refuse_jax(const std::string& why) { throw UsageError("strategy 'jax': " + why); }

// As jaxlib reads XLA_PYTHON_CLIENT_ALLOCATOR.
std::string allocator_of(const StrategySpec& spec) {
  constexpr std::string_view kKnown[] = {"default",    "bfc", "platform",
                                         "cuda_async", "vmm", "address"};
  std::string name = lower_case(std::string(find_option(spec, "allocator").value_or("default")));
  if (std::ranges::find(kKnown, name) == std::end(kKnown)) {
    refuse_jax(fmt::format(
        "XLA_PYTHON_CLIENT_ALLOCATOR env var must be \"default\", \"platform\", \"bfc\", "
        "\"cuda_async\" or \"vmm\", got \"{}\"",
        name));
  }
  if (name == "vmm" || name == "address") {
    refuse_jax(fmt::format(
        "allocator={} is not modelled; expected default, bfc, platform or cuda_async", name));
  }
  return name == "default" ? "bfc" : name;
}

// The plugin passes it on in single precision.
double fraction_of(const StrategySpec& spec) {
  const bool old_name = find_option(spec, "python_client_mem_fraction").has_value();
  if (old_name && find_option(spec, "mem_fraction")) {
    refuse_jax(
        "XLA_CLIENT_MEM_FRACTION is specified together with XLA_PYTHON_CLIENT_MEM_FRACTION. Remove "
        "the latter one, it is deprecated.");
  }
  const auto fraction = static_cast<float>(
      number_option(spec, old_name ? "python_client_mem_fraction" : "mem_fraction", 0.75));
  if (fraction > 1) {
    refuse_jax(fmt::format(
        "mem_fraction is {}: above 1 it needs TF_FORCE_UNIFIED_MEMORY, which is not modelled; "
        "expected 0 to 1",
        fraction));
  }
  return fraction;
}

JaxMemory memory_of(const StrategySpec& spec, const StrategyContext& context) {
  const std::string_view preallocate = find_option(spec, "preallocate").value_or("");
  if (whole_option(spec, "collective_mem_size_mb", 0) != 0) {
    refuse_jax(
        "a trace does not say which requests are for collectives; collective_mem_size_mb is memory "
        "that others hold: --reserve SIZE");
  }
  const Bytes total = context.capacity.value_or(context.device.total_bytes());
  const bool off = preallocate == "false" || preallocate == "False" || preallocate == "0";
  return {.allocator = allocator_of(spec),
          .preallocate = !off,
          .share = std::max<Bytes>(bytes_of(fraction_of(spec) * static_cast<double>(total)), 1)};
}

std::string strategy_of(const JaxMemory& memory) {
  if (memory.allocator == "platform") return "direct";
  if (memory.allocator == "cuda_async") {
    const std::string pool = fmt::format("cuda-async:threshold={}", memory.share);
    return memory.preallocate ? fmt::format("{},preallocate={}", pool, memory.share) : pool;
  }
  return fmt::format("bfc:limit={},allow_growth={},generation=modern", memory.share,
                     !memory.preallocate);
}

std::string start_line_of(const JaxMemory& memory) {
  if (memory.allocator == "platform") return {};
  return fmt::format("JAX logs at its start: XLA backend {} {} bytes on device 0 for {}",
                     memory.preallocate ? "allocating" : "will use up to", memory.share,
                     memory.allocator == "bfc" ? "BFCAllocator" : "CudaAsyncAllocator");
}

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  const JaxMemory memory = memory_of(spec, context);
  std::vector<std::unique_ptr<Strategy>> allocator;
  allocator.push_back(make_strategy(parse_strategy(strategy_of(memory)), context));
  return std::make_unique<Jax>(std::move(allocator), start_line_of(memory));
}

}  // namespace

/// What JAX's environment variables choose, over the allocators that XLA has.
StrategyInfo jax_strategy() {
  return {.name = "jax",
          .summary = "JAX on a GPU by its environment: bfc, cuda-async or direct.",
          .options =
              {{"allocator", "default|bfc|platform|cuda_async", "default",
                "XLA_PYTHON_CLIENT_ALLOCATOR; default is bfc, platform has no pool."},
               {"preallocate", "true|false", "true",
                "XLA_PYTHON_CLIENT_PREALLOCATE: take the whole share at the start."},
               {"mem_fraction", "NUMBER", "0.75",
                "XLA_CLIENT_MEM_FRACTION: the share of the device; no limit of cuda_async, which "
                "keeps that much at a synchronisation."},
               {"python_client_mem_fraction", "NUMBER", "0.75",
                "XLA_PYTHON_CLIENT_MEM_FRACTION, the old name; not beside the other."},
               {"collective_mem_size_mb", "MIB", "0",
                "XLA_PYTHON_CLIENT_COLLECTIVE_MEM_SIZE_MB: 0, or --reserve."}},
          .make = make,
          .keeps_regions = true};
}

}  // namespace memreplay
