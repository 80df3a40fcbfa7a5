#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>

namespace memreplay {

/// The file that the library makes of some statements.
inline std::string database(const std::string& statements) {
  sqlite3* opened = nullptr;
  EXPECT_EQ(sqlite3_open(":memory:", &opened), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(opened, statements.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(opened);
  sqlite3_int64 size = 0;
  unsigned char* const bytes = sqlite3_serialize(opened, "main", &size, 0);
  std::string file(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  sqlite3_close(opened);
  return file;
}

}  // namespace memreplay
