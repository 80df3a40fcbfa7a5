#include "output/output_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string_view>

#include "core/error.hpp"
#include "core/system_calls.hpp"
#include "output/command_host.hpp"
#include "output/terminal.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

FileBuffer::int_type FileBuffer::overflow(int_type c) {
  if (sync() != 0) return traits_type::eof();
  return traits_type::eq_int_type(c, traits_type::eof()) ? traits_type::not_eof(c)
                                                         : sputc(traits_type::to_char_type(c));
}

int FileBuffer::sync() {
  const std::string_view waiting(pbase(), static_cast<std::size_t>(pptr() - pbase()));
  if (error_ == 0 && !write_all(file_, waiting)) error_ = errno;
  setp(room_.data(), room_.data() + room_.size());
  return error_ == 0 ? 0 : -1;
}

namespace {

namespace fs = std::filesystem;

// Streams keep no reason; where an earlier write failed, errno still tells it.
std::string reason(int error) {
  return error == 0 ? std::string("a write failed") : std::string(std::strerror(error));
}

std::ostream& standard_output() {
  return command_host() == nullptr ? std::cout : command_host()->output();
}

void flush_stdout() {
  if (command_host() != nullptr) return;
  if (std::cout) {
    errno = 0;
    std::cout.flush();
  }
  if (std::cout) return;
  if (errno == EPIPE || errno == EBADF) throw ClosedOutput();
  throw UsageError(fmt::format("standard output: {}", reason(errno)));
}

}  // namespace

OutputFile::OutputFile(const OutputPath& path) : path_(path.text()) {
  path.claim();
  if (path_ == "-") return;
  std::error_code ignored;
  std::string target = path_;
  if (fs::is_symlink(path_, ignored)) target = fs::weakly_canonical(path_, ignored).string();
  if (const int error = file_.open(target.empty() ? path_ : target)) fail(error);
  buffer_.write_to(file_.number());
}

std::ostream& OutputFile::stream() {
  if (path_ == "-") return standard_output();
  return stream_;
}

void OutputFile::commit() {
  if (path_ == "-") return flush_stdout();
  stream_.flush();
  if (!stream_) fail(buffer_.error());
  if (const int error = file_.finish()) fail(error);
}

void OutputFile::fail(int error) const {
  throw UsageError(fmt::format("{}: cannot write: {}", path_, reason(error)));
}

void write_stdout(std::string_view text, const TextStyle& style) {
  standard_output() << terminal_text(text, style);
  flush_stdout();
}

void write_stderr(std::string_view message) {
  if (command_host() != nullptr) return command_host()->note(message);
  std::cerr << terminal_line(fmt::format("memreplay: {}", message), stderr_style()) + '\n';
}

}  // namespace memreplay
