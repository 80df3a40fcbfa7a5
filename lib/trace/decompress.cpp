#include "trace/decompress.hpp"

#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <system_error>

#include "core/error.hpp"
#include "core/units.hpp"
#include "trace/pages.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kWorthAThread = 2 * kMiB;
/// So far ahead of who reads.
constexpr std::size_t kAhead = kMiB;

/// Nobody reads it any more.
struct Abandoned {};

constexpr std::string_view kGzip = "\x1f\x8b", kZstd = "\x28\xb5\x2f\xfd";
constexpr std::string_view kSkippable = "\x2a\x4d\x18";  // comes after one of sixteen bytes
constexpr Bytes kMostUnpacked = 64 * kGiB;

bool is_zstd(std::string_view bytes) {
  if (bytes.starts_with(kZstd)) return true;
  return !bytes.empty() && (bytes[0] & 0xF0) == 0x50 && bytes.substr(1).starts_with(kSkippable);
}

[[noreturn]] void cut_off(const Input& input, std::string_view kind) {
  throw InputError(input.name, "",
                   std::string(kind) + " data ends too early: the file is truncated");
}

[[noreturn]] void damaged(const Input& input, std::string_view kind, const char* why) {
  throw InputError(input.name, "",
                   std::string(kind) + " data is damaged: " + (why == nullptr ? "unknown" : why));
}

/// Zeros may pad a file.
bool is_padding(std::string_view rest) { return rest.find_first_not_of('\0') == rest.npos; }

/// The size of the last member, modulo 4 GiB.
std::uint64_t stated_by_gzip(std::string_view bytes) {
  std::uint32_t size = 0;
  if (bytes.size() < sizeof size) return 0;
  std::memcpy(&size, bytes.end() - sizeof size, sizeof size);
  return size;
}

Bytes memory_of_machine() {
  static const Bytes kMemory = [] {
    const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? Bytes(pages) * Bytes(page) : kMostUnpacked;
  }();
  return kMemory;
}

/// Room for another step at the end; beyond what was reserved it grows by half, so that little is
/// left over. What is there and what it grows to must fit side by side: a system that promises more
/// memory than it has ends a program without a word.
char* add_room(std::string& content, std::size_t used) {
  if (content.size() - used < kUnpackedAtOnce) {
    const bool fits = content.capacity() - used >= kUnpackedAtOnce;
    const std::size_t wanted =
        used + (fits ? kUnpackedAtOnce : std::max(kUnpackedAtOnce, used / 2));
    if (wanted > memory_of_machine() - std::min<Bytes>(used, memory_of_machine())) {
      throw std::bad_alloc();
    }
    content.resize(wanted);
  }
  return content.data() + used;
}

using Room = std::function<char*(std::size_t used)>;

char* next_room(const Input& input, const Room& room, std::size_t used) {
  if (used >= kMostUnpacked)
    throw InputError(input.name, "", "more than 64 GiB after decompression");
  return room(used);
}

std::size_t gunzip(const Input& input, const Room& room) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, inflateEnd);
  std::size_t used = 0, taken = 0;
  const std::string_view bytes = input.bytes;
  PagesBehind behind(input);
  for (int state = Z_OK;;) {
    stream.next_out = reinterpret_cast<Bytef*>(next_room(input, room, used));
    stream.avail_out = kUnpackedAtOnce;
    const std::size_t offered = std::min<std::size_t>(bytes.size() - taken, 1 * kGiB);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + taken));
    stream.avail_in = static_cast<uInt>(offered);
    state = inflate(&stream, Z_NO_FLUSH);
    taken += offered - stream.avail_in;
    behind.passed(bytes.data() + taken);
    used += kUnpackedAtOnce - stream.avail_out;
    if (state == Z_STREAM_END) {
      // Another member may follow.
      if (!bytes.substr(taken).starts_with(kGzip)) break;
      inflateReset(&stream);
    } else if (state == Z_BUF_ERROR ||
               (state == Z_OK && taken == bytes.size() && stream.avail_out != 0)) {
      cut_off(input, "gzip");
    } else if (state != Z_OK) {
      damaged(input, "gzip", stream.msg);
    }
  }
  if (!is_padding(bytes.substr(taken))) damaged(input, "gzip", "other data follows it");
  return used;
}

std::size_t unzstd(const Input& input, const Room& room) {
  const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                             ZSTD_freeDStream);
  if (!stream) throw std::bad_alloc();
  std::size_t used = 0;
  ZSTD_inBuffer from{input.bytes.data(), input.bytes.size(), 0};
  PagesBehind behind(input);
  for (;;) {
    ZSTD_outBuffer to{next_room(input, room, used), kUnpackedAtOnce, 0};
    const std::size_t left = ZSTD_decompressStream(stream.get(), &to, &from);
    if (ZSTD_isError(left)) damaged(input, "zstd", ZSTD_getErrorName(left));
    used += to.pos;
    behind.passed(input.bytes.data() + from.pos);
    if (left == 0) {
      // Another frame may follow.
      const std::string_view rest = input.bytes.substr(from.pos);
      if (is_padding(rest)) break;
      if (!is_zstd(rest)) damaged(input, "zstd", "other data follows it");
    } else if (from.pos == from.size && to.pos < to.size) {
      cut_off(input, "zstd");
    }
  }
  return used;
}

}  // namespace

bool is_compressed(std::string_view bytes) { return bytes.starts_with(kGzip) || is_zstd(bytes); }

std::size_t decompress(const Input& input, const Room& room) {
  return input.bytes.starts_with(kGzip) ? gunzip(input, room) : unzstd(input, room);
}

std::string decompress(const Input& input) {
  std::string content;
  // To grow into what it holds would cost as much as the reading.
  if (const auto stated = stated_size(input)) content.reserve(*stated + kUnpackedAtOnce);
  content.resize(decompress(input, [&](std::size_t used) { return add_room(content, used); }));
  return content;
}

std::string decompressed_beginning(const Input& input, std::size_t bytes) {
  struct Enough {
    std::size_t used = 0;
  };
  std::string content;
  const auto room = [&](std::size_t used) {
    if (used >= bytes) throw Enough{used};
    return add_room(content, used);
  };
  try {
    content.resize(decompress(input, room));
  } catch (const Enough& enough) {
    content.resize(enough.used);
  }
  return content;
}

std::optional<std::size_t> stated_size(const Input& input) {
  // No statement is believed that is far from what recordings are compressed by.
  constexpr std::size_t kBestRatio = 64;
  const std::string_view bytes = input.bytes;
  // What zstd does not know is more than any ratio.
  const std::uint64_t stated = bytes.starts_with(kGzip)
                                   ? stated_by_gzip(bytes)
                                   : ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (stated >= kBestRatio * bytes.size() || stated >= memory_of_machine()) return std::nullopt;
  return stated;
}

std::unique_ptr<Unpacking> Unpacking::begin(const Input& packed) {
  const auto size = stated_size(packed);
  if (!size || *size < kWorthAThread || std::thread::hardware_concurrency() < 2) return nullptr;
  try {
    return std::unique_ptr<Unpacking>(new Unpacking(packed, *size));
  } catch (const std::system_error&) {
    return nullptr;
  }
}

Unpacking::Unpacking(const Input& packed, std::size_t size)
    : packed_(packed),
      size_(size),
      content_(std::make_unique_for_overwrite<char[]>(size + kUnpackedAtOnce)),
      thread_([this](const std::stop_token& stop) { unpack(stop); }) {}

std::size_t Unpacking::wait_beyond(std::size_t count) {
  std::unique_lock lock(mutex_);
  wanted_ = std::max(wanted_, count);
  changed_.notify_all();
  changed_.wait(lock, [&] { return arrived_ > std::min(count, size_ - 1) || failure_; });
  if (failure_) std::rethrow_exception(failure_);
  return arrived_;
}

void Unpacking::forget(std::size_t count) {
  constexpr std::uintptr_t kPage = 4095;
  const auto begin = reinterpret_cast<std::uintptr_t>(content_.get());
  const std::uintptr_t from = (begin + forgotten_ + kPage) & ~kPage;
  const std::uintptr_t to = (begin + count) & ~kPage;
  if (from >= to) return;
  madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
  forgotten_ = to - begin;
}

char* Unpacking::room(const std::stop_token& stop, std::size_t used) {
  if (used > size_) throw Misstated();
  // The end of the file may still show that it is damaged: only then all has arrived.
  std::unique_lock lock(mutex_);
  arrived_ = std::min(used, size_ - 1);
  changed_.notify_all();
  changed_.wait(lock, stop, [&] { return used < kAhead || used - kAhead <= wanted_; });
  if (stop.stop_requested()) throw Abandoned();
  return content_.get() + used;
}

void Unpacking::unpack(const std::stop_token& stop) {
  std::exception_ptr failure;
  try {
    const std::size_t size =
        decompress(packed_, [&](std::size_t used) { return room(stop, used); });
    if (size != size_) throw Misstated();
  } catch (...) {
    failure = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  failure_ = failure;
  if (!failure) arrived_ = size_;
  changed_.notify_all();
}

}  // namespace memreplay
