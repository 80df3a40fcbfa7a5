#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memreplay {

/// The bytes of a shared object for x86-64, found by the addresses that its dynamic segment gives.
/// Whatever lies outside of the file is an InputError that names the file and the place.
class ElfImage {
 public:
  /// Looks at the header, the program headers and the dynamic segment alone. `bytes` must outlive
  /// it.
  ElfImage(std::string_view bytes, std::string_view file);

  const Elf64_Ehdr& header() const { return header_; }

  /// The entries of the dynamic segment, without the one that ends it.
  const std::vector<Elf64_Dyn>& dynamic() const { return dynamic_; }

  /// The value of the first entry with this tag.
  std::optional<std::uint64_t> entry(std::int64_t tag) const;

  /// What the file holds from an address to the end of its segment; `what` is for the message.
  std::string_view from_address(std::uint64_t address, std::string_view what) const;

  std::string_view part(std::string_view of, std::uint64_t offset, std::uint64_t size,
                        std::string_view what) const;

  template <typename T>
  T read(std::string_view table, std::uint64_t offset, std::string_view what) const {
    T value;
    std::memcpy(&value, part(table, offset, sizeof(T), what).data(), sizeof(T));
    return value;
  }

  /// The text at an index of a string table; it must end inside of the table.
  std::string_view text(std::string_view strings, std::uint64_t index, std::string_view what) const;

  std::string_view bytes() const { return bytes_; }

  /// Throws the InputError for something at `at`, which is inside of the bytes or just after them.
  [[noreturn]] void fail(const char* at, std::string_view message) const;

 private:
  void read_header();
  void read_program_headers();
  void read_dynamic(const Elf64_Phdr& segment);

  std::string_view bytes_;
  std::string file_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> loaded_;
  std::vector<Elf64_Dyn> dynamic_;
};

}  // namespace memreplay
