#include "strategy/torch/assigned_value.hpp"

#include <fmt/format.h>

#include <cctype>

#include "strategy/torch/shell_references.hpp"
#include "strategy/torch/written_value.hpp"

namespace memreplay::torch {
namespace {

constexpr std::string_view kAround = " \t\r\n";

/// "OTHER=…", which follows in a list of variables.
bool names_another(std::string_view text) {
  const auto end = std::ranges::find_if_not(text, is_of_name);
  return end != text.begin() && end != text.end() && *end == '=' &&
         std::none_of(text.begin(), end, [](unsigned char c) { return std::islower(c) != 0; });
}

std::string_view first_word(std::string_view text) {
  return text.substr(0, text.find_first_of(kAround));
}

/// A literal of Python, perhaps with a letter before its quote.
bool begins_a_literal(std::string_view text) {
  const std::size_t quote = text.find_first_of(kQuotes);
  return quote < 3 && text.substr(0, quote).find_first_not_of("rfubRFUB") == text.npos;
}

/// What a person typed, without the prompt before it: "user@host:~$ export", "PS D:\x> setx".
std::string_view without_prompt(std::string_view line) {
  line = trimmed(line);
  line.remove_prefix(std::min(line.find_first_not_of("#/ "), line.size()));
  for (const std::string_view end : {"> ", "$ ", ">"}) {
    const std::size_t at = line.rfind(end);
    if (at == line.npos || (end == ">" && line.find(':') == line.npos)) continue;
    return trimmed(line.substr(at + end.size()));
  }
  return line;
}

}  // namespace

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string in_capitals(std::string_view text) {
  std::string capitals(text);
  std::ranges::transform(capitals, capitals.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return capitals;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kAround);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kAround) - first + 1);
}

AssignedValue::AssignedValue(std::string_view text, std::size_t from, std::size_t to)
    : text_(text),
      from_(from),
      at_(to),
      quote_(from > 0 && is_quote(text[from - 1]) ? text[from - 1] : '\0') {
  const std::size_t line = text.substr(0, from).rfind('\n') + 1;  // npos + 1 is 0
  before_ = text.substr(line, from - line);
  command_ = without_prompt(before_);
  begins_in_quotes_ = quote_ != 0;
}

bool AssignedValue::is_in_comment() const {
  const std::string_view line = trimmed(before_);
  for (const std::string_view of_a_scheduler : {"#SBATCH", "#PBS", "#BSUB", "#$"}) {
    if (line.starts_with(of_a_scheduler)) return false;
  }
  return line.starts_with('#') || line.starts_with("//") || line.starts_with("::") ||
         in_capitals(line).starts_with("REM ");
}

void AssignedValue::skip(std::string_view characters) {
  at_ = std::min(text_.find_first_not_of(characters, at_), text_.size());
}

bool AssignedValue::take(char c) {
  if (!rest().starts_with(c)) return false;
  ++at_;
  return true;
}

std::optional<Assignment> AssignedValue::read() {
  if (before_.ends_with(kReference)) return without_value(Lack::asked_for);
  is_name_quoted_ = quote_ != 0 && take(quote_);
  if (is_name_quoted_) quote_ = 0;
  std::string_view prior = text_.substr(0, from_);
  prior = prior.substr(0, prior.find_last_not_of(" \t\r\n'\"") + 1);
  const std::string_view word = first_word(command_);
  const bool is_removed = word == "unset" || word == "del" || word == "Remove-Item" ||
                          prior.ends_with("pop(") || prior.ends_with("delenv(");
  if (is_removed) return without_value(Lack::removed);
  if (prior.ends_with("get(") || prior.ends_with("getenv(")) {
    skip(kAround);
    const bool has_default = take(',');
    skip(kAround);
    if (!has_default || rest().empty() || !is_quote(rest().front())) {
      return without_value(Lack::asked_for);
    }
    is_default_ = is_call_ = true;
    return value();
  }
  return read_assigned();
}

std::optional<Assignment> AssignedValue::read_assigned() {
  const std::size_t behind_name = at_;
  skip(kBlanks);
  needs_literal_ = is_name_quoted_ && take(']');  // the bracket of os.environ[NAME]
  skip(kBlanks);
  const bool is_apart = at_ > behind_name && kBlanks.find(text_[at_ - 1]) != kBlanks.npos;
  if (rest().starts_with('(')) {  // a function: its argument
    if (!before_.ends_with('.') && !trimmed(before_).empty()) return {};
    sign_ = '(';
    is_call_ = true;
    ++at_;
    skip(kAround);
    return !rest().empty() && is_quote(rest().front()) ? value() : std::nullopt;
  }
  if (!take_sign() && !take_key_of_value() && !take_cell() && !follows_a_word() &&
      !take_value_before()) {
    return {};
  }
  const std::size_t behind_sign = at_;
  skip(kBlanks);
  has_blanks_ = sign_ == '=' && (is_apart || at_ > behind_sign);
  take_key_of_value();
  return value();
}

bool AssignedValue::take_sign() {
  if (rest().starts_with("==")) return false;
  for (const std::string_view sign : {":=", "?=", "+=", "=>", "="}) {
    if (!rest().starts_with(sign)) continue;
    at_ += sign.size();
    sign_ = '=';
    return true;
  }
  if (take(':')) {
    is_whole_line_ = true;  // as YAML has it
    is_call_ = is_name_quoted_;
    return true;
  }
  if (!is_name_quoted_ || !take(',')) return false;  // in a call
  is_call_ = needs_literal_ = true;
  skip(kAround);
  return true;
}

/// "| NAME | VALUE |" in a table of Markdown.
bool AssignedValue::take_cell() {
  std::string_view cell = line();
  if (!trimmed(before_).starts_with('|') || !cell.starts_with('|')) return false;
  cell = trimmed(cell.substr(1));
  if (first_word(cell).find(':') == cell.npos) return false;
  ++at_;
  return true;
}

/// "value:" and the like, of a pair with "name:" before the name; perhaps on a line of its own.
bool AssignedValue::take_key_of_value() {
  constexpr std::string_view kKey = "value";
  std::size_t at = std::min(text_.find_first_not_of(" \t\r\n,#", at_), text_.size());
  const bool is_quoted = at < text_.size() && is_quote(text_[at]);
  at += is_quoted ? 1 : 0;
  if (!text_.substr(at).starts_with(kKey)) return false;
  at = std::min(text_.find_first_not_of(" \t", at + kKey.size() + (is_quoted ? 1 : 0)),
                text_.size());
  if (at == text_.size() || (text_[at] != ':' && text_[at] != '=')) return false;
  at_ = at + 1;
  is_whole_line_ = text_[at] == ':';
  skip(kBlanks);
  return true;
}

/// Such a pair with "value:" in front of "name:".
bool AssignedValue::take_value_before() {
  constexpr std::string_view kKey = "value";
  const std::string_view key = before_.substr(0, before_.find_last_not_of(" \t\"'") + 1);
  const std::size_t name = text_.substr(0, from_).rfind("name");
  if (!key.ends_with(':') || name == text_.npos) return false;
  const std::size_t at = text_.substr(0, name).rfind(kKey);
  if (at == text_.npos) return false;
  std::string_view pair = text_.substr(at, name - at);
  const auto lines = std::ranges::count(pair, '\n');
  const bool is_of_another = lines > 1 || (lines == 1 && trimmed(before_).starts_with('-'));
  if (is_of_another) return false;
  if (is_quote(text_[name - 1])) pair.remove_suffix(1);
  pair = pair.substr(0, pair.find_last_not_of(" \t\n,#") + 1);
  text_ = text_.substr(0, at + pair.size());
  at_ = at + kKey.size();
  skip("\"' \t");
  is_whole_line_ = true;
  return take(':');
}

/// "ENV NAME VALUE" of a Dockerfile, and what other shells and tools have of the kind.
bool AssignedValue::follows_a_word() {
  if (trimmed(line()).empty()) return false;
  const std::string_view word = command_;
  const bool is_of_dockerfile = in_capitals(word) == "ENV";
  is_whole_line_ |= is_of_dockerfile;
  const std::string_view first = first_word(trimmed(rest()));
  const bool is_pair = word.empty() && first.find(':') != first.npos;  // "NAME KEY:VALUE"
  return is_pair || is_of_dockerfile || word.ends_with("setenv") || word.starts_with("setx") ||
         word.starts_with("set -");
}

/// What is between a sign and a literal of Python, where one follows: "(" and line breaks.
void AssignedValue::take_opening() {
  const std::size_t at = std::min(text_.find_first_not_of(" \t\n\\(", at_), text_.size());
  const std::string_view between = text_.substr(at_, at - at_);
  const bool is_in_brackets = between.find('(') != between.npos;
  const bool goes_on = between.find("\\\n") != between.npos;
  if ((!is_in_brackets && !goes_on) || at == text_.size() || !is_quote(text_[at])) return;
  is_call_ |= is_in_brackets;
  at_ = at;
}

/// Moves to the literal that Python joins to the one before, and past its quote.
bool AssignedValue::take_next_literal() {
  if (!is_name_quoted_ && !is_call_) return false;
  std::size_t at = at_;
  for (;;) {
    at = std::min(text_.find_first_not_of(is_call_ ? kAround : kBlanks, at), text_.size());
    if (text_.substr(at).starts_with("\\\n")) {
      at += 2;
    } else if (is_call_ && at < text_.size() && text_[at] == '#') {
      at = std::min(text_.find('\n', at), text_.size());
    } else {
      break;
    }
  }
  constexpr std::string_view kPrefixes = "rfub";
  if (at + 1 < text_.size() && kPrefixes.find(text_[at]) != kPrefixes.npos) ++at;
  if (at >= text_.size() || (text_[at] != '"' && text_[at] != '\'')) return false;
  quote_ = text_[at];
  at_ = at + 1;
  return true;
}

std::string AssignedValue::literals() {
  std::string joined;
  do {
    std::string_view quoted = rest().substr(0, rest().find(quote_));
    // A line break in it is no end where a comma shows that more follows.
    std::size_t end = quoted.find('\n');
    while (end != quoted.npos && trimmed(quoted.substr(0, end)).ends_with(',')) {
      end = quoted.find('\n', end + 1);
    }
    quoted = quoted.substr(0, end);
    at_ += quoted.size();
    take(quote_);
    joined += quoted;
  } while (take_next_literal());
  return joined;
}

std::optional<Assignment> AssignedValue::value() {
  take_opening();
  if (rest().starts_with("os.") || rest().starts_with("process.env")) return {};  // asks for it
  if (needs_literal_ && !rest().empty() && !begins_a_literal(rest())) {
    if (rest().front() == ')' || rest().front() == ']') return {};  // in a list of names
    return without_value(Lack::elsewhere);
  }
  const bool is_with_name = quote_ != 0;  // "NAME=VALUE"
  if (!is_with_name) {
    constexpr std::string_view kPrefixes = "rfu";
    if (rest().size() > 1 && kPrefixes.find(rest()[0]) != kPrefixes.npos && is_quote(rest()[1])) {
      ++at_;  // a literal of Python
    }
    if (!rest().empty() && is_quote(rest().front())) quote_ = text_[at_++];
  }
  Assignment read = quote_ != 0 && !is_with_name ? Assignment{"", literals()} : plain_value();
  read.conf = trimmed(read.conf);
  if (is_name(read.conf)) return {};  // in a list of names
  if (is_default_) read.conf.insert(0, 1, kDefault);
  if ((quote_ == 0 || quote_ == '`') && drop_punctuation(read.conf)) read.behind.clear();
  settle_references(read);
  note_how_it_is_written(read);
  return read;
}

Assignment AssignedValue::plain_value() {
  if (quote_ != 0) {
    const std::string_view quoted = line().substr(0, line().find(quote_));
    const Assignment read = one_word(quoted, true);
    at_ += quoted.size();
    return read;
  }
  Assignment read =
      is_whole_line_ || is_of_set() ? up_to_the_end(line(), is_of_set()) : one_word(line(), false);
  at_ += read.conf.size();
  constexpr std::string_view kNone[] = {"null", "None", "~", "nil", "undefined"};
  if (std::ranges::find(kNone, read.conf) != std::end(kNone)) {
    return without_value(Lack::removed);
  }
  return read;
}

bool AssignedValue::is_of_set() const {
  return in_capitals(command_).ends_with("SET") &&
         command_.find_first_not_of("@sSeEtT") == command_.npos;
}

bool AssignedValue::is_on_windows() const {
  return is_of_set() || first_word(in_capitals(command_)) == "SETX" ||
         in_capitals(before_).ends_with("$ENV:");
}

void AssignedValue::note_how_it_is_written(Assignment& read) const {
  const Writing writing{
      .command = command_,
      .text_behind = rest(),
      .has_sign = sign_ == '=',
      .has_blanks = has_blanks_ && !is_name_quoted_,
      .is_quoted = quote_ == '"' || quote_ == '\'',
      .is_with_name = begins_in_quotes_,
      .is_python = is_name_quoted_ || is_call_,
  };
  if (read.sets) note_writing(writing, read);
}

Assignment AssignedValue::up_to_the_end(std::string_view line, bool is_of_windows) {
  if (is_of_windows) return {"", std::string(trimmed(line.substr(0, line.find_first_of("&|"))))};
  line = trimmed(line.substr(0, line.find(" #")));
  const auto ends_in_what_is_around = [&] {
    const bool closes =
        line.ends_with(']') && std::ranges::count(line, ']') > std::ranges::count(line, '[');
    return closes || line.ends_with('}') || line.ends_with(',') || line.ends_with('\\');
  };
  while (ends_in_what_is_around()) line = trimmed(line.substr(0, line.size() - 1));
  return {"", std::string(line)};
}

/// Up to a blank that ends it; one in quotes may be a part of the value.
Assignment AssignedValue::one_word(std::string_view line, bool is_quoted) {
  std::size_t end = 0;
  const auto goes_on = [&] {
    const std::size_t next = std::min(line.find_first_not_of(kBlanks, end), line.size());
    return next > end && next < line.size() &&
           (line[next] == ',' || line[next] == ':' ||
            (end > 0 && (line[end - 1] == ',' || line[end - 1] == ':') && is_of_name(line[next])));
  };
  const auto ends = [&] {
    constexpr std::string_view kEnds = "'\"`)}&|";
    if (kBlanks.find(line[end]) != kBlanks.npos) {
      if (!is_quoted || !goes_on()) return true;
      end = line.find_first_not_of(kBlanks, end);
    }
    if (kEnds.find(line[end]) != kEnds.npos) return true;
    if (line[end] == ';') return end + 1 == line.size() || !is_of_name(line[end + 1]);
    return line[end] == ',' && names_another(line.substr(end + 1));
  };
  while (end < line.size() && !ends()) ++end;
  Assignment read{"", std::string(line.substr(0, end))};
  const std::string_view behind = trimmed(line.substr(end));
  const bool is_cut = end < line.size() && kBlanks.find(line[end]) != kBlanks.npos;
  if (is_cut && (goes_on() || begins_an_option(behind))) read.behind = first_word(behind);
  return read;
}

}  // namespace memreplay::torch
