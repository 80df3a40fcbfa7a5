#include "help/text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/parts/table.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kWidestLeft = 26;

/// The width of the options' names; longer ones have a line of their own.
std::size_t width_of_names(const CommandDescription& description, Shown shown) {
  std::size_t width = 0;
  for (const OptionGroup& group : description.groups) {
    for (const OptionDescription& option : group.options) {
      const std::size_t size = option.names_and_values().size();
      if (option.shown <= shown && size <= kWidestLeft) width = std::max(width, size);
    }
  }
  return width;
}

std::string option_text(const OptionDescription& option, std::size_t width) {
  const std::size_t column = width + 4;
  const std::string names = option.names_and_values();
  const std::string gap = names.size() <= width ? std::string(column - 2 - names.size(), ' ')
                                                : '\n' + std::string(column, ' ');
  return "  " + names + gap + wrapped(option.sentence, column, kWidth) + '\n';
}

/// Commands that few ask for, for which a screen has no room.
constexpr std::array<std::string_view, 5> kWithoutRow = {"calibrate", "generate", "mcp",
                                                         "completion", "manual"};

}  // namespace

std::string help_text() {
  std::string out =
      "memreplay COMMAND ...   replays recorded allocations against any allocator\n\n";
  std::string others;
  for (const Command& command : commands()) {
    if (std::ranges::find(kWithoutRow, command.name) != kWithoutRow.end()) {
      others += fmt::format("{}{}", others.empty() ? "" : ", ", command.name);
    } else {
      out += fmt::format("  {:<10}  {}\n", command.name, command.summary);
    }
  }
  out += fmt::format("\n{}\n", kArgumentsSentence);
  std::string codes;
  for (const ExitCode& exit : kExitCodes) {
    codes += fmt::format("{} {} {}", codes.empty() ? "" : ";", exit.code, exit.meaning);
  }
  return out + fmt::format("Exit codes:{}.\n", codes) +
         fmt::format("Options: COMMAND --help. Also: {}.\n", others);
}

std::string help_text(const CommandDescription& description, Shown shown) {
  const Command& command = *description.command;
  const std::size_t width = width_of_names(description, shown);
  std::string out =
      wrapped(fmt::format("memreplay {} {}", command.name, command.arguments), 4, kWidth) +
      fmt::format("\n{}\n", command.summary);
  if (!description.groups.empty()) out += '\n';
  bool all = true;
  for (const OptionGroup& group : description.groups) {
    std::string lines;
    for (const OptionDescription& option : group.options) {
      if (option.shown <= shown) {
        lines += option_text(option, width);
      } else {
        all = false;
      }
    }
    if (!lines.empty()) out += fmt::format("{}:\n{}", group.title, lines);
  }
  out += fmt::format("\nExample: memreplay {} {}\n", command.name, command.example);
  if (all) return out;
  return out + fmt::format("All options: memreplay {} --help-all\n", command.name);
}

}  // namespace memreplay
