#include "elf/symbol_tables.hpp"

#include <elf.h>

#include <algorithm>
#include <bit>

#include "elf/elf_layout.hpp"
#include "elf/hashes.hpp"

namespace memreplay {
namespace {

constexpr std::uint32_t kFirst = 1;  // the symbol 0 is nobody's
constexpr std::uint32_t kFilterShift = 26;

std::uint32_t bucket_count(std::size_t symbols) {
  return static_cast<std::uint32_t>(symbols / 2 + 1);
}

/// Two bits for each name: says of most names that are not there that they are not.
std::vector<std::uint64_t> filter_of(std::span<const Export> exports) {
  std::vector<std::uint64_t> filter(std::bit_ceil(exports.size() / 8 + 1));
  for (const Export& symbol : exports) {
    const std::uint32_t hash = gnu_hash(symbol.name);
    std::uint64_t& word = filter[(hash / 64) % filter.size()];
    word |= (std::uint64_t{1} << (hash % 64)) | (std::uint64_t{1} << ((hash >> kFilterShift) % 64));
  }
  return filter;
}

}  // namespace

void order_for_gnu_hash(std::vector<Export>& exports) {
  const std::uint32_t buckets = bucket_count(exports.size());
  std::ranges::stable_sort(exports, {},
                           [&](const Export& symbol) { return gnu_hash(symbol.name) % buckets; });
}

std::string gnu_hash_table(std::span<const Export> exports) {
  const std::vector<std::uint64_t> filter = filter_of(exports);
  std::vector<std::uint32_t> buckets(bucket_count(exports.size())), chains;
  for (const Export& symbol : exports) {
    const std::uint32_t hash = gnu_hash(symbol.name);
    std::uint32_t& first = buckets[hash % buckets.size()];
    if (first == 0) {
      if (!chains.empty()) chains.back() |= 1;  // ends the bucket before
      first = kFirst + static_cast<std::uint32_t>(chains.size());
    }
    chains.push_back(hash & ~std::uint32_t{1});
  }
  if (!chains.empty()) chains.back() |= 1;
  std::string table;
  append(table, static_cast<std::uint32_t>(buckets.size()));
  append(table, kFirst);
  append(table, static_cast<std::uint32_t>(filter.size()));
  append(table, kFilterShift);
  for (const std::uint64_t word : filter) append(table, word);
  for (const std::uint32_t first : buckets) append(table, first);
  for (const std::uint32_t hash : chains) append(table, hash);
  return table;
}

std::string symbol_table(std::span<const Export> exports,
                         std::span<const std::uint64_t> addresses) {
  std::string table;
  append(table, Elf64_Sym{});
  for (const Export& symbol : exports) {
    append(table,
           Elf64_Sym{.st_name = symbol.name_at,
                     .st_info = static_cast<unsigned char>(ELF64_ST_INFO(STB_GLOBAL, symbol.type)),
                     .st_other = STV_DEFAULT,
                     .st_shndx = symbol.section,
                     .st_value = addresses[symbol.section] + symbol.offset,
                     .st_size = symbol.size});
  }
  return table;
}

std::string version_numbers(std::span<const Export> exports) {
  std::string table;
  append(table, std::uint16_t{VER_NDX_LOCAL});
  for (const Export& symbol : exports) append(table, symbol.version);
  return table;
}

std::string version_definitions(std::span<const VersionName> versions) {
  constexpr Elf64_Word kNext = sizeof(Elf64_Verdef) + sizeof(Elf64_Verdaux);
  std::string table;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    append(table, Elf64_Verdef{.vd_version = VER_DEF_CURRENT,
                               .vd_flags = static_cast<Elf64_Half>(i == 0 ? VER_FLG_BASE : 0),
                               .vd_ndx = static_cast<Elf64_Half>(i + 1),
                               .vd_cnt = 1,
                               .vd_hash = sysv_hash(versions[i].name),
                               .vd_aux = sizeof(Elf64_Verdef),
                               .vd_next = i + 1 < versions.size() ? kNext : 0});
    append(table, Elf64_Verdaux{.vda_name = versions[i].name_at});
  }
  return table;
}

}  // namespace memreplay
