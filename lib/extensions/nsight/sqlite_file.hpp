#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trace/reader.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace memreplay {

/// The bytes are a database of SQLite.
bool is_sqlite(std::string_view bytes);

/// A database whose file is in memory, and is neither written nor trusted.
class SqliteFile {
 public:
  /// Throws InputError where it is cut off, or none.
  explicit SqliteFile(const Input& input);

  /// The columns of a table, not of a view, which could be any program. Empty where there is none.
  std::vector<std::string> columns_of(const std::string& table) const;

  [[noreturn]] void fail() const;
  void check(int status) const;
  sqlite3* get() const { return database_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };

  std::string name_;
  std::string copy_;
  std::unique_ptr<sqlite3, Close> database_;
};

/// A question and its rows; of a null a number is 0, a text empty. Throws InputError.
class SqliteQuery {
 public:
  SqliteQuery(const SqliteFile& file, const std::string& question);

  bool next();
  int type(int column) const;  ///< as SQLite numbers them
  std::int64_t number(int column) const;
  std::string_view text(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };

  const SqliteFile& file_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

}  // namespace memreplay
