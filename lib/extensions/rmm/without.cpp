#include "trace/csv/csv.hpp"

namespace memreplay {

bool is_log_of_rmm(const Input&) { return false; }

}  // namespace memreplay
