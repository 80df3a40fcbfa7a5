#pragma once

#include <string>

#include "trace/reader.hpp"

namespace memreplay {

/// A small file's bytes as they are. Throws InputError.
std::string read_file(const std::string& path);

/// A file's bytes, mapped or held in memory, decompressed where its first bytes say gzip or zstd.
class OpenedInput {
 public:
  /// Opens a file; "-" is standard input. Throws InputError.
  explicit OpenedInput(const std::string& path);
  /// Bytes that are at hand, and outlive this.
  OpenedInput(const std::string& name, std::string_view bytes);
  ~OpenedInput();
  OpenedInput(const OpenedInput&) = delete;
  OpenedInput& operator=(const OpenedInput&) = delete;

  const Input& input() const { return input_; }

 private:
  template <typename Fill>
  void guarded(Fill fill);
  void unpack();
  void map_or_read(int file);
  void unmap();

  Input input_;
  std::string held_;
  void* mapping_ = nullptr;
  std::size_t mapped_bytes_ = 0;
};

}  // namespace memreplay
