#include "elf/elf_file.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "elf/elf_image.hpp"

namespace memreplay {
namespace {

constexpr std::uint16_t kVersionIndex = 0x7fff;  // the bit above marks a hidden version

struct RequiredVersion {
  std::string_view version;
  std::string_view library;
};

/// Reads what the dynamic segment points to.
class Tables {
 public:
  explicit Tables(const ElfImage& image) : image_(image) {
    if (const auto address = image.entry(DT_STRTAB)) {
      const std::string_view rest = image.from_address(*address, "the string table");
      strings_ = image.part(rest, 0, image.entry(DT_STRSZ).value_or(0), "the string table");
    }
  }

  std::string_view text(std::uint64_t index) const {
    return image_.text(strings_, index, "a name");
  }

  ElfFile file() const {
    ElfFile file;
    for (const Elf64_Dyn& entry : image_.dynamic()) {
      if (entry.d_tag == DT_SONAME) file.soname = text(entry.d_un.d_val);
      if (entry.d_tag == DT_NEEDED) file.needed.push_back(text(entry.d_un.d_val));
    }
    read_symbols(file);
    return file;
  }

 private:
  void read_symbols(ElfFile& file) const;
  std::vector<RequiredVersion> required_versions() const;
  void read_versions_of(std::string_view need, std::vector<RequiredVersion>& versions) const;
  std::uint64_t symbol_count() const;
  std::optional<std::uint64_t> count_of_sections() const;
  std::uint64_t count_of_gnu_hash(std::uint64_t address) const;

  const ElfImage& image_;
  std::string_view strings_;
};

/// By index. The chains go forward alone, so that they end.
std::vector<RequiredVersion> Tables::required_versions() const {
  std::vector<RequiredVersion> versions;
  const auto address = image_.entry(DT_VERNEED);
  if (!address) return versions;
  std::string_view rest = image_.from_address(*address, "the needed versions");
  for (;;) {
    read_versions_of(rest, versions);
    const auto need = image_.read<Elf64_Verneed>(rest, 0, "a needed version");
    if (need.vn_next == 0) return versions;
    image_.part(rest, need.vn_next, 0, "a needed version");
    rest.remove_prefix(need.vn_next);
  }
}

void Tables::read_versions_of(std::string_view rest, std::vector<RequiredVersion>& versions) const {
  const auto need = image_.read<Elf64_Verneed>(rest, 0, "a needed version");
  const std::string_view library = text(need.vn_file);
  std::uint64_t at = need.vn_aux;
  for (std::size_t left = need.vn_cnt; left > 0; --left) {
    const auto version = image_.read<Elf64_Vernaux>(rest, at, "a needed version");
    const std::size_t index = version.vna_other & kVersionIndex;
    if (index >= versions.size()) versions.resize(index + 1);
    versions[index] = {text(version.vna_name), library};
    if (version.vna_next == 0) return;
    at += version.vna_next;
  }
}

void Tables::read_symbols(ElfFile& file) const {
  const auto address = image_.entry(DT_SYMTAB);
  if (!address) return;
  const std::uint64_t count = symbol_count();
  const std::string_view rest = image_.from_address(*address, "the symbol table");
  const std::vector<RequiredVersion> versions = required_versions();
  const auto version_table = image_.entry(DT_VERSYM);
  const std::string_view indices =
      version_table ? image_.from_address(*version_table, "the symbols' versions") : "";
  for (std::uint64_t i = 1; i < count; ++i) {
    const auto symbol = image_.read<Elf64_Sym>(rest, i * sizeof(Elf64_Sym), "the symbol table");
    const unsigned binding = ELF64_ST_BIND(symbol.st_info);
    if (binding == STB_LOCAL || symbol.st_name == 0) continue;
    const std::string_view name = text(symbol.st_name);
    if (symbol.st_shndx != SHN_UNDEF) {
      file.defined.push_back(name);
      continue;
    }
    RequiredVersion required;
    if (version_table) {
      const auto index =
          image_.read<std::uint16_t>(indices, i * sizeof(std::uint16_t), "the symbols' versions") &
          kVersionIndex;
      if (static_cast<std::size_t>(index) < versions.size()) required = versions[index];
    }
    file.undefined.push_back({name, required.version, required.library, binding == STB_WEAK});
  }
}

/// The dynamic segment does not say it. The GNU hash comes last: it leaves out what is undefined,
/// which stands before the rest, so that without a rest it says nothing.
std::uint64_t Tables::symbol_count() const {
  if (const auto address = image_.entry(DT_HASH)) {
    const std::string_view table = image_.from_address(*address, "the hash table");
    return image_.read<std::uint32_t>(table, sizeof(std::uint32_t), "the hash table");
  }
  if (const auto count = count_of_sections()) return *count;
  if (const auto address = image_.entry(DT_GNU_HASH)) return count_of_gnu_hash(*address);
  image_.fail(image_.bytes().data(), "does not say how many symbols it has; expected a hash table");
}

std::optional<std::uint64_t> Tables::count_of_sections() const {
  const Elf64_Ehdr& header = image_.header();
  if (header.e_shoff == 0 || header.e_shentsize != sizeof(Elf64_Shdr)) return {};
  const std::string_view table = image_.part(
      image_.bytes(), header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr), "the section headers");
  for (std::size_t at = 0; at < table.size(); at += sizeof(Elf64_Shdr)) {
    const auto section = image_.read<Elf64_Shdr>(table, at, "a section header");
    if (section.sh_type == SHT_DYNSYM && section.sh_addr == image_.entry(DT_SYMTAB)) {
      return section.sh_size / sizeof(Elf64_Sym);
    }
  }
  return {};
}

std::uint64_t Tables::count_of_gnu_hash(std::uint64_t address) const {
  constexpr std::string_view kWhat = "the GNU hash table";
  constexpr std::uint64_t kWord = sizeof(std::uint32_t);
  const std::string_view table = image_.from_address(address, kWhat);
  const auto word = [&](std::uint64_t at) { return image_.read<std::uint32_t>(table, at, kWhat); };
  const std::uint64_t buckets = word(0), first = word(kWord), filter_words = word(2 * kWord);
  const std::uint64_t buckets_at = 4 * kWord + filter_words * sizeof(std::uint64_t);
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; i < buckets; ++i) {
    last = std::max<std::uint64_t>(last, word(buckets_at + i * kWord));
  }
  if (last < first) return first;
  const std::uint64_t chains_at = buckets_at + buckets * kWord;
  while ((word(chains_at + (last - first) * kWord) & 1) == 0) ++last;
  return last + 1;
}

}  // namespace

ElfFile elf_file(std::string_view bytes, std::string_view file) {
  const ElfImage image(bytes, file);
  return Tables(image).file();
}

}  // namespace memreplay
