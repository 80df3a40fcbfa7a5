#include "fat_binaries.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace memreplay::gpu {
namespace {

constexpr std::uint32_t kWrapperMagic = 0x466243b1;
constexpr std::uint32_t kFatBinaryMagic = 0xba55ed50;
constexpr std::uint16_t kPtx = 1;
constexpr std::uint16_t kMachineCode = 2;

struct Wrapper {
  std::uint32_t magic, version;
  const void* binary;
};

struct FatBinary {
  std::uint32_t magic;
  std::uint16_t version, header_size;
  std::uint64_t size;  ///< bytes of the entries after the header
};

struct Entry {
  std::uint16_t kind, unknown;
  std::uint32_t header_size;
  std::uint64_t size;  ///< bytes after the header
  std::uint32_t compressed_size, unknown_too;
  std::uint16_t minor, major;  ///< the format's version
  std::uint32_t architecture;
};

template <class T>
T read(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

BinaryCode code_for(const void* wrapper, int card) {
  const auto wrapped = read<Wrapper>(static_cast<const char*>(wrapper));
  if (wrapped.magic != kWrapperMagic || wrapped.binary == nullptr) return {};
  const auto* at = static_cast<const char*>(wrapped.binary);
  const auto binary = read<FatBinary>(at);
  if (binary.magic != kFatBinaryMagic) return {};
  at += binary.header_size;
  int newest = 0;
  int oldest = 0;
  for (std::uint64_t left = binary.size; left >= sizeof(Entry);) {
    const auto entry = read<Entry>(at);
    const std::uint64_t size = entry.header_size + entry.size;
    if (entry.header_size < sizeof(Entry) || size > left) break;
    const int architecture = static_cast<int>(entry.architecture);
    const bool same_major = architecture / 10 == card / 10;
    const bool runs = entry.kind == kPtx || (entry.kind == kMachineCode && same_major);
    if (runs && architecture <= card) newest = std::max(newest, architecture);
    if (oldest == 0 || architecture < oldest) oldest = architecture;
    at += size;
    left -= size;
  }
  return newest > 0 ? BinaryCode{newest, true} : BinaryCode{oldest, oldest == 0};
}

}  // namespace memreplay::gpu
