#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

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

}  // namespace memreplay
