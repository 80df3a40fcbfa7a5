#pragma once

#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "trace/pages.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// The lines of a log (LF or CR LF; a byte-order mark is skipped), for messages with their numbers.
class LogLines {
 public:
  explicit LogLines(const Input& input);

  /// Moves to the next line; false at the end.
  bool next() {
    behind_.passed(rest_.data());
    if (rest_.empty()) return false;
    const std::size_t end = end_of_line();
    whole_ = end != rest_.npos;
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(whole_ ? end + 1 : rest_.size());
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    ++number_;
    return true;
  }
  std::string_view line() const { return line_; }
  /// From the beginning of the line to the end of the log: for who looks at several characters at
  /// once.
  std::string_view ahead() const { return with_rest(line_, input_.bytes); }
  /// From the line that comes next to the end of the log.
  std::string_view rest() const { return rest_; }
  /// Moves past that line, of so many characters with its end, which has been read by other means.
  void pass(std::size_t characters) {
    rest_.remove_prefix(characters);
    ++number_;
    behind_.passed(rest_.data());
  }
  /// False of a last line that nothing ends: its writer may have been cut off in it.
  bool is_whole() const { return whole_; }

  /// About as many as there are, rather more.
  std::size_t about() const { return about_lines(input_.bytes); }
  std::string place() const { return "line " + std::to_string(number_); }

  /// Throws InputError at the line.
  [[noreturn]] void fail(std::string_view message) const;
  /// "WHAT is 'TEXT'; expected EXPECTED"
  [[noreturn]] void bad(std::string_view what, std::string_view text,
                        std::string_view expected) const;

  // Numbers of this line; what is none, or leaves the limits of a recording, is refused.
  Address address(std::string_view text) const;  ///< "0x7f00", "0", "(nil)"
  Address hexadecimal(std::string_view what, std::string_view text) const;  ///< "7f00"
  Bytes size(std::string_view text) const;                                  ///< decimal
  std::uint64_t whole(std::string_view what, std::string_view text,
                      std::string_view expected) const;  ///< decimal, of 64 bits
  void check_size(Bytes size, std::string_view text) const;

 private:
  /// Where the next line ends in `rest_`. Many lines are shorter than a call of find is worth.
  std::size_t end_of_line() const {
    constexpr std::uint64_t kEach = 0x0101010101010101;
    const std::uint64_t ends = eight_characters(rest_) ^ '\n' * kEach;  // are 0 then
    const std::uint64_t found = (ends - kEach) & ~ends & 0x80 * kEach;
    if (found == 0) return rest_.find('\n', sizeof found);
    return static_cast<std::size_t>(std::countr_zero(found)) / 8;
  }

  const Input& input_;
  PagesBehind behind_;
  std::string_view rest_;
  std::string_view line_;
  std::uint64_t number_ = 0;
  bool whole_ = true;
};

inline constexpr const char* kCutOff = "a last line that is cut off";

/// Calls `read` at each line that is not empty, then `behind`. An unfinished last line that `read`
/// refuses is left out: false.
template <typename Read, typename Behind>
bool read_lines(LogLines& lines, Coverage& coverage, const Read& read, const Behind& behind) {
  while (lines.next()) {
    if (lines.line().empty()) continue;
    try {
      read();
    } catch (const InputError&) {
      if (lines.is_whole()) throw;
      coverage.leave_out(kCutOff, [&] { return lines.place(); });
      return false;
    } catch (const std::length_error& error) {
      lines.fail(error.what());
    }
    behind();
  }
  return true;
}

}  // namespace memreplay
