#pragma once

#include <string>

#include "core/torch_sizes.hpp"
#include "strategy/torch/conf.hpp"

namespace memreplay::torch {

/// Applies a roundup_power2_divisions to the table: one number for all sizes, or a list whose keys
/// are lower bounds in MiB. Entries that a list leaves out keep their value.
void read_roundup(const ConfEntry& entry, const Release& release, RoundupTable& table,
                  SettingIssues& issues);

/// "1 below 512 MiB, 2 from 512 MiB, 8 from 1024 MiB"
std::string roundup_in_words(const RoundupTable& table);

}  // namespace memreplay::torch
