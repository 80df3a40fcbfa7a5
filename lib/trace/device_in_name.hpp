#pragma once

#include <string_view>

namespace memreplay {

/// The device of a recorder that writes a file for each: 3 of "rmm.dev3.csv",
/// "mem_log_dev3.txt.gz". 0 where the name does not say, or says more than there are.
int device_in_name(std::string_view path);

}  // namespace memreplay
