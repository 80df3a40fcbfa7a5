#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace memreplay {

/// Marks in a packed text. Two numbers that blanks or lines separate would be one without them.
inline constexpr char kApart = '\x01';    ///< between the two: they are two
inline constexpr char kWrapped = '\x02';  ///< a line break between digits: one number, or two
inline constexpr char kLeftOut = '\x03';  ///< some of the text is missing here

struct PackedLine {
  std::size_t at = 0;                 ///< where it begins in the packed text
  std::uint64_t number = 0;           ///< in the whole text
  std::optional<std::uint64_t> rank;  ///< stated by its prefix
};

/// The words of a text without blanks, and without what consoles, collectors of logs and pasting
/// put between them: colours, quotation marks, prefixes of lines, line breaks, escapes.
struct PackedText {
  std::string text;
  std::vector<PackedLine> lines;

  /// The line that a place belongs to.
  const PackedLine& line_of(std::size_t at) const;
};

/// Packs a text by the ranks and containers that its prefixes name, so that lines of several, mixed
/// with each other, do not part a message.
class TextPacker {
 public:
  /// Lines; the last one may be cut off.
  void add(std::string_view text);
  /// Some of the text is not added.
  void leave_out(std::string_view text);
  std::vector<PackedText> finish();

 private:
  void end_line(bool whole, std::string_view rest);
  void append(PackedText& packed, std::string_view line, bool continues);

  std::map<std::pair<std::optional<std::uint64_t>, std::string>, PackedText> by_source_;
  PackedText* current_ = nullptr;
  std::string line_;
  std::uint64_t lines_ = 0;
  bool numbered_ = false;  ///< the line before begins like "3: "
  std::string sign_;       ///< the line before begins with it
  bool after_empty_ = false;
};

/// What comes before a line's own words: quotation marks, times, levels, loggers, ranks,
/// containers.
struct LinePrefix {
  std::size_t size = 0;
  std::optional<std::uint64_t> rank;
  std::string_view source;  ///< the container that it names
};

/// `numbered`: lines beside it begin like "3: " too, as srun and mpirun number their tasks.
/// `signed_beside`: a line beside it begins with its sign too.
LinePrefix prefix_of(std::string_view line, bool numbered, bool signed_beside);

/// What a line of a quotation, a comment or a list may begin with: "|", "//", "▎". Empty: none.
std::string_view sign_of(std::string_view line);

/// Whether a line begins like "3: ".
bool is_numbered(std::string_view line);

}  // namespace memreplay
