#include "strategy/torch/assignment.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

namespace memreplay::torch {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kQuotes = "'\"`";

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string in_capitals(std::string_view text) {
  std::string capitals(text);
  std::ranges::transform(capitals, capitals.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return capitals;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kAround = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kAround);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kAround) - first + 1);
}

/// PYTORCH_CUDA_ALLOC_CONF and what is meant to be it, PYTORCH_NO_CUDA_MEMORY_CACHING.
bool is_setting_name(std::string_view name) {
  const std::string capitals = in_capitals(name);
  return capitals.find("ALLOC_CONF") != capitals.npos ||
         capitals.find("MEMORY_CACHING") != capitals.npos ||
         (capitals.starts_with("PYTORCH_") && capitals.ends_with("_CONF"));
}

/// What stands after a name, and whether that assigns a value to it.
class AssignedValue {
 public:
  /// The name is [from, to) of the text.
  AssignedValue(std::string_view text, std::size_t from, std::size_t to)
      : text_(text), at_(to), quote_(from > 0 && is_quote(text[from - 1]) ? text[from - 1] : 0) {
    const std::size_t line = text.substr(0, from).rfind('\n') + 1;  // npos + 1 is 0
    before_ = text.substr(line, from - line);
  }

  bool is_in_comment() const {
    const std::string_view line = trimmed(before_);
    if (line.starts_with("#SBATCH") || line.starts_with("#PBS") || line.starts_with("#BSUB") ||
        line.starts_with("#$")) {
      return false;
    }
    return line.starts_with('#') || line.starts_with("//") || line.starts_with("::") ||
           in_capitals(line).starts_with("REM ");
  }

  /// Unset where nothing is assigned.
  std::optional<Assignment> read() {
    if (before_.ends_with('$') || before_.ends_with("${") || before_.ends_with('%')) return {};
    const bool is_name_quoted = quote_ != 0 && take(quote_);
    if (is_name_quoted) quote_ = 0;
    skip(kBlanks);
    if (take(']')) skip(kBlanks);
    if (!take_sign(is_name_quoted) && !take_key_of_value() && !follows_a_word()) return {};
    skip(kBlanks);
    take_key_of_value();
    return value();
  }

 private:
  static bool is_quote(char c) { return kQuotes.find(c) != kQuotes.npos; }
  std::string_view rest() const { return text_.substr(std::min(at_, text_.size())); }
  void skip(std::string_view characters) {
    at_ = std::min(text_.find_first_not_of(characters, at_), text_.size());
  }
  bool take(char c) {
    if (!rest().starts_with(c)) return false;
    ++at_;
    return true;
  }

  bool take_sign(bool is_name_quoted) {
    if (rest().starts_with("==")) return false;
    for (const std::string_view sign : {":=", "?=", "+=", "=>", "="}) {
      if (!rest().starts_with(sign)) continue;
      at_ += sign.size();
      return true;
    }
    if (take(':')) {
      is_whole_line_ = true;  // as YAML has it
      return true;
    }
    if (!is_name_quoted || !take(',')) return false;  // in a call
    skip(" \t\r\n");
    return true;
  }

  /// "value:" and the like, of a pair with "name:" before the name; perhaps on a line of its own.
  bool take_key_of_value() {
    constexpr std::string_view kKey = "value";
    std::size_t at = std::min(text_.find_first_not_of(" \t\r\n,", at_), text_.size());
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

  /// "ENV NAME VALUE" of a Dockerfile, and what other shells and tools have of the kind.
  bool follows_a_word() {
    if (trimmed(rest().substr(0, rest().find('\n'))).empty()) return false;
    const std::string_view word = trimmed(before_);
    const bool is_of_dockerfile = in_capitals(word) == "ENV";
    is_whole_line_ |= is_of_dockerfile;
    const std::string_view first =
        trimmed(rest()).substr(0, trimmed(rest()).find_first_of(" \t\n"));
    const bool is_pair = word.empty() && first.find(':') != first.npos;  // "NAME KEY:VALUE"
    return is_pair || is_of_dockerfile || word.ends_with("setenv") || word.starts_with("setx") ||
           word.starts_with("set -");
  }

  std::optional<Assignment> value() {
    const bool is_with_name = quote_ != 0;  // "NAME=VALUE"
    if (!is_with_name) {
      if (rest().size() > 1 && (rest()[0] == 'r' || rest()[0] == 'f' || rest()[0] == 'u') &&
          is_quote(rest()[1])) {
        ++at_;  // a literal of Python
      }
      if (!rest().empty() && is_quote(rest().front())) quote_ = text_[at_++];
    }
    if (quote_ != 0) {
      std::string_view quoted = rest().substr(0, rest().find(quote_));
      quoted = quoted.substr(0, quoted.find('\n'));
      if (is_with_name) return one_word(quoted, true);
      return Assignment{"", std::string(trimmed(quoted))};
    }
    const std::string_view line = rest().substr(0, rest().find('\n'));
    const bool is_of_windows = in_capitals(trimmed(before_)).ends_with("SET") &&
                               before_.find_first_not_of(" \t@sSeEtT") == before_.npos;
    return is_whole_line_ || is_of_windows ? up_to_the_end(line, is_of_windows)
                                           : one_word(line, false);
  }

  static Assignment up_to_the_end(std::string_view line, bool is_of_windows) {
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
  static Assignment one_word(std::string_view line, bool is_quoted) {
    std::size_t end = 0;
    const auto goes_on = [&] {
      const std::size_t next = std::min(line.find_first_not_of(kBlanks, end), line.size());
      return next > end && next < line.size() &&
             (line[next] == ',' || line[next] == ':' ||
              (end > 0 && (line[end - 1] == ',' || line[end - 1] == ':') &&
               is_of_name(line[next])));
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
    if (end < line.size() && goes_on()) {
      const std::string_view behind = trimmed(line.substr(end));
      read.behind = behind.substr(0, behind.find_first_of(" \t"));
    }
    return read;
  }

  /// "OTHER=…", which follows in a list of variables.
  static bool names_another(std::string_view text) {
    const auto end = std::ranges::find_if_not(text, is_of_name);
    return end != text.begin() && end != text.end() && *end == '=' &&
           std::none_of(text.begin(), end, [](unsigned char c) { return std::islower(c) != 0; });
  }

  std::string_view text_;
  std::string_view before_;  ///< the name, on its line
  std::size_t at_;
  char quote_;  ///< the one that ends the value; 0: none
  bool is_whole_line_ = false;
};

std::string_view without_quotes(std::string_view text) {
  text = trimmed(text);
  const bool is_quoted =
      text.size() > 1 && text.front() == text.back() && kQuotes.find(text.front()) != kQuotes.npos;
  return is_quoted ? trimmed(text.substr(1, text.size() - 2)) : text;
}

/// A text that names none of PyTorch's variables: that of another, or a setting.
Assignment whole_text(std::string_view text) {
  constexpr std::string_view kExport = "export ";
  text = trimmed(text);
  text = trimmed(text.substr(0, text.find(" #")));
  std::string_view rest = without_quotes(text);
  if (rest.starts_with(kExport)) rest.remove_prefix(kExport.size());
  const std::size_t equals = std::min(rest.find('='), rest.size());
  const std::string_view name = rest.substr(0, equals);
  const bool is_variable =
      equals < rest.size() && !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
        return is_of_name(static_cast<char>(c)) && std::islower(c) == 0;
      });
  if (!is_variable) return {"", std::string(without_quotes(text))};
  return {std::string(name), std::string(without_quotes(rest.substr(equals + 1)))};
}

}  // namespace

std::vector<Assignment> assignments_in(std::string_view given) {
  // In a text within a text of JSON or a shell.
  std::string text(given);
  for (std::size_t at = 0; (at = text.find("\\\"", at)) != text.npos;) text.erase(at, 1);
  std::vector<Assignment> found, in_comments;
  for (std::size_t from = 0; from < text.size();) {
    std::size_t to = from;
    while (to < text.size() && is_of_name(text[to])) ++to;
    const std::string_view name = std::string_view(text).substr(from, to - from);
    if (is_setting_name(name)) {
      AssignedValue value(text, from, to);
      if (auto read = value.read()) {
        read->variable = name;
        (value.is_in_comment() ? in_comments : found).push_back(std::move(*read));
      }
    }
    from = to + 1;
  }
  if (found.empty()) found = std::move(in_comments);
  if (found.empty()) found.push_back(whole_text(text));
  return found;
}

}  // namespace memreplay::torch
