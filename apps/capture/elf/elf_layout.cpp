#include "elf/elf_layout.hpp"

#include <cstring>
#include <utility>

namespace memreplay {
namespace {

constexpr std::uint64_t kPage = 0x1000;

std::uint64_t rounded_up(std::uint64_t offset, std::uint64_t to) {
  return (offset + to - 1) / to * to;
}

Elf64_Word segment_flags(ElfLayout::Access access) {
  if (access == ElfLayout::Access::execute) return PF_R | PF_X;
  return access == ElfLayout::Access::write ? PF_R | PF_W : PF_R;
}

Elf64_Xword section_flags(ElfLayout::Access access) {
  if (access == ElfLayout::Access::execute) return SHF_ALLOC | SHF_EXECINSTR;
  return access == ElfLayout::Access::write ? SHF_ALLOC | SHF_WRITE : SHF_ALLOC;
}

Elf64_Ehdr elf_header(std::size_t segments, std::size_t sections, std::uint64_t section_headers) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof(Elf64_Ehdr);
  header.e_shoff = section_headers;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = static_cast<Elf64_Half>(segments);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(sections);
  header.e_shstrndx = static_cast<Elf64_Half>(sections - 1);
  return header;
}

}  // namespace

std::uint32_t StringTable::add(std::string_view text) {
  const auto at = static_cast<std::uint32_t>(bytes_.size());
  bytes_.append(text).push_back('\0');
  return at;
}

std::uint16_t ElfLayout::add(Elf64_Shdr header, std::string_view name, Access access,
                             std::string bytes) {
  const bool begins_page = !sections_.empty() && sections_.back().access != access;
  end_ = rounded_up(end_, begins_page ? kPage : header.sh_addralign);
  header.sh_name = names_.add(name);
  header.sh_flags = section_flags(access);
  header.sh_addr = header.sh_offset = end_;
  header.sh_size = bytes.size();
  end_ += bytes.size();
  sections_.push_back({header, access, std::move(bytes)});
  return static_cast<std::uint16_t>(sections_.size());
}

std::uint16_t ElfLayout::add_zeros(std::string_view name, std::uint64_t size) {
  const std::uint16_t section =
      add({.sh_type = SHT_NOBITS, .sh_addralign = 8}, name, Access::write, "");
  sections_.back().header.sh_size = size;
  return section;
}

Elf64_Phdr ElfLayout::segment_of(Access access) const {
  Elf64_Phdr segment{.p_type = PT_LOAD, .p_flags = segment_flags(access), .p_align = kPage};
  // The headers belong to what comes first.
  std::uint64_t begin = access == Access::read ? 0 : end_;
  for (const Section& section : sections_) {
    if (section.access != access) continue;
    begin = std::min(begin, section.header.sh_addr);
    segment.p_filesz = section.header.sh_addr + section.bytes.size() - begin;
    segment.p_memsz = section.header.sh_addr + section.header.sh_size - begin;
  }
  segment.p_offset = segment.p_vaddr = segment.p_paddr = begin;
  return segment;
}

std::vector<Elf64_Phdr> ElfLayout::segments(std::uint16_t dynamic) const {
  const Elf64_Shdr& table = sections_[dynamic - 1].header;
  return {segment_of(Access::read),
          segment_of(Access::execute),
          segment_of(Access::write),
          {.p_type = PT_DYNAMIC,
           .p_flags = PF_R | PF_W,
           .p_offset = table.sh_offset,
           .p_vaddr = table.sh_addr,
           .p_paddr = table.sh_addr,
           .p_filesz = table.sh_size,
           .p_memsz = table.sh_size,
           .p_align = table.sh_addralign},
          {.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W, .p_align = 16}};
}

std::string ElfLayout::file(std::uint16_t dynamic) const {
  StringTable names = names_;
  const std::uint32_t own_name = names.add(".shstrtab");
  const std::uint64_t headers_at = rounded_up(end_ + names.bytes().size(), 8);
  const std::vector<Elf64_Phdr> loaded = segments(dynamic);
  std::string file;
  append(file, elf_header(loaded.size(), sections_.size() + 2, headers_at));
  for (const Elf64_Phdr& segment : loaded) append(file, segment);
  for (const Section& section : sections_) {
    if (section.bytes.empty()) continue;
    file.resize(section.header.sh_offset);
    file += section.bytes;
  }
  file.resize(end_);
  file += names.bytes();
  file.resize(headers_at);
  append(file, Elf64_Shdr{});
  for (const Section& section : sections_) append(file, section.header);
  append(file, Elf64_Shdr{.sh_name = own_name,
                          .sh_type = SHT_STRTAB,
                          .sh_offset = end_,
                          .sh_size = names.bytes().size(),
                          .sh_addralign = 1});
  return file;
}

}  // namespace memreplay
