#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace memreplay {

struct UndefinedSymbol {
  std::string_view name;
  std::string_view version;  // "" where any will do
  std::string_view library;  // soname of the library that has the version; "" without a version
  bool weak = false;
};

/// What a shared object offers to others and needs of them. The texts are parts of its bytes.
struct ElfFile {
  std::string_view soname;  // "" where it has none
  std::vector<std::string_view> needed;
  std::vector<UndefinedSymbol> undefined;
  std::vector<std::string_view> defined;
};

/// Reads the tables of the dynamic segment of a shared object for x86-64, nothing else. `file` is
/// for messages: InputError where a table is not what the format says.
ElfFile elf_file(std::string_view bytes, std::string_view file);

/// A file's bytes, read only where they are looked at: half a gigabyte costs nothing.
class MappedFile {
 public:
  /// Throws InputError where the file cannot be read.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;

  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

}  // namespace memreplay
