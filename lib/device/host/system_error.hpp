#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <string_view>
#include <system_error>

#include "device/real/real_memory.hpp"

namespace memreplay {

/// The call has just failed, with errno set.
[[noreturn]] inline void throw_system_error(std::string_view call) {
  const int code = errno;
  throw DeviceError(
      fmt::format("host: {}: {}{}", call, std::generic_category().message(code),
                  code == ENOMEM ? " (perhaps more mappings than vm.max_map_count)" : ""));
}

}  // namespace memreplay
