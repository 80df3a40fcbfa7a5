#include "core/other_tenant.hpp"

#include <algorithm>

namespace memreplay {

std::vector<TenantChange> tenant_changes(const std::vector<OtherTenant>& tenants) {
  std::vector<TenantChange> changes;
  const auto add = [&](std::uint64_t event) {
    Bytes held = 0;
    for (const OtherTenant& tenant : tenants) {
      if (tenant.from <= event && event < tenant.to) held += tenant.size;
    }
    changes.push_back({event, held});
  };
  for (const OtherTenant& tenant : tenants) {
    add(tenant.from);
    if (tenant.to != UINT64_MAX) add(tenant.to);
  }
  std::ranges::sort(changes, {}, &TenantChange::before);
  changes.erase(std::unique(changes.begin(), changes.end()), changes.end());
  return changes;
}

}  // namespace memreplay
