#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "strategy/torch/release.hpp"

namespace memreplay::torch {

/// A number read as the C library reads it: as far as it goes, what follows is dropped.
template <typename T>
struct PrefixNumber {
  T value{};
  bool whole_text = true;
  bool negative = false;
};

/// A negative number wraps round. Up to 2.9 numbers beyond 31 bits are refused.
std::optional<PrefixNumber<std::uint64_t>> whole_prefix(const std::string& text,
                                                        const Release& release);
std::optional<PrefixNumber<double>> decimal_prefix(const std::string& text);

}  // namespace memreplay::torch
