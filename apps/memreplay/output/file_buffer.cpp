#include "output/file_buffer.hpp"

#include <unistd.h>

#include "core/uninterrupted.hpp"

namespace memreplay {

FileBuffer::int_type FileBuffer::overflow(int_type c) {
  if (sync() != 0) return traits_type::eof();
  return traits_type::eq_int_type(c, traits_type::eof()) ? traits_type::not_eof(c)
                                                         : sputc(traits_type::to_char_type(c));
}

int FileBuffer::sync() {
  const char* from = pbase();
  while (error_ == 0 && from != pptr()) {
    const ssize_t count = uninterrupted(
        [&] { return ::write(file_, from, static_cast<std::size_t>(pptr() - from)); });
    if (count < 0) {
      error_ = errno;
    } else {
      from += count;
    }
  }
  setp(room_.data(), room_.data() + room_.size());
  return error_ == 0 ? 0 : -1;
}

}  // namespace memreplay
