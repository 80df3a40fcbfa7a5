#include "elf/shared_object.hpp"

#include <algorithm>
#include <cstdint>
#include <set>

#include "elf/elf_layout.hpp"
#include "elf/symbol_tables.hpp"

namespace memreplay {
namespace {

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
