#pragma once

#include <string>

#include "trace/reader.hpp"

namespace memreplay {

bool is_compressed(std::string_view bytes);

/// The content of a gzip or zstd file. Throws InputError where it is cut off, damaged or beyond
/// 64 GiB; std::bad_alloc where the memory of the machine does not hold it.
std::string decompress(const Input& input);

}  // namespace memreplay
