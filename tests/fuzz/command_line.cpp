#include "fuzz/command_line.hpp"

#include <algorithm>
#include <map>
#include <regex>

#include "extensions/shell/script.hpp"
#include "fuzz/fuzz_target.hpp"
#include "line/commands.hpp"
#include "strategy/registry.hpp"
#include "trace/writer.hpp"

namespace memreplay {
namespace {

using Words = std::vector<std::string>;

constexpr std::size_t kMostOptions = 5;

/// What the program does not know words for.
const std::map<std::string, Words, std::less<>> kMeant = {
    {"CONF", {"expandable_segments:True", "max_split_size_mb:128,backend:native"}},
    {"ID", {"id", "op", "size", "time"}},
    {"KEY", {"size>", "size<", "function", "code", "phase", "group", "factor", "events", "to"}},
    {"NAME", {"batch", "step", "forward", "torch"}},
    {"SIZE", {"40MiB", "1GiB", "2MiB", "24GiB", "1"}},
    {"T", {"2%", "1MiB", "0"}},
    {"VERB", {"scale", "drop", "checkpoint", "offload", "autocast", "shorten", "dtype"}},
    {"WHERE", {"step", "3", "forward"}}};
const Words kNumbers = {"1", "2", "3", "5", "10", "100"};

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

/// Others would measure a device or run a program.
bool needs_more_than_files(std::string_view words) {
  return words.find("--device") != words.npos || words.find("-- ") != words.npos;
}

Words names_of_writers() {
  Words suffixes;
  for (const WriterInfo& writer : writers()) suffixes.push_back("out" + std::string(writer.suffix));
  return suffixes;
}

/// Names in the folder; none where the placeholder is not of a file.
Words files_meant_by(std::string_view placeholder) {
  if (placeholder == "OUT") return names_of_writers();
  if (placeholder == "F") return {"a", "b", "out", "out{n}"};
  for (const char* recording : {"TRACE", "FOLDER", "IN", "A", "B"}) {
    if (placeholder == recording) return {"a", "b", ""};
  }
  return {};
}

Words words_meant_by(std::string_view placeholder) {
  const auto known = kMeant.find(placeholder);
  if (known != kMeant.end()) return known->second;
  const Candidates own = candidates(placeholder);
  if (own.kind == Candidates::Kind::strategy) return simulated_strategies();
  return own.words.empty() ? kNumbers : own.words;
}

class Filling {
 public:
  Filling(Choices& choices, const std::string& folder) : choices_(choices), folder_(folder) {}

  /// A value for "auto|cold", "METRIC[=T]" or "SIZE@event:FROM..TO".
  std::string value(std::string_view pattern) {
    std::string one = choices_.of(split(without_optional(pattern), "|"));
    if (one.ends_with("...")) one.resize(one.size() - 3);
    if (one.ends_with(",")) one.pop_back();
    std::string out;
    for (auto at = one.begin(); at != one.end();) {
      const auto end = std::find_if_not(at, one.end(), is_capital);
      if (end == at) {
        out += *at++;
      } else {
        out += stand_in({at, end});
        at = end;
      }
    }
    return out;
  }

  /// Arguments for "A B [-s S] | TRACE -s S -s S".
  Words arguments(std::string_view pattern) {
    Words all;
    const std::string needed = without_optional(choices_.of(split(pattern, " | ")));
    for (const std::string& word : split(needed, " ")) {
      const std::string filled = value(word);
      if (!filled.empty()) all.push_back(filled);
    }
    return all;
  }

 private:
  static Words split(std::string_view text, std::string_view mark) {
    Words parts;
    for (std::size_t end = 0; end != text.npos;) {
      end = text.find(mark);
      parts.emplace_back(text.substr(0, end));
      if (end != text.npos) text.remove_prefix(end + mark.size());
    }
    return parts;
  }

  std::string without_optional(std::string_view pattern) {
    static const std::regex kOptional(R"(\[[^\]]*\]?)"), kBrackets(R"([\[\]])");
    return std::regex_replace(std::string(pattern), choices_.yes() ? kBrackets : kOptional, "");
  }

  std::string stand_in(const std::string& placeholder) {
    constexpr std::size_t kHostileOneIn = 8;
    const Words files = files_meant_by(placeholder);
    if (!files.empty()) return folder_ + '/' + choices_.of(files);
    if (choices_.below(kHostileOneIn) == kHostileOneIn - 1) {
      return std::string(choices_.of(hostile_texts()));
    }
    return choices_.of(words_meant_by(placeholder));
  }

  Choices& choices_;
  const std::string& folder_;
};

}  // namespace

std::size_t Choices::below(std::size_t count) {
  std::size_t number = 0;
  for (std::size_t reach = 1; reach < count; reach *= 256) {
    const std::size_t byte = left_.empty() ? 0 : static_cast<unsigned char>(left_.front());
    number = number * 256 + byte;
    left_.remove_prefix(std::min<std::size_t>(1, left_.size()));
  }
  return number % count;
}

Words chosen_command_line(Choices& choices, const std::string& folder) {
  static const Descriptions kCommands = [] {
    Descriptions all = describe_commands();
    std::erase_if(all,
                  [](const auto& one) { return needs_more_than_files(one.command->arguments); });
    return all;
  }();
  const CommandDescription& described = choices.of(kCommands);
  Filling filling(choices, folder);
  Words line = filling.arguments(described.command->arguments);
  line.insert(line.begin(), std::string(described.command->name));
  const auto options = all_options(described);
  for (std::size_t left = choices.below(kMostOptions + 1); left > 0; --left) {
    const OptionDescription& option = choices.of(options);
    if (needs_more_than_files(option.names.front())) continue;
    line.push_back(choices.of(option.names));
    const std::string value = option.values.empty() ? "" : filling.value(option.values);
    if (option.takes_next()) {
      line.push_back(value);
    } else {
      line.back() += value;
    }
  }
  return line;
}

}  // namespace memreplay
