#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <new>
#include <vector>

#include "core/error.hpp"
#include "trace/nsight/nsight_rows.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr const char* kEvents = "CUDA_GPU_MEMORY_USAGE_EVENTS";

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

/// How long the file is to be by its header; 0 where that does not say.
std::uint64_t stated_length(std::string_view bytes) {
  constexpr std::size_t kHeader = 100;
  if (bytes.size() < kHeader) return kHeader;
  const std::uint64_t page = big_endian(bytes.substr(16, 2));
  const bool says = bytes.substr(24, 4) == bytes.substr(92, 4);  // else a later writer did not
  return says ? (page == 1 ? 65536 : page) * big_endian(bytes.substr(28, 4)) : 0;
}

/// A database whose file is in memory, and is neither written nor trusted.
class SqliteFile {
 public:
  explicit SqliteFile(const Input& input) : name_(input.name) {
    // The two bytes tell that what was written last may be in a second file. It is not here.
    constexpr std::size_t kWriteAhead = 18;
    std::string_view bytes = input.bytes;
    // SQLite takes what is missing of a page for zeros.
    if (const std::uint64_t length = stated_length(bytes); bytes.size() < length) {
      throw InputError(
          name_, "",
          fmt::format("is cut off: {} bytes; its header expects {} or more", bytes.size(), length));
    }
    if (bytes.size() > kWriteAhead + 1 && bytes[kWriteAhead] == 2) {
      copy_ = bytes;
      copy_[kWriteAhead] = copy_[kWriteAhead + 1] = 1;
      bytes = copy_;
    }
    sqlite3* opened = nullptr;
    const int status = sqlite3_open_v2(":memory:", &opened, SQLITE_OPEN_READWRITE, nullptr);
    database_.reset(opened);
    if (status != SQLITE_OK) fail();
    // Read only: the bytes stay as they are.
    auto* const data =
        const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));
    const auto size = static_cast<sqlite3_int64>(bytes.size());
    check(sqlite3_deserialize(opened, "main", data, size, size, SQLITE_DESERIALIZE_READONLY));
    for (const char* const careful :
         {"PRAGMA trusted_schema=OFF", "PRAGMA cell_size_check=ON", "PRAGMA temp_store=MEMORY"}) {
      check(sqlite3_exec(opened, careful, nullptr, nullptr, nullptr));
    }
  }

  [[noreturn]] void fail() const {
    if (sqlite3_errcode(database_.get()) == SQLITE_NOMEM) throw std::bad_alloc();
    throw InputError(
        name_, "",
        fmt::format("is no readable SQLite database: {}", sqlite3_errmsg(database_.get())));
  }
  void check(int status) const {
    if (status != SQLITE_OK) fail();
  }
  sqlite3* get() const { return database_.get(); }

 private:
  std::string name_;
  std::string copy_;
  std::unique_ptr<sqlite3, decltype(&sqlite3_close)> database_{nullptr, sqlite3_close};
};

/// A question and its rows.
class SqliteQuery {
 public:
  SqliteQuery(const SqliteFile& file, const std::string& question) : file_(file) {
    sqlite3_stmt* prepared = nullptr;
    file.check(sqlite3_prepare_v2(file.get(), question.c_str(), -1, &prepared, nullptr));
    statement_.reset(prepared);
  }
  bool next() {
    const int status = sqlite3_step(statement_.get());
    if (status != SQLITE_ROW && status != SQLITE_DONE) file_.fail();
    return status == SQLITE_ROW;
  }
  int type(int column) const { return sqlite3_column_type(statement_.get(), column); }
  std::int64_t number(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  std::string_view text(int column) const {
    const auto* const from =
        reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
    const int size = sqlite3_column_bytes(statement_.get(), column);
    return from == nullptr ? std::string_view()
                           : std::string_view(from, static_cast<std::size_t>(size));
  }

 private:
  const SqliteFile& file_;
  std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement_{nullptr, sqlite3_finalize};
};

/// The columns of a table, not of a view, which could be any program. Empty where there is none.
std::vector<std::string> columns_of(const SqliteFile& file, const std::string& table) {
  SqliteQuery tables(file, fmt::format("SELECT 1 FROM sqlite_schema WHERE type='table' AND "
                                       "rootpage>0 AND name='{}'",
                                       table));
  std::vector<std::string> columns;
  if (!tables.next()) return columns;
  SqliteQuery query(file, fmt::format("PRAGMA table_info('{}')", table));
  while (query.next()) columns.emplace_back(query.text(1));
  return columns;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

/// Every number of an enum with its name or label, by whichever `is` tells what it means.
template <typename Take>
void for_each_meaning(const SqliteFile& file, const std::string& table, const Take& take) {
  const std::vector<std::string> columns = columns_of(file, table);
  for (const char* const text : {"name", "label"}) {
    if (std::ranges::count(columns, "id") == 0 || std::ranges::count(columns, text) == 0) continue;
    SqliteQuery query(file, fmt::format("SELECT id, {} FROM {}", text, table));
    while (query.next()) take(query.number(0), lower_case(query.text(1)));
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

bool is_sqlite(const Input& input) { return input.bytes.starts_with(kMagic); }

NsightEnums nsight_rows_of_sqlite(const Input& input, const TakeNsightRow& take) {
  const SqliteFile file(input);
  const std::vector<std::string> columns = columns_of(file, kEvents);
  if (columns.empty()) {
    throw InputError(input.name, "",
                     fmt::format("has no table {}; expected an export of Nsight Systems recorded "
                                 "with --cuda-memory-usage=true",
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
                         fmt::format("{} is no whole number", kNsightNames[at]));
      }
    }
    take(row);
  }
  return enums_of(file);
}

}  // namespace memreplay
