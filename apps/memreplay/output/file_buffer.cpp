#include "output/file_buffer.hpp"

#include <cerrno>
#include <string_view>

#include "core/write_all.hpp"

namespace memreplay {

FileBuffer::int_type FileBuffer::overflow(int_type c) {
  if (sync() != 0) return traits_type::eof();
  return traits_type::eq_int_type(c, traits_type::eof()) ? traits_type::not_eof(c)
                                                         : sputc(traits_type::to_char_type(c));
}

int FileBuffer::sync() {
  const std::string_view waiting(pbase(), static_cast<std::size_t>(pptr() - pbase()));
  if (error_ == 0 && !write_all(file_, waiting)) error_ = errno;
  setp(room_.data(), room_.data() + room_.size());
  return error_ == 0 ? 0 : -1;
}

}  // namespace memreplay
