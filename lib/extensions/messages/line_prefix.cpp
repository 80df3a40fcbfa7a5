#include <algorithm>
#include <array>

#include "core/text.hpp"
#include "extensions/messages/packed_text.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kBlanks = " \t";
/// Longer ones are no prefixes.
constexpr std::size_t kLongest = 120;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::size_t count_of(std::string_view text, std::string_view characters) {
  return std::min(text.find_first_not_of(characters), text.size());
}

// As many characters as a shape has where the text begins with it: "00:00" stands for digits and a
// colon; 0 where it does not.
std::size_t shaped(std::string_view text, std::string_view shape) {
  if (text.size() < shape.size()) return 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (shape[i] == '0' ? !digit : text[i] != shape[i]) return 0;
  }
  return shape.size();
}

template <std::size_t n>
std::size_t shaped(std::string_view text, const std::array<std::string_view, n>& shapes) {
  for (const std::string_view shape : shapes) {
    if (const std::size_t size = shaped(text, shape)) return size;
  }
  return 0;
}

// "10:11:12.131415", "T10:11:12,123Z", "10:11:12+00:00"
std::size_t clock_at(std::string_view text) {
  const std::size_t from = text.starts_with('T') ? 1 : 0;
  std::size_t size =
      shaped(text.substr(from), std::array<std::string_view, 2>{"00:00:00", "0:00:00"});
  if (size == 0) return 0;
  size += from;
  size += count_of(text.substr(size), kDigits);  // absl's "00:00:1795877436.081168"
  if (size + 1 < text.size() && (text[size] == '.' || text[size] == ',')) {
    size += 1 + count_of(text.substr(size + 1), kDigits);
  }
  if (size < text.size() && text[size] == 'Z') return size + 1;
  return size + shaped(text.substr(size),
                       std::array<std::string_view, 4>{"+00:00", "-00:00", "+0000", "-0000"});
}

// "Jan  2 10:11:12 host name[7]:"
std::size_t syslog_at(std::string_view text) {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const bool begins = text.size() > 3 && text[0] >= 'A' && text[0] <= 'S' && text[3] == ' ';
  if (!begins || kMonths.find(text.substr(0, 3)) % 3 != 0) return 0;
  const std::size_t time =
      shaped(text.substr(3), std::array<std::string_view, 2>{" 00 00:00:00 ", "  0 00:00:00 "});
  if (time == 0) return 0;
  const std::size_t colon = text.find(": ", 3 + time);
  return colon < kLongest ? colon + 1 : 3 + time;
}

// "2024-03-02 10:11:12.1", "05-01 08:00:00", "10:11:12"
std::size_t time_at(std::string_view text) {
  if (const std::size_t syslog = syslog_at(text)) return syslog;
  const std::size_t date =
      shaped(text, std::array<std::string_view, 4>{"0000-00-00", "0000/00/00", "00-00", "00/00"});
  const std::size_t blanks = count_of(text.substr(date), kBlanks);
  const std::size_t clock = clock_at(text.substr(date + blanks));
  return clock > 0 ? date + blanks + clock : 0;
}

// "INFO", "W", "E0302": what follows is no part of a word.
std::size_t level_at(std::string_view text) {
  static constexpr std::string_view kLevels[] = {
      "DEBUG", "INFO", "WARNING", "WARN", "ERROR", "CRITICAL", "FATAL",
      "TRACE", "info", "warning", "warn", "error", "debug",    "critical",
      "I",     "W",    "E",       "F",    "D"};
  for (const std::string_view level : kLevels) {
    if (text.empty() || text[0] != level[0] || !text.starts_with(level)) continue;
    const std::string_view rest = text.substr(level.size());
    if (level.size() == 1) {
      const std::size_t glog = shaped(rest, "0000 ");
      if (glog > 0) return 1 + glog;
      if (rest.starts_with(' ')) return 1;
    } else if (rest.starts_with(' ') || rest.starts_with(':') || rest.starts_with('\t')) {
      return level.size();
    }
  }
  return 0;
}

// "[rank3]", "[worker.py:267]", "[1,0]<stderr>"; what begins a message is none: "[metal::malloc]".
std::size_t bracket_at(std::string_view text) {
  static constexpr std::string_view kOfMessages[] = {
      "malloc", "enforce", "Stream", "Upstream", "FAILURE", "ONNXRuntimeError", "TRT", "MLU"};
  if (!text.starts_with('[')) return 0;
  const std::size_t end = text.find(']');
  if (end > kLongest || end < 2) return 0;
  const std::string_view inside = text.substr(1, end - 1);
  if (inside == "A" || inside == "F" ||
      std::string_view("{('\"[").find(inside[0]) != std::string_view::npos)
    return 0;
  for (const std::string_view word : kOfMessages) {
    if (inside.find(word) != inside.npos) return 0;
  }
  for (const std::string_view stream : {"<stderr>", "<stdout>"}) {
    if (text.substr(end + 1).starts_with(stream)) return end + 1 + stream.size();
  }
  return end + 1;
}

// "(EngineCore pid=1234)", "(VllmWorker rank=1 pid=12)"
std::size_t process_at(std::string_view text) {
  if (!text.starts_with('(')) return 0;
  const std::size_t end = text.find(')');
  if (end > kLongest || text.substr(0, end).find("pid=") == text.npos) return 0;
  return end + 1;
}

// "tsl/framework/bfc_allocator.cc:1141]", "27487 client.cc:2826]"
std::size_t location_at(std::string_view text) {
  const std::size_t thread = count_of(text, kDigits);
  const std::size_t from = thread > 0 ? thread + count_of(text.substr(thread), kBlanks) : 0;
  const std::size_t end = text.find_first_of("] \t", from);
  if (end > kLongest || end == text.npos || text[end] != ']') return 0;
  const std::string_view place = text.substr(from, end - from);
  const std::size_t colon = place.rfind(':');
  const bool located = colon != place.npos && place.find('.') < colon &&
                       place.find('[') == place.npos &&
                       place.substr(colon + 1).find_first_not_of(kDigits) == place.npos;
  return located ? end + 1 : 0;
}

// "worker_1  | ", "my.logger - ", "python[1234]: "
std::size_t name_at(std::string_view text) {
  if (text.empty() || !is_word(text[0]) || (text[0] >= '0' && text[0] <= '9')) return 0;
  std::size_t size = 0;
  while (size < text.size() && (is_word(text[size]) || std::string_view(".:/-<>").find(
                                                           text[size]) != std::string_view::npos)) {
    ++size;
  }
  if (size > kLongest) return 0;
  const std::string_view rest = text.substr(size);
  if (rest.starts_with('[')) {
    const std::size_t digits = count_of(rest.substr(1), kDigits);
    return digits > 0 && rest.substr(1 + digits).starts_with("]: ") ? size + digits + 3 : 0;
  }
  const std::size_t blanks = count_of(rest, kBlanks);
  const std::string_view sign = rest.substr(blanks, 2);
  if (blanks == 0 || (sign != "| " && sign != "- ")) return 0;
  // A row of a table, "Allocations |  32  |", has no name.
  const std::string_view cell = rest.substr(blanks + 2);
  const std::size_t number =
      count_of(cell, kBlanks) + count_of(cell.substr(count_of(cell, kBlanks)), kDigits);
  const std::size_t end = number + count_of(cell.substr(number), kBlanks);
  if (end < cell.size() && cell[end] == '|') return 0;
  return size + blanks + 2;
}

// A container's output: "stderr F ", "stderr: "
std::size_t stream_at(std::string_view text) {
  if (!text.starts_with('s')) return 0;
  for (const std::string_view stream :
       {"stderr F ", "stdout F ", "stderr P ", "stdout P ", "stderr: ", "stdout: "}) {
    if (text.starts_with(stream)) return stream.size();
  }
  return 0;
}

// The beginning of a record in JSON: {"log": "
std::size_t json_at(std::string_view text) {
  if (!text.starts_with("{\"")) return 0;
  const std::size_t key = text.find('"', 2);
  if (key > kLongest || !text.substr(key + 1).starts_with(':')) return 0;
  const std::size_t value = key + 2 + count_of(text.substr(key + 2), kBlanks);
  return text.substr(value).starts_with('"') && value - key < 4 &&
                 text.substr(0, key).find('.') == text.npos
             ? value + 1
             : 0;
}

std::size_t quotation_at(std::string_view text) { return count_of(text, ">"); }

// A sign that may stand before every line of a quotation, a comment or a list: "| ", "// ", "▎".
std::size_t sign_size(std::string_view text) {
  constexpr std::string_view kAlone = "|#";  // no blank need follow
  constexpr std::string_view kSigns = "|#/;%+-!~:";
  constexpr std::size_t kLongestAscii = 3, kLongestOther = 8;
  std::size_t size = 0;
  const bool ascii = !text.empty() && text[0] > 0;
  while (size < text.size() && (ascii ? kSigns.find(text[size]) != kSigns.npos : text[size] < 0)) {
    ++size;
  }
  if (!ascii) return size <= kLongestOther ? size : 0;
  const bool apart = size == text.size() || kBlanks.find(text[size]) != kBlanks.npos;
  const bool alone = std::ranges::all_of(text.substr(0, size),
                                         [&](char c) { return kAlone.find(c) != kAlone.npos; });
  return size <= kLongestAscii && (apart || alone || text[size] == '\n') ? size : 0;
}

std::optional<std::uint64_t> number_at(std::string_view text) {
  return parse_whole(text.substr(0, count_of(text, kDigits)));
}

// "[rank3]", "(VllmWorker rank=1 pid=12)", "[default0]", "(Worker_TP0 pid=7)", "[3]", "[1,3]"
std::optional<std::uint64_t> rank_in(std::string_view part) {
  for (const std::string_view name : {"rank", "Rank", "RANK", "default", "TP"}) {
    const std::size_t at = part.find(name);
    if (at == part.npos) continue;
    const std::string_view rest = part.substr(at + name.size());
    if (const auto rank = number_at(rest.substr(count_of(rest, " =:_#")))) return rank;
  }
  if (!part.starts_with('[')) return std::nullopt;
  const std::string_view inside = part.substr(1, part.find(']') - 1);
  if (inside.find_first_not_of("0123456789,") != inside.npos) return std::nullopt;
  const std::size_t comma = part.find(',');
  const std::string_view last = part.substr(comma == part.npos ? 1 : comma + 1);
  const std::size_t digits = count_of(last, kDigits);
  return last.substr(digits).starts_with(']') && digits < 5 ? number_at(last) : std::nullopt;
}

// The separator after a part, and blanks.
std::size_t separator_at(std::string_view text) {
  std::size_t size = text.starts_with(':') ? 1 : 0;
  size += count_of(text.substr(size), kBlanks);
  for (const std::string_view sign : {"| ", "- "}) {
    if (size > 0 && text.substr(size).starts_with(sign)) size += sign.size();
  }
  return size;
}

}  // namespace

bool is_numbered(std::string_view line) {
  const std::size_t digits = count_of(line, kDigits);
  return digits > 0 && digits < 5 && line.substr(digits).starts_with(": ");
}

std::string_view sign_of(std::string_view line) {
  const std::string_view rest = line.substr(count_of(line, kBlanks));
  const std::string_view sign = rest.substr(0, sign_size(rest));
  if (sign != "|") return sign;
  constexpr std::size_t kLongestRow = 400;
  const std::string_view row = rest.substr(0, kLongestRow);
  const std::size_t end = row.substr(0, row.find('\n')).find_last_not_of(" \t\r");
  return end > 0 && row[end] == '|' ? std::string_view() : sign;
}

LinePrefix prefix_of(std::string_view line, bool numbered, bool signed_beside) {
  LinePrefix prefix;
  prefix.size = count_of(line, kBlanks);
  if (signed_beside) {
    prefix.size += sign_of(line).size();
    prefix.size += count_of(line.substr(prefix.size), kBlanks);
  }
  if (numbered && is_numbered(line)) {
    prefix.rank = number_at(line);
    prefix.size = line.find(':') + 2;
  }
  for (int parts = 0; parts < 12; ++parts) {
    const std::string_view rest = line.substr(prefix.size);
    std::size_t size = 0;
    const auto is = [&](std::size_t found) { return (size = found) > 0; };
    const bool record = is(time_at(rest)) || is(level_at(rest));
    const bool named =
        !record && (is(bracket_at(rest)) || is(process_at(rest)) || is(name_at(rest)));
    if (!record && !named && !is(quotation_at(rest)) && !is(location_at(rest)) &&
        !is(json_at(rest)) && !is(stream_at(rest)))
      break;
    const std::string_view part = rest.substr(0, size);
    if (const auto rank = named ? rank_in(part) : std::nullopt; rank && !prefix.rank) {
      prefix.rank = rank;
    }
    if (named && prefix.source.empty() && part.ends_with("| ")) prefix.source = part;
    prefix.size += size;
    prefix.size += separator_at(line.substr(prefix.size));
  }
  return prefix;
}

}  // namespace memreplay
