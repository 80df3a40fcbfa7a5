#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "trace/reader.hpp"

namespace memreplay {

/// The columns of CUDA_GPU_MEMORY_USAGE_EVENTS that are read.
enum class NsightColumn : std::uint8_t {
  start,
  bytes,
  address,
  operation,
  kind,
  process,
  device,
  stream,
  memory_pool,
  name
};
inline constexpr std::size_t kNsightColumns = 10;
inline constexpr std::array<std::string_view, kNsightColumns> kNsightNames = {
    "start",     "bytes",    "address",  "memoryOperationType",    "memKind",
    "globalPid", "deviceId", "streamId", "localMemoryPoolAddress", "name"};
/// So many from the first must be there.
inline constexpr std::size_t kNsightNeeded = 4;

/// What the numbers of an export mean; the database may say otherwise.
struct NsightEnums {
  std::int64_t allocation = 0;
  std::int64_t deallocation = 1;
  std::int64_t device_kind = 2;
  std::int64_t static_kind = 5;
};

/// A row as it stands there; what is null, or in no column, is unset.
struct NsightRow {
  std::string_view kind;    ///< for messages: "row ", empty where it is a line
  std::int64_t number = 0;  ///< likewise
  std::array<std::optional<std::int64_t>, kNsightColumns> numbers;
  std::string_view name;

  std::string place() const { return std::string(kind) + std::to_string(number); }
  const std::optional<std::int64_t>& at(NsightColumn column) const {
    return numbers[static_cast<std::size_t>(column)];
  }
};

using TakeNsightRow = std::function<void(const NsightRow&)>;

/// Hands over the rows of the events, in no order. Throws InputError.
NsightEnums nsight_rows_of_sqlite(const Input& input, const TakeNsightRow& take);

/// The first line names the column that other tables do not have.
bool is_nsight_csv(const Input& input);
/// Hands over the rows of a table with a header. Throws InputError.
NsightEnums nsight_rows_of_csv(const Input& input, const TakeNsightRow& take);

}  // namespace memreplay
