#pragma once

#include <cstdint>
#include <vector>

#include "core/units.hpp"

namespace memreplay {

/// Memory of a simulated device that another process takes for a while. What it does not find it
/// takes as soon as it is free.
struct OtherTenant {
  Bytes size = 0;
  std::uint64_t from = 0;         ///< the event before which it comes
  std::uint64_t to = UINT64_MAX;  ///< the one before which it is gone

  friend bool operator==(const OtherTenant&, const OtherTenant&) = default;
};

/// From an event on others hold so much.
struct TenantChange {
  std::uint64_t before = 0;
  Bytes held = 0;

  friend bool operator==(const TenantChange&, const TenantChange&) = default;
};

/// What tenants hold together, whenever that changes, by event.
std::vector<TenantChange> tenant_changes(const std::vector<OtherTenant>& tenants);

}  // namespace memreplay
