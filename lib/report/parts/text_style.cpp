#include "report/parts/text_style.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <utility>

#include "core/text.hpp"
#include "report/parts/escapes.hpp"

namespace memreplay {
namespace {

constexpr char32_t kFirstMark = 0xFDD0;
/// By mark: an end of emphasis, bold, red.
constexpr std::array<std::string_view, 3> kColours = {"\033[0m", "\033[1m", "\033[31m"};

struct Likeness {
  char32_t character;
  std::string_view ascii;
};

constexpr Likeness kLikenesses[] = {
    {U'\u00a0', " "}, {U'«', "<<"},     {U'»', ">>"}, {U'±', "+-"},     {U'²', "^2"},
    {U'³', "^3"},     {U'µ', "u"},      {U'μ', "u"},  {U'·', "."},      {U'×', "x"},
    {U'÷', "/"},      {U'–', "-"},      {U'—', "-"},  {U'‘', "'"},      {U'’', "'"},
    {U'“', "\""},     {U'”', "\""},     {U'•', "*"},  {U'…', "..."},    {U'←', "<-"},
    {U'↑', "^"},      {U'→', "->"},     {U'↓', "v"},  {U'−', "-"},      {U'∞', "endless"},
    {U'≈', "~"},      {U'≠', "!="},     {U'≤', "<="}, {U'≥', ">="},     {U'▲', "^"},
    {U'▶', ">"},      {U'▼', "v"},      {U'◀', "<"},  {U'✓', "+"},      {U'✔', "+"},
    {U'✕', "x"},      {U'✗', "x"},      {U'✘', "x"},  {U'█', "#"},      {U'░', "."},
    {U'▒', ":"},      {U'▓', "#"},      {U'─', "-"},  {U'━', "-"},      {U'═', "-"},
    {U'│', "|"},      {U'┃', "|"},      {U'║', "|"},  {U'\u2009', " "}, {U'\u202f', " "},
    {U'\u2011', "-"}, {U'\u2800', " "}, {U'⁻', "^-"}};

bool within(char32_t character, char32_t first, char32_t last) {
  return first <= character && character <= last;
}

/// Also what turns the direction of a text around, breaks its lines, or is no character at all.
bool is_control(char32_t c) {
  return c < 0x20 || within(c, 0x7F, 0x9F) || c == 0x61C || c == 0x200E || c == 0x200F ||
         within(c, 0x2028, 0x202E) || within(c, 0x2066, 0x2069) || c == 0xFEFF ||
         within(c, 0xFDD0, 0xFDEF) || (c & 0xFFFE) == 0xFFFE;
}

std::string written_out(char32_t c) {
  const auto code = static_cast<std::uint32_t>(c);
  if (c < 0x80) return fmt::format("\\x{:02x}", code);
  return c > 0xFFFF ? fmt::format("\\U{:08x}", code) : fmt::format("\\u{:04x}", code);
}

std::string ascii_of(char32_t c) {
  const auto found = std::ranges::find(kLikenesses, c, &Likeness::character);
  if (found != std::end(kLikenesses)) return std::string(found->ascii);
  if (within(c, 0x2500, 0x257F)) return "+";                               // other lines: a corner
  if (within(c, 0x2580, 0x259F) || within(c, 0x2801, 0x28FF)) return "#";  // blocks and dots
  return written_out(c);
}

char32_t decoded(std::string_view sequence) {
  const auto lead = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return lead;
  char32_t code = lead & (0x7FU >> sequence.size());
  for (const char c : sequence.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3F);
  return code;
}

/// As .NET trims a line before it looks for a command.
bool is_blank(char32_t c) {
  return c == U' ' || c == U'\t' || c == U'\u00a0' || c == U'\u1680' || within(c, 0x2000, 0x200B) ||
         c == U'\u202f' || c == U'\u205f' || c == U'\u3000';
}

/// "[", "vso[": what follows ## in a command.
bool names_a_command(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const std::size_t end = text.find_first_not_of(kLetters);
  return end != text.npos && text[end] == '[';
}

/// Writes one character after another.
class TerminalText {
 public:
  enum class For { any_reader, terminal };

  explicit TerminalText(const TextStyle& style, For reader, bool one_line = false)
      : style_(style), reader_(reader), one_line_(one_line) {}

  void add(std::string_view text) {
    while (!text.empty()) {
      const std::size_t length = utf8_length(text);
      if (length == 0) {
        replace(fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0])));
      } else if (begins_command(text)) {
        replace(written_out(decoded(text.substr(0, length))));
      } else {
        add_character(text.substr(0, length), decoded(text.substr(0, length)));
      }
      text.remove_prefix(std::max<std::size_t>(length, 1));
      if (reader_ == For::terminal && longer_ > 0 && text.starts_with("  ")) take_blanks(text);
    }
  }

  std::string take() {
    if (is_coloured_) out_ += kColours.front();
    return std::move(out_);
  }

 private:
  /// To who runs a build: GitHub takes a line that begins with ::, and ##[ anywhere, Azure ##vso[.
  bool begins_command(std::string_view text) const {
    if (reader_ != For::terminal) return false;
    if (text.starts_with("::")) return line_is_blank_;
    return text[0] == '#' && out_.ends_with('#') && names_a_command(text.substr(1));
  }

  void add_character(std::string_view sequence, char32_t c) {
    if (c == U'\n' && !one_line_) return end_line();
    if (style_.colour && within(c, kFirstMark, kFirstMark + kColours.size() - 1)) {
      out_ += kColours.at(c - kFirstMark);
      is_coloured_ = c != kFirstMark;
      return;  // beside the line's own characters
    }
    line_is_blank_ = line_is_blank_ && is_blank(c);
    if (is_control(c) && c != U'\t') {
      replace(written_out(c));
    } else if (c > 0x7E && !style_.unicode) {
      replace(ascii_of(c));
    } else {
      out_ += sequence;
    }
  }

  void replace(const std::string& text) {
    line_is_blank_ = line_is_blank_ && text == " ";
    out_ += text;
    longer_ += text.size() - 1;
  }

  // One blank stays.
  void take_blanks(std::string_view& text) {
    const std::size_t blanks = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t taken = std::min(blanks - 1, longer_);
    text.remove_prefix(taken);
    longer_ -= taken;
  }

  void end_line() {
    out_ += '\n';
    line_is_blank_ = true;
    longer_ = 0;
  }

  TextStyle style_;
  For reader_;
  bool one_line_;
  bool is_coloured_ = false;
  bool line_is_blank_ = true;  ///< so far
  std::string out_;
  std::size_t longer_ = 0;  ///< columns that this line has more than it had
};

}  // namespace

std::string visible_text(std::string_view text) {
  TerminalText out({.unicode = true}, TerminalText::For::any_reader);
  out.add(text);
  return out.take();
}

std::string bold(std::string_view text, const TextStyle& style) {
  return style.colour ? fmt::format("\uFDD1{}\uFDD0", text) : std::string(text);
}

std::string red(std::string_view text, const TextStyle& style) {
  return style.colour ? fmt::format("\uFDD2{}\uFDD0", text) : std::string(text);
}

std::string terminal_text(std::string_view text, const TextStyle& style) {
  TerminalText out(style, TerminalText::For::terminal);
  out.add(text);
  return out.take();
}

std::string terminal_line(std::string_view text, const TextStyle& style) {
  TerminalText out(style, TerminalText::For::terminal, true);
  out.add(text);
  return out.take();
}

}  // namespace memreplay
