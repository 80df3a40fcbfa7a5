#pragma once

#include <unistd.h>

#include <cstddef>
#include <string_view>

#include "core/uninterrupted.hpp"

namespace memreplay {

/// Writes all of it to an open file. False where that fails; errno says why.
inline bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        uninterrupted([&] { return ::write(file, bytes.data(), bytes.size()); });
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace memreplay
