#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "core/address_table.hpp"
#include "core/request.hpp"
#include "core/units.hpp"
#include "trace/csv/csv_columns.hpp"
#include "trace/csv_rows.hpp"
#include "trace/reader.hpp"
#include "trace/trace_builder.hpp"

namespace memreplay {

/// A row of op, id and size, as most are: "a,17,512" or "f,17,".
struct ShortRow {
  char op = 0;  ///< 'a' or 'f'
  std::uint64_t id = 0;
  Bytes size = 0;
  std::size_t characters = 0;  ///< with the end of the line
};

/// The fields of the row at which a CSV stands, by what they mean. What cannot be read throws
/// InputError with line and column, what stands there and what was expected.
class CsvFields {
 public:
  /// Reads the header. `by_hand` as in read_csv_header.
  CsvFields(std::string_view file, std::string_view text, std::string_view by_hand);

  /// Moves to the next row; false at the end. Only an allocation needs all of its fields.
  bool next();

  /// Looks whether the next row is a short one, plainly written. Else, and of files with other
  /// columns, false.
  bool is_short(ShortRow& row) const;
  /// Moves past the row that was looked at.
  void pass(const ShortRow& row) { rows_.pass(row.characters); }

  /// Where the next row begins.
  const char* rest() const { return rows_.rest(); }
  std::string place() const { return rows_.place(); }  ///< where the row begins
  const CsvHeader& header() const { return header_; }
  bool has(CsvColumn column) const { return header_.places[column].has_value(); }
  /// There are other columns than op, id and size.
  bool says_more() const { return says_more_; }
  /// As the header calls a column that is there.
  std::string_view name(CsvColumn column) const { return header_.names[*header_.places[column]]; }
  /// Empty where the file has no such column.
  std::string_view text(CsvColumn column) const {
    return has(column) ? rows_.fields()[*header_.places[column]] : std::string_view{};
  }

  /// Unset where the field is empty. Number is int, std::uint32_t or std::uint64_t.
  template <typename Number>
  std::optional<Number> number(CsvColumn column, std::string_view expected) const {
    std::optional<Number> number;
    take(column, number, expected);
    return number;
  }
  /// Reads into an empty optional, where it is to stay: copies of what was just written in parts
  /// are slow.
  template <typename Number>
  void take(CsvColumn column, std::optional<Number>& number, std::string_view expected) const {
    const std::string_view field = text(column);
    if (field.empty()) return;
    std::uint64_t whole = 0;
    if (rows_.read_digits(field, whole) && std::in_range<Number>(whole)) {
      number.emplace(static_cast<Number>(whole));
    } else {
      number = written_otherwise<Number>(column, expected);
    }
  }
  char op() const {
    const std::string_view word = text(kOp);
    return word == "a" || word == "f" ? word.front() : written_op();  // nearly always the first
  }
  /// The id is that of no block: what a failed allocation returns.
  bool is_null_id() const {
    const std::string_view field = text(kId);
    const bool plain_number = !field.empty() && field.front() >= '1' && field.front() <= '9';
    return !plain_number && is_null(field);
  }
  std::optional<PoolId> pool() const { return text(kPool).empty() ? std::nullopt : written_pool(); }
  std::uint8_t align_log2() const { return text(kAlign).empty() ? 0 : written_align_log2(); }

  [[noreturn]] void fail(std::string_view message) const { rows_.fail(message); }
  [[noreturn]] void bad(CsvColumn column, std::string_view expected) const;

 private:
  static bool is_null(std::string_view id);
  void fill_up_row();
  char written_op() const;
  std::optional<PoolId> written_pool() const;
  std::uint8_t written_align_log2() const;
  template <typename Number>
  std::optional<Number> written_otherwise(CsvColumn column, std::string_view expected) const;

  CsvRows rows_;
  CsvHeader header_;
  bool says_more_ = false;
  bool is_short_ = false;  ///< op, id and size, in this order
};

/// Whether the events of a device stay in its trace, or leave it as they are read.
enum class CsvEvents { kept, handed_on };

inline constexpr std::uint64_t kNotFreed = UINT64_MAX;

/// What its allocation said of a block.
struct CsvBuffer {
  Bytes size = 0;
  std::uint64_t freed = kNotFreed;  ///< event
  Slot slot = kNoSlot;              ///< or the number of the allocation, see CsvDevice
  std::uint32_t thread = 0;
  std::uint16_t lane = 0;
  bool completed = false;
};

/// What has been read of one device of a CSV.
struct CsvDevice {
  CsvDevice(int gpu, CsvEvents fate);

  bool is_full() const { return numbers == kNoSlot; }
  /// False where that block is live already.
  bool allocate(std::uint64_t id, std::uint16_t lane, Bytes size, std::uint8_t align_log2,
                std::uint32_t thread);
  /// Only where events are kept. From the first completion on: any block that was freed may be
  /// meant, and which slots come again shows at the end.
  void keep_freed();
  /// `block` is live.
  void free(std::uint64_t id, std::uint16_t lane, CsvBuffer& block);
  /// `block` was freed; of devices that keep those.
  void complete_free(std::uint16_t lane, CsvBuffer& block);
  /// After all rows: slots in place of numbers.
  void number_slots();

  TraceBuilder builder;
  /// By id, the latest of each: live, or freed where these are kept.
  AddressTable<CsvBuffer> buffers;
  bool keeps_freed = false;
  CsvEvents events;
  Slot numbers = 0;  ///< number of allocations; where freed ones are kept these stand for slots
};

/// By its first line alone: it names what happens, and to which block.
bool is_csv(const Input& input);

/// No row tells anything of those before it, and all are of one device, up to one that cannot be
/// read. Throws InputError for a header that cannot. O(rows).
bool can_stream_csv(const Input& input, const ReadOptions& options);

/// Whether a block of this id is allocated in the rows before `end`, which can be read. O(rows).
bool csv_has_allocated(const Input& input, const ReadOptions& options, int gpu, std::uint64_t id,
                       const char* end);

}  // namespace memreplay
