#pragma once

#include <cstdint>
#include <string_view>

namespace memreplay {

/// How the loader hashes the names of versions.
constexpr std::uint32_t sysv_hash(std::string_view name) {
  std::uint32_t hash = 0;
  for (const char c : name) {
    hash = (hash << 4) + static_cast<unsigned char>(c);
    const std::uint32_t high = hash & 0xf0000000;
    hash = (hash ^ (high >> 24)) & ~high;
  }
  return hash;
}

/// How it hashes the names of symbols.
constexpr std::uint32_t gnu_hash(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

}  // namespace memreplay
