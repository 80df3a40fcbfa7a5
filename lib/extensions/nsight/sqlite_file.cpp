#include "extensions/nsight/sqlite_file.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <new>

#include "core/error.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kMagic{"SQLite format 3\0", 16};

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

}  // namespace

bool is_sqlite(std::string_view bytes) { return bytes.starts_with(kMagic); }

void SqliteFile::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

SqliteFile::SqliteFile(const Input& input) : name_(input.name) {
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

void SqliteFile::fail() const {
  if (sqlite3_errcode(database_.get()) == SQLITE_NOMEM) throw std::bad_alloc();
  throw InputError(
      name_, "",
      fmt::format("is not a readable SQLite database: {}", sqlite3_errmsg(database_.get())));
}

void SqliteFile::check(int status) const {
  if (status != SQLITE_OK) fail();
}

std::vector<std::string> SqliteFile::columns_of(const std::string& table) const {
  SqliteQuery tables(*this, fmt::format("SELECT 1 FROM sqlite_schema WHERE type='table' AND "
                                        "rootpage>0 AND name='{}'",
                                        table));
  std::vector<std::string> columns;
  if (!tables.next()) return columns;
  SqliteQuery query(*this, fmt::format("PRAGMA table_info('{}')", table));
  while (query.next()) columns.emplace_back(query.text(1));
  return columns;
}

void SqliteQuery::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

SqliteQuery::SqliteQuery(const SqliteFile& file, const std::string& question) : file_(file) {
  sqlite3_stmt* prepared = nullptr;
  file.check(sqlite3_prepare_v2(file.get(), question.c_str(), -1, &prepared, nullptr));
  statement_.reset(prepared);
}

bool SqliteQuery::next() {
  const int status = sqlite3_step(statement_.get());
  if (status != SQLITE_ROW && status != SQLITE_DONE) file_.fail();
  return status == SQLITE_ROW;
}

int SqliteQuery::type(int column) const { return sqlite3_column_type(statement_.get(), column); }

std::int64_t SqliteQuery::number(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view SqliteQuery::text(int column) const {
  const auto* const from =
      reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return from == nullptr ? std::string_view()
                         : std::string_view(from, static_cast<std::size_t>(size));
}

}  // namespace memreplay
