#pragma once

#include <elf.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memreplay {

template <typename T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

/// Texts one after the other, named by their offset. It begins with the empty one.
class StringTable {
 public:
  std::uint32_t add(std::string_view text);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_ = std::string(1, '\0');
};

/// The sections of a shared object, laid out so that every byte of the file has its offset as its
/// address: read-only ones first, then the code, then what can be written.
class ElfLayout {
 public:
  enum class Access { read, execute, write };

  /// The number of the section, 1 and up. Sections of one access follow one another; a later access
  /// begins a page. The contents may be filled in later, but not grow.
  std::uint16_t add(Elf64_Shdr header, std::string_view name, Access access, std::string bytes);

  /// Memory without bytes in the file, zero at first; the last section to be added.
  std::uint16_t add_zeros(std::string_view name, std::uint64_t size);

  std::uint64_t address(std::uint16_t section) const {
    return sections_[section - 1].header.sh_addr;
  }
  std::string& bytes(std::uint16_t section) { return sections_[section - 1].bytes; }

  /// The whole file; `dynamic` is the number of the dynamic section.
  std::string file(std::uint16_t dynamic) const;

 private:
  struct Section {
    Elf64_Shdr header;
    Access access;
    std::string bytes;
  };

  Elf64_Phdr segment_of(Access access) const;
  std::vector<Elf64_Phdr> segments(std::uint16_t dynamic) const;

  std::vector<Section> sections_;
  StringTable names_;
  std::uint64_t end_ = sizeof(Elf64_Ehdr) + 5 * sizeof(Elf64_Phdr);
};

}  // namespace memreplay
