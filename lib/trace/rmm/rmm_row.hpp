#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace memreplay {

enum RmmColumn : std::size_t {
  kRmmAction,
  kRmmPointer,
  kRmmSize,
  kRmmStream,
  kRmmTime,
  kRmmThread,
  kRmmDevice,
  kRmmColumns
};

/// Where each column stands; of either layout.
struct RmmHeader {
  std::array<std::optional<std::size_t>, kRmmColumns> places;
  std::size_t columns = 0;
  bool is_old =
      false;  ///< "Event Type,Device ID,Address,…": seconds, and a row may be of any device
  bool has_others = false;  ///< columns that neither layout has

  bool has(RmmColumn column) const { return places[column].has_value(); }
};

/// Unset where a needed column is missing, or one is there twice.
std::optional<RmmHeader> parse_rmm_header(std::string_view line);

/// The fields of a row as they are written; those that the header does not have are empty.
class RmmRow {
 public:
  /// False where there are fewer fields than columns.
  bool cut(std::string_view line, const RmmHeader& header);
  std::string_view operator[](RmmColumn column) const { return fields_[column]; }

 private:
  std::array<std::string_view, kRmmColumns> fields_;
};

/// Microseconds of "09:15:02.000101" since midnight, also with a colon before the fraction.
std::optional<std::int64_t> parse_rmm_clock(std::string_view text);

}  // namespace memreplay
