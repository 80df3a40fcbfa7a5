#include "report/page/blob.hpp"

#include <zlib.h>

#include <algorithm>
#include <new>
#include <stdexcept>

namespace memreplay {
namespace {

std::string compressed(const std::string& bytes) {
  constexpr int kQuick = 2;
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  const int result = compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), kQuick);
  if (result == Z_MEM_ERROR) throw std::bad_alloc();
  if (result != Z_OK) throw std::runtime_error("zlib refuses to compress");
  packed.resize(size);
  return packed;
}

std::string base64(const std::string& bytes) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text((bytes.size() + 2) / 3 * 4, '=');
  for (std::size_t at = 0, to = 0; at < bytes.size(); at += 3, to += 4) {
    const std::size_t here = std::min<std::size_t>(bytes.size() - at, 3);
    std::uint32_t three = 0;
    for (std::size_t i = 0; i < here; ++i) {
      three |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i]))
               << (16 - 8 * i);
    }
    for (std::size_t i = 0; i <= here; ++i) text[to + i] = kLetters[three >> (18 - 6 * i) & 63];
  }
  return text;
}

}  // namespace

void Blob::add(std::string_view name, std::string_view bytes) {
  table_[name] = {bytes_.size(), bytes.size()};
  bytes_ += bytes;
}

std::string Blob::packed() const { return base64(compressed(bytes_)); }

}  // namespace memreplay
