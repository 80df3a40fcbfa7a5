#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "trace/reader.hpp"

namespace memreplay {

bool is_compressed(std::string_view bytes);

/// The content of a gzip or zstd file. Throws InputError where it is cut off, damaged or beyond
/// 64 GiB; std::bad_alloc where the memory of the machine does not hold it.
std::string decompress(const Input& input);

/// `bytes` bytes of its beginning, or somewhat more, or all that it holds.
std::string decompressed_beginning(const Input& input, std::size_t bytes);

/// As many bytes are unpacked at once.
inline constexpr std::size_t kUnpackedAtOnce = std::size_t{1} << 18;

/// Decompresses into the caller's memory: `room(used)` says where the next kUnpackedAtOnce bytes
/// go, after the `used` ones that are there by then. Returns how many there are in the end.
std::size_t decompress(const Input& input, const std::function<char*(std::size_t used)>& room);

/// How much a compressed file says to hold, which need not be so. Unset where it says nothing, or
/// more than is likely or the machine has memory for.
std::optional<std::size_t> stated_size(const Input& input);

/// A file that holds more or less than it said.
struct Misstated {};

/// Unpacks a compressed file on a thread of its own, so that who reads from the front need not wait
/// for the end, and need not hold what is read: it is some MiB ahead of what was waited for.
class Unpacking {
 public:
  /// Null where the file does not say how much it holds, where that is not worth a thread, and
  /// where there is none to be had. `packed` outlives what is returned.
  static std::unique_ptr<Unpacking> begin(const Input& packed);

  /// All that the file says to hold; to be read as far as it has arrived.
  std::string_view bytes() const { return {content_.get(), size_}; }

  /// Waits until more than `count` bytes have arrived, or all; how many have. Throws Misstated, and
  /// what decompress throws.
  std::size_t wait_beyond(std::size_t count);

  /// The memory of the first `count` bytes, which have arrived, is given back: they are not to be
  /// read again.
  void forget(std::size_t count);
  /// Nothing was forgotten.
  bool is_whole() const { return forgotten_ == 0; }

 private:
  Unpacking(const Input& packed, std::size_t size);

  char* room(const std::stop_token& stop, std::size_t used);
  void unpack(const std::stop_token& stop);

  const Input packed_;
  const std::size_t size_;
  std::unique_ptr<char[]> content_;
  std::size_t forgotten_ = 0;

  std::mutex mutex_;  ///< guards what follows
  std::condition_variable_any changed_;
  std::size_t wanted_ = 0;
  std::size_t arrived_ = 0;
  std::exception_ptr failure_;
  std::jthread thread_;  ///< ends before all else
};

}  // namespace memreplay
