#pragma once

#include <array>
#include <streambuf>

namespace memreplay {

/// Writes to an open file, and knows why it could not.
class FileBuffer final : public std::streambuf {
 public:
  FileBuffer() { setp(room_.data(), room_.data() + room_.size()); }
  /// The file stays that of the caller. To be called before anything is written.
  void write_to(int file) { file_ = file; }
  /// The errno of the first write that failed; 0 where none did.
  int error() const { return error_; }

 protected:
  int_type overflow(int_type c) override;
  int sync() override;

 private:
  int file_ = -1;
  int error_ = 0;
  std::array<char, 1 << 16> room_;
};

}  // namespace memreplay
