#pragma once

#include <cstddef>
#include <cstdint>

/// The system's calls without the C library around them, where that could allocate or be cancelled.
/// Failures are -1 and errno.
namespace memreplay::capture {

int open_file(const char* path, int flags);
void close_file(int file);
/// False where not all was written.
bool write_at(int file, const void* bytes, std::size_t count, std::uint64_t at);
/// What fits of a file, as /proc has them; 0 where there is none.
std::size_t read_file(const char* path, char* bytes, std::size_t room);
/// Makes the file longer by at most kMostExtension, with room on the disk: a mapped page of it can
/// be written.
inline constexpr std::uint64_t kMostExtension = 1 << 20;
bool extend_file(int file, std::uint64_t from, std::uint64_t bytes);
/// The value of a variable, also before the C library has its environment. False where it is not
/// set or does not fit.
bool find_variable(const char* name, char* value, std::size_t room);
void make_absolute(char* path, std::size_t room);
/// One line on standard error, after "memreplay: ".
void complain(const char* what, const char* path, int error);

}  // namespace memreplay::capture
