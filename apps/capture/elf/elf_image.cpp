#include "elf/elf_image.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay {

ElfImage::ElfImage(std::string_view bytes, std::string_view file) : bytes_(bytes), file_(file) {
  read_header();
  read_program_headers();
}

void ElfImage::fail(const char* at, std::string_view message) const {
  const auto offset = static_cast<std::uint64_t>(at - bytes_.data());
  throw InputError(file_, "byte " + human_count(offset), message);
}

std::string_view ElfImage::part(std::string_view of, std::uint64_t offset, std::uint64_t size,
                                std::string_view what) const {
  if (offset > of.size() || size > of.size() - offset) {
    fail(of.data() + std::min<std::uint64_t>(offset, of.size()),
         "is cut short in " + std::string(what) + "; expected a complete shared object");
  }
  return of.substr(offset, size);
}

std::string_view ElfImage::text(std::string_view strings, std::uint64_t index,
                                std::string_view what) const {
  const std::string_view rest =
      part(strings, index, strings.size() - std::min<std::uint64_t>(index, strings.size()), what);
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) {
    fail(rest.data(), "is cut short in " + std::string(what) + "; expected a zero byte after it");
  }
  return rest.substr(0, end);
}

std::optional<std::uint64_t> ElfImage::entry(std::int64_t tag) const {
  const auto found = std::ranges::find(dynamic_, tag, &Elf64_Dyn::d_tag);
  if (found == dynamic_.end()) return {};
  return found->d_un.d_val;
}

std::string_view ElfImage::from_address(std::uint64_t address, std::string_view what) const {
  for (const Elf64_Phdr& segment : loaded_) {
    if (address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz) continue;
    return part(bytes_, segment.p_offset, segment.p_filesz, "a segment")
        .substr(address - segment.p_vaddr);
  }
  throw InputError(
      file_, "address " + human_count(address),
      "has no segment with " + std::string(what) + "; expected a complete shared object");
}

void ElfImage::read_header() {
  constexpr std::string_view kExpected = "; expected a 64-bit shared object for x86-64";
  if (!bytes_.starts_with(std::string_view(ELFMAG, SELFMAG))) {
    throw InputError(file_, "", std::string("is no ELF file").append(kExpected));
  }
  header_ = read<Elf64_Ehdr>(bytes_, 0, "the ELF header");
  const bool fits = header_.e_ident[EI_CLASS] == ELFCLASS64 &&
                    header_.e_ident[EI_DATA] == ELFDATA2LSB && header_.e_machine == EM_X86_64;
  if (!fits) {
    throw InputError(file_, "", std::string("is made for another processor").append(kExpected));
  }
  if (header_.e_type != ET_DYN) {
    throw InputError(file_, "", std::string("is no shared object").append(kExpected));
  }
  if (header_.e_phentsize != sizeof(Elf64_Phdr)) {
    fail(bytes_.data() + offsetof(Elf64_Ehdr, e_phentsize),
         "program headers of " + human_count(header_.e_phentsize) + " bytes; expected 56");
  }
}

void ElfImage::read_program_headers() {
  const std::string_view table =
      part(bytes_, header_.e_phoff, header_.e_phnum * sizeof(Elf64_Phdr), "the program headers");
  std::optional<Elf64_Phdr> dynamic;
  for (std::size_t at = 0; at < table.size(); at += sizeof(Elf64_Phdr)) {
    const auto segment = read<Elf64_Phdr>(table, at, "a program header");
    if (segment.p_type == PT_LOAD) loaded_.push_back(segment);
    if (segment.p_type == PT_DYNAMIC) dynamic = segment;
  }
  if (!dynamic) {
    throw InputError(file_, "", "has no dynamic segment; expected a shared object");
  }
  read_dynamic(*dynamic);
}

void ElfImage::read_dynamic(const Elf64_Phdr& segment) {
  const std::string_view table =
      part(bytes_, segment.p_offset, segment.p_filesz, "the dynamic segment");
  for (std::size_t at = 0;; at += sizeof(Elf64_Dyn)) {
    const auto entry = read<Elf64_Dyn>(table, at, "the dynamic segment");
    if (entry.d_tag == DT_NULL) return;
    dynamic_.push_back(entry);
  }
}

}  // namespace memreplay
