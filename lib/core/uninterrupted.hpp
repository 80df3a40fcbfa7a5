#pragma once

#include <cerrno>

namespace memreplay {

/// The result of a system call, which is made again for as long as signals interrupt it.
template <typename Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace memreplay
