#pragma once

#include <filesystem>
#include <string_view>

namespace memreplay {

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
