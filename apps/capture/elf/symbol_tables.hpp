#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace memreplay {

/// Something to be found by name in a shared object that is being written: where it lies.
struct Export {
  std::string_view name;
  std::uint32_t name_at = 0;  // in the string table
  std::uint16_t version = 0;  // its number, and whether it is hidden
  unsigned char type = 0;     // STT_... in <elf.h>
  std::uint16_t section = 0;
  std::uint64_t offset = 0;  // in the section
  std::uint64_t size = 0;
};

/// Brings them into the order in which gnu_hash_table() finds them.
void order_for_gnu_hash(std::vector<Export>& exports);
std::string gnu_hash_table(std::span<const Export> exports);

/// `addresses` are those of the sections, by number.
std::string symbol_table(std::span<const Export> exports, std::span<const std::uint64_t> addresses);
std::string version_numbers(std::span<const Export> exports);

struct VersionName {
  std::string_view name;
  std::uint32_t name_at = 0;  // in the string table
};

/// Numbered 1 and up; the first is the base version, which bears the soname.
std::string version_definitions(std::span<const VersionName> versions);

}  // namespace memreplay
