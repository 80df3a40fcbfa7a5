#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <new>

#include "core/error.hpp"
#include "device/host/host_memory.hpp"
#include "device/host/malloc_library.hpp"
#include "extensions/nsight/nsight_rows.hpp"
#include "extensions/nsight/sqlite_file.hpp"
#include "line/commands.hpp"
#include "questions/list/list_report.hpp"
#include "record/sweep.hpp"

// What stands for the parts of the system and of the program that are not there in a browser.

// The compiler's malloc rounds what is large up to a power of two and never joins what is freed:
// half of the memory that a page has would go.

namespace memreplay::web {
namespace {

constexpr std::size_t kPage = 64 * 1024;
constexpr std::size_t kPages = 65'536;  // 4 GiB
constexpr std::size_t kLarge = 1 << 20;

bool is_free[kPages];              // and ours
std::uint32_t pages_from[kPages];  // in the block that begins there; 0: none does

void* use(std::size_t first, std::size_t pages) {
  for (std::size_t page = first; page < first + pages; ++page) is_free[page] = false;
  pages_from[first] = static_cast<std::uint32_t>(pages);
  return reinterpret_cast<void*>(first * kPage);
}

}  // namespace

/// Whole pages, the first that are free; null where there are no more.
void* take_pages(std::size_t bytes) {
  const std::size_t wanted = bytes / kPage + (bytes % kPage != 0);
  const std::size_t end = __builtin_wasm_memory_size(0);
  std::size_t run = 0;  // free pages up to here
  for (std::size_t page = 0; page < end; ++page) {
    run = is_free[page] ? run + 1 : 0;
    if (run == wanted) return use(page + 1 - wanted, wanted);
  }
  if (__builtin_wasm_memory_grow(0, wanted - run) == SIZE_MAX) return nullptr;
  return use(end - run, wanted);
}

/// False where this is no block of such pages.
bool give_back(void* memory) {
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  const std::size_t first = at / kPage;
  if (at % kPage != 0 || pages_from[first] == 0) return false;
  for (std::size_t page = first; page < first + pages_from[first]; ++page) is_free[page] = true;
  pages_from[first] = 0;
  return true;
}

}  // namespace memreplay::web

void* operator new(std::size_t bytes) {
  using namespace memreplay::web;
  void* const memory = bytes >= kLarge ? take_pages(bytes) : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept {
  if (!memreplay::web::give_back(memory)) std::free(memory);
}

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
