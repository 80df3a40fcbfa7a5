#include "elf/shared_object.hpp"

#include <elf.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elf/elf_layout.hpp"

namespace memreplay {
namespace {

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

/// Numbered 1 and up; the first is the base version, which bears the soname.
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

/// The numbers of the sections, in the order in which they are laid out.
enum Section : std::uint16_t {
  kSymbols = 1,
  kStrings,
  kHash,
  kVersions,
  kDefinitions,
  kData,
  kCode,
  kDynamic,
  kCounts,
  kSections
};

constexpr std::uint64_t kCodeSize = 16;  // bytes of one function
constexpr std::uint64_t kCountSize = 8;
constexpr std::uint16_t kHiddenVersion = 0x8000;
constexpr std::string_view kText = "no error";
// Offsets in the read-only data, which begin with the number of functions.
constexpr std::uint64_t kTextAt = 8;
constexpr std::uint64_t kNamesAt = kTextAt + kText.size() + 1;

class Writer {
 public:
  explicit Writer(const SharedObject& object);
  std::string file();

 private:
  void name_versions();
  void export_functions();
  void export_tables();
  std::uint16_t version_of(const VersionedSymbol& function);
  std::string data() const;
  std::string code() const;
  std::vector<Elf64_Dyn> dynamic() const;
  void lay_out();
  void fill();

  const SharedObject& object_;
  std::string names_;  // what memreplay_stand_in_names is
  StringTable strings_;
  std::vector<std::uint32_t> needed_;
  std::vector<VersionName> versions_;
  std::set<std::string_view> with_default_version_;
  std::vector<Export> exports_;
  ElfLayout layout_;
};

Writer::Writer(const SharedObject& object) : object_(object) {
  for (const VersionedSymbol& function : object.functions) names_ += function.name + '\n';
  if (!names_.empty()) names_.pop_back();
  for (const std::string& library : object.needed) needed_.push_back(strings_.add(library));
  name_versions();
  export_functions();
  export_tables();
  order_for_gnu_hash(exports_);
}

void Writer::name_versions() {
  versions_.push_back({object_.soname, strings_.add(object_.soname)});
  for (const std::string& version : object_.versions) {
    versions_.push_back({version, strings_.add(version)});
  }
}

/// Numbers 2 and up are those of the named versions. A name may have several: the first is what a
/// caller gets who asks for none.
std::uint16_t Writer::version_of(const VersionedSymbol& function) {
  if (function.version.empty()) return VER_NDX_GLOBAL;
  const auto found = std::ranges::find(object_.versions, function.version);
  const auto number = static_cast<std::uint16_t>(found - object_.versions.begin() + 2);
  const bool is_default = with_default_version_.insert(function.name).second;
  return is_default ? number : number | kHiddenVersion;
}

void Writer::export_functions() {
  for (const VersionedSymbol& function : object_.functions) {
    exports_.push_back({.name = function.name,
                        .name_at = strings_.add(function.name),
                        .version = version_of(function),
                        .type = STT_FUNC,
                        .section = kCode,
                        .offset = exports_.size() * kCodeSize,
                        .size = kCodeSize});
  }
}

void Writer::export_tables() {
  const std::uint64_t counts = object_.functions.size() * kCountSize;
  const auto add = [&](std::string_view name, Section section, std::uint64_t at,
                       std::uint64_t size) {
    exports_.push_back({name, strings_.add(name), VER_NDX_GLOBAL, STT_OBJECT, section, at, size});
  };
  add(kNamesSymbol, kData, kNamesAt, names_.size() + 1);
  add(kSizeSymbol, kData, 0, sizeof(std::uint64_t));
  add(kCountsSymbol, kCounts, 0, counts);
}

std::string Writer::data() const {
  std::string data;
  append(data, static_cast<std::uint64_t>(object_.functions.size()));
  data.append(kText).push_back('\0');
  data.append(names_).push_back('\0');
  return data;
}

std::string Writer::code() const {
  std::string code;
  const auto append_distance = [&](std::uint64_t target, std::uint64_t next_instruction) {
    append(code, static_cast<std::int32_t>(target - next_instruction));
  };
  for (std::size_t i = 0; i < object_.functions.size(); ++i) {
    const std::uint64_t at = layout_.address(kCode) + i * kCodeSize;
    code += "\xf0\x48\xff\x05";  // lock inc qword [rip + distance]
    append_distance(layout_.address(kCounts) + i * kCountSize, at + 8);
    if (returns_text(object_.functions[i].name)) {
      code += "\x48\x8d\x05";  // lea rax, [rip + distance]
      append_distance(layout_.address(kData) + kTextAt, at + 15);
      code += "\xc3";  // ret
    } else {
      code += "\x31\xc0\xc3\xcc\xcc\xcc\xcc\xcc";  // xor eax, eax; ret; never reached
    }
  }
  return code;
}

std::vector<Elf64_Dyn> Writer::dynamic() const {
  std::vector<Elf64_Dyn> entries;
  const auto add = [&](std::int64_t tag, std::uint64_t value) {
    entries.push_back({.d_tag = tag, .d_un = {.d_val = value}});
  };
  const auto address = [&](Section section) { return layout_.address(section); };
  for (const std::uint32_t name : needed_) add(DT_NEEDED, name);
  add(DT_SONAME, versions_.front().name_at);
  add(DT_GNU_HASH, address(kHash));
  add(DT_STRTAB, address(kStrings));
  add(DT_SYMTAB, address(kSymbols));
  add(DT_STRSZ, strings_.bytes().size());
  add(DT_SYMENT, sizeof(Elf64_Sym));
  add(DT_VERSYM, address(kVersions));
  add(DT_VERDEF, address(kDefinitions));
  add(DT_VERDEFNUM, versions_.size());
  add(DT_NULL, 0);
  return entries;
}

/// What holds addresses is laid out as zeros of its size, and filled in afterwards.
void Writer::lay_out() {
  using enum ElfLayout::Access;
  const std::size_t symbols = exports_.size() + 1;
  constexpr std::size_t kOtherEntries = 10;
  layout_.add({.sh_type = SHT_DYNSYM,
               .sh_link = kStrings,
               .sh_info = 1,
               .sh_addralign = 8,
               .sh_entsize = sizeof(Elf64_Sym)},
              ".dynsym", read, std::string(symbols * sizeof(Elf64_Sym), '\0'));
  layout_.add({.sh_type = SHT_STRTAB, .sh_addralign = 1}, ".dynstr", read, strings_.bytes());
  layout_.add({.sh_type = SHT_GNU_HASH, .sh_link = kSymbols, .sh_addralign = 8}, ".gnu.hash", read,
              gnu_hash_table(exports_));
  layout_.add({.sh_type = SHT_GNU_versym,
               .sh_link = kSymbols,
               .sh_addralign = 2,
               .sh_entsize = sizeof(Elf64_Half)},
              ".gnu.version", read, version_numbers(exports_));
  layout_.add({.sh_type = SHT_GNU_verdef,
               .sh_link = kStrings,
               .sh_info = static_cast<Elf64_Word>(versions_.size()),
               .sh_addralign = 8},
              ".gnu.version_d", read, version_definitions(versions_));
  layout_.add({.sh_type = SHT_PROGBITS, .sh_addralign = 8}, ".rodata", read, data());
  layout_.add({.sh_type = SHT_PROGBITS, .sh_addralign = 16}, ".text", execute,
              std::string(object_.functions.size() * kCodeSize, '\0'));
  layout_.add({.sh_type = SHT_DYNAMIC,
               .sh_link = kStrings,
               .sh_addralign = 8,
               .sh_entsize = sizeof(Elf64_Dyn)},
              ".dynamic", write,
              std::string((needed_.size() + kOtherEntries) * sizeof(Elf64_Dyn), '\0'));
  layout_.add_zeros(".bss", object_.functions.size() * kCountSize);
}

void Writer::fill() {
  std::vector<std::uint64_t> addresses(kSections);
  for (std::uint16_t section = kSymbols; section < kSections; ++section) {
    addresses[section] = layout_.address(section);
  }
  layout_.bytes(kSymbols) = symbol_table(exports_, addresses);
  layout_.bytes(kCode) = code();
  layout_.bytes(kDynamic).clear();
  for (const Elf64_Dyn& entry : dynamic()) append(layout_.bytes(kDynamic), entry);
}

std::string Writer::file() {
  lay_out();
  fill();
  return layout_.file(kDynamic);
}

}  // namespace

/// By the CUDA libraries' own declarations: what ends so and returns a status has the text by a
/// pointer.
bool returns_text(std::string_view function) {
  if (function.starts_with("cuGet") || function.starts_with("cupti")) return false;
  return function.ends_with("String") || function.find("ErrorString") != function.npos ||
         function.find("ErrorName") != function.npos || function.ends_with("StatusName") ||
         function == "ncclGetLastError";
}

std::string written(const SharedObject& object) { return Writer(object).file(); }

}  // namespace memreplay
