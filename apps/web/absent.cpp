#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "commands.hpp"
#include "core/error.hpp"
#include "device/host/host_memory.hpp"
#include "device/host/malloc_library.hpp"
#include "pages.hpp"
#include "record/sweep.hpp"
#include "report/list/list.hpp"
#include "trace/nsight/nsight_rows.hpp"
#include "trace/sqlite_file.hpp"

// What stands for the parts of the system and of the program that are not there in a browser.

extern "C" {

/// A copy: pages cannot be mapped.
void* mmap(void*, std::size_t length, int, int flags, int file, off_t at) {
  if ((flags & MAP_ANONYMOUS) != 0) {
    void* const zeros = std::calloc(length, 1);
    return zeros == nullptr ? MAP_FAILED : zeros;
  }
  char* const copy = static_cast<char*>(memreplay::web::take_pages(length));
  for (std::size_t done = 0; copy != nullptr && done < length;) {
    const ssize_t count = ::pread(file, copy + done, length - done, at + static_cast<off_t>(done));
    if (count <= 0) {
      memreplay::web::give_back(copy);
      return MAP_FAILED;
    }
    done += static_cast<std::size_t>(count);
  }
  return copy == nullptr ? MAP_FAILED : copy;
}

int munmap(void* memory, std::size_t) {
  if (!memreplay::web::give_back(memory)) std::free(memory);
  return 0;
}

/// Advice may be ignored.
int madvise(void*, std::size_t, int) { return 0; }

/// Nobody else is there.
int flock(int, int) { return 0; }
}

namespace memreplay {
namespace {

[[noreturn]] void no_device(const std::string& name) {
  throw DeviceError(name + ": in a browser memory is simulated only");
}

}  // namespace

std::unique_ptr<RealMemory> open_host_memory() { no_device("host"); }
void check_malloc_library(const std::string& library) { no_device(library); }

bool is_sqlite(std::string_view bytes) {
  return bytes.starts_with(std::string_view("SQLite format 3\0", 16));
}
SqliteFile::SqliteFile(const Input& input) {
  throw InputError(input.name, "",
                   "is a database of SQLite, which only the command line reads; expected its "
                   "export as CSV");
}
std::vector<std::string> SqliteFile::columns_of(const std::string&) const { return {}; }
void SqliteFile::Close::operator()(sqlite3*) const {}
SqliteQuery::SqliteQuery(const SqliteFile& file, const std::string&) : file_(file) {}
bool SqliteQuery::next() { return false; }
int SqliteQuery::type(int) const { return 0; }
std::int64_t SqliteQuery::number(int) const { return 0; }
std::string_view SqliteQuery::text(int) const { return {}; }
void SqliteQuery::Finalize::operator()(sqlite3_stmt*) const {}
NsightEnums nsight_rows_of_sqlite(const Input& input, const TakeNsightRow&) {
  const SqliteFile refused(input);
  return {};
}

std::vector<SchemaDocument> recorded_documents() {
  return {{"record", [](JsonFields& f) { fields(f, RecordAnswer()); }},
          {"record_sweep", [](JsonFields& f) { fields(f, SweepAnswer()); }}};
}
int run_record(const Command&, const std::vector<std::string>&) {
  throw UsageError("record runs a program: install memreplay for that");
}

}  // namespace memreplay
