#include "trace/csv/csv_probe.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "trace/csv/csv_columns.hpp"
#include "trace/csv/csv_fields.hpp"
#include "trace/csv/csv_rows.hpp"
#include "trace/pages_behind.hpp"
#include "trace/rmm/rmm.hpp"

namespace memreplay {

bool is_csv(const Input& input) {
  if (is_rmm(input)) return false;
  constexpr std::size_t kLongestHeader = 4000;
  std::string_view header = input.bytes.substr(0, kLongestHeader);
  header.remove_prefix(std::min(header.find_first_not_of("\r\n"), header.size()));
  header = header.substr(0, header.find('\n'));
  try {
    CsvRows rows(input.name, header, csv_separator(header));
    rows.keep_blanks(false);
    if (!rows.next()) return false;
    read_csv_header(rows, {});
    return true;
  } catch (const InputError&) {
    return false;
  }
}

bool can_stream_csv(const Input& input, const ReadOptions& options) {
  CsvFields fields(input.name, input.bytes, options.columns);
  if (fields.has(kTime) && fields.header().time == CsvTimeUnit::undecided) return false;
  PagesBehind behind(input);
  std::optional<std::string> device;
  try {
    while (fields.next()) {
      if (fields.op() == 'c') return false;
      if (!device) device = fields.text(kDevice);
      if (fields.text(kDevice) != *device) return false;
      behind.passed(fields.rest());
    }
  } catch (const InputError&) {
    // The reading comes to it, unless something is wrong before it.
  }
  return true;
}

bool csv_has_allocated(const Input& input, const ReadOptions& options, int gpu, std::uint64_t id,
                       const char* end) {
  CsvFields fields(input.name, input.bytes, options.columns);
  while (fields.next() && fields.rest() < end) {
    if (fields.op() != 'a' || fields.is_null_id()) continue;
    if (fields.number<int>(kDevice, "").value_or(0) != gpu) continue;
    if (fields.number<std::uint64_t>(kId, "") == id) return true;
  }
  return false;
}

}  // namespace memreplay
