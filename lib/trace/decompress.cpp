#include "trace/decompress.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <new>

#include "core/error.hpp"
#include "core/units.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kGzip = "\x1f\x8b", kZstd = "\x28\xb5\x2f\xfd";
constexpr std::size_t kMostBytes = 64 * kGiB;
constexpr std::size_t kChunk = 1 * kMiB;

[[noreturn]] void cut_off(const Input& input, std::string_view kind) {
  throw InputError(input.name, "",
                   std::string(kind) + " data ends too early: the file is truncated");
}

[[noreturn]] void damaged(const Input& input, std::string_view kind, const char* why) {
  throw InputError(input.name, "",
                   std::string(kind) + " data is damaged: " + (why == nullptr ? "unknown" : why));
}

/// Room for another chunk at the end; grows by half, so that little is left over.
char* add_room(const Input& input, std::string& content, std::size_t used) {
  if (used >= kMostBytes) throw InputError(input.name, "", "more than 64 GiB after decompression");
  if (content.size() - used < kChunk) content.resize(used + std::max(kChunk, used / 2));
  return content.data() + used;
}

std::string gunzip(const Input& input) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, inflateEnd);
  std::string content;
  std::size_t used = 0, taken = 0;
  const std::string_view bytes = input.bytes;
  for (int state = Z_OK;;) {
    stream.next_out = reinterpret_cast<Bytef*>(add_room(input, content, used));
    stream.avail_out = kChunk;
    const std::size_t offered = std::min<std::size_t>(bytes.size() - taken, 1 * kGiB);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + taken));
    stream.avail_in = static_cast<uInt>(offered);
    state = inflate(&stream, Z_NO_FLUSH);
    taken += offered - stream.avail_in;
    used += kChunk - stream.avail_out;
    if (state == Z_STREAM_END) {
      // Another member may follow, or zeros that pad the file.
      if (!bytes.substr(taken).starts_with(kGzip)) break;
      inflateReset(&stream);
    } else if (state == Z_BUF_ERROR ||
               (state == Z_OK && taken == bytes.size() && stream.avail_out != 0)) {
      cut_off(input, "gzip");
    } else if (state != Z_OK) {
      damaged(input, "gzip", stream.msg);
    }
  }
  if (bytes.find_first_not_of('\0', taken) != std::string_view::npos) {
    damaged(input, "gzip", "other data follows it");
  }
  content.resize(used);
  return content;
}

std::string unzstd(const Input& input) {
  const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                             ZSTD_freeDStream);
  if (!stream) throw std::bad_alloc();
  std::string content;
  std::size_t used = 0;
  ZSTD_inBuffer from{input.bytes.data(), input.bytes.size(), 0};
  for (;;) {
    ZSTD_outBuffer to{add_room(input, content, used), kChunk, 0};
    const std::size_t left = ZSTD_decompressStream(stream.get(), &to, &from);
    if (ZSTD_isError(left)) damaged(input, "zstd", ZSTD_getErrorName(left));
    used += to.pos;
    if (from.pos < from.size || to.pos == to.size) continue;
    if (left != 0) cut_off(input, "zstd");
    break;
  }
  content.resize(used);
  return content;
}

}  // namespace

bool is_compressed(std::string_view bytes) {
  return bytes.starts_with(kGzip) || bytes.starts_with(kZstd);
}

std::string decompress(const Input& input) {
  return input.bytes.starts_with(kGzip) ? gunzip(input) : unzstd(input);
}

}  // namespace memreplay
