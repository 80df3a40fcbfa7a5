#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"
#include "extensions/nsight/nsight_rows.hpp"
#include "extensions/nsight/sqlite_file.hpp"

namespace memreplay {
namespace {

constexpr const char* kEvents = "CUDA_GPU_MEMORY_USAGE_EVENTS";

/// Every number of an enum with its name or label, by whichever `is` tells what it means.
template <typename Take>
void for_each_meaning(const SqliteFile& file, const std::string& table, const Take& take) {
  const std::vector<std::string> columns = file.columns_of(table);
  for (const char* const text : {"name", "label"}) {
    if (std::ranges::count(columns, "id") == 0 || std::ranges::count(columns, text) == 0) continue;
    SqliteQuery query(file, fmt::format("SELECT id, {} FROM {}", text, table));
    while (query.next()) take(query.number(0), lower_case(std::string(query.text(1))));
  }
}

NsightEnums enums_of(const SqliteFile& file) {
  NsightEnums enums;
  for_each_meaning(file, "ENUM_CUDA_DEV_MEM_EVENT_OPER",
                   [&](std::int64_t id, const std::string& text) {
                     if (text.find("dealloc") != text.npos) {
                       enums.deallocation = id;
                     } else if (text.find("alloc") != text.npos) {
                       enums.allocation = id;
                     }
                   });
  for_each_meaning(file, "ENUM_CUDA_MEM_KIND", [&](std::int64_t id, const std::string& text) {
    if (text == "device" || text.ends_with("_device")) enums.device_kind = id;
    if (text == "device static" || text.ends_with("_device_static")) enums.static_kind = id;
  });
  return enums;
}

/// The columns as a question asks for them; null for one that is not there.
std::string asked_columns(const std::vector<std::string>& columns, const std::string& file) {
  std::string asked = "rowid";
  for (std::size_t column = 0; column < kNsightColumns; ++column) {
    const std::string_view name = kNsightNames[column];
    const bool is_there = std::ranges::find(columns, name) != columns.end();
    if (!is_there && column < kNsightNeeded) {
      throw InputError(file, kEvents,
                       fmt::format("has no column {}; expected an export of Nsight Systems", name));
    }
    asked += is_there ? fmt::format(", {}", name) : ", NULL";
  }
  return asked;
}

}  // namespace

NsightEnums nsight_rows_of_sqlite(const Input& input, const TakeNsightRow& take) {
  const SqliteFile file(input);
  const std::vector<std::string> columns = file.columns_of(kEvents);
  if (columns.empty()) {
    throw InputError(input.name, "",
                     fmt::format("has no table {}; expected an export of Nsight Systems recorded "
                                 "with --cuda-memory-usage=true; of other SQLite files only "
                                 "Umpire's are read, which have a table EVENTS",
                                 kEvents));
  }
  SqliteQuery query(file,
                    fmt::format("SELECT {} FROM {}", asked_columns(columns, input.name), kEvents));
  NsightRow row{.kind = "row "};
  while (query.next()) {
    row.number = query.number(0);
    for (int column = 0; column < static_cast<int>(kNsightColumns); ++column) {
      const auto at = static_cast<std::size_t>(column);
      const int type = query.type(column + 1);
      if (type == SQLITE_NULL) {
        row.numbers[at].reset();
        if (kNsightNames[at] == "name") row.name = {};
      } else if (kNsightNames[at] == "name") {
        row.name = query.text(column + 1);
      } else if (type == SQLITE_INTEGER) {
        row.numbers[at] = query.number(column + 1);
      } else {
        throw InputError(input.name, row.place(),
                         fmt::format("{} is not a whole number", kNsightNames[at]));
      }
    }
    take(row);
  }
  return enums_of(file);
}

}  // namespace memreplay
