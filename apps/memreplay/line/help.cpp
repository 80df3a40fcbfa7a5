#include "line/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "line/command_line.hpp"
#include "report/parts/table.hpp"

namespace memreplay {
namespace {

/// What roff would read otherwise than as a letter.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (out.empty() && (c == '.' || c == '\'')) out += "\\&";
    if (c == '-') {
      out += "\\-";
    } else if (c == '\\') {
      out += "\\e";
    } else {
      out += c;
    }
  }
  return out;
}

std::string head(const std::string& name, std::string_view sentence) {
  return fmt::format(
      ".\\\" Written by: memreplay manual\n.TH \"{}\" 1 \"\" \"memreplay {}\" \"User Commands\"\n"
      ".SH NAME\n{} \\- {}\n",
      plain(name), MEMREPLAY_VERSION, plain(name), plain(sentence));
}

std::string paragraph(std::string_view bold, std::string_view text) {
  return fmt::format(".TP\n.B \"{}\"\n{}\n", plain(bold), plain(text));
}

std::string exit_status() {
  std::string out = ".SH EXIT STATUS\n";
  for (const ExitCode& exit : kExitCodes) {
    out += paragraph(std::to_string(exit.code), exit.meaning);
  }
  return out;
}

std::string see_also(std::string_view others) { return fmt::format(".SH SEE ALSO\n{}\n", others); }

std::string options(const std::vector<OptionDescription>& all) {
  std::string out;
  for (const OptionDescription& option : all) {
    out += paragraph(option.names_and_values(), option.sentence);
  }
  return out;
}

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

std::string OptionDescription::names_and_values() const {
  return fmt::format("{}{}{}", fmt::join(names, ", "), takes_next() ? " " : "", values);
}

CommandDescription describe(const Command& command) {
  try {
    command.run(command, {"--help"});
  } catch (const HelpAsked& asked) {
    return asked.description;
  }
  throw std::logic_error(fmt::format("{} --help gives no help", command.name));
}

std::vector<CommandDescription> describe_commands() {
  std::vector<CommandDescription> all;
  for (const Command& command : commands()) all.push_back(describe(command));
  return all;
}

std::vector<OptionDescription> help_options() {
  return {{{"-h", "--help"}, "", "The usual options.", Shown::always},
          {{"--help-all"}, "", "All options.", Shown::always}};
}

std::string manual_page() {
  std::string out = head("memreplay", "replays recorded allocations against any allocator");
  out += ".SH SYNOPSIS\n.B memreplay\n.I COMMAND\n.RI [ argument ]...\n.SH DESCRIPTION\n";
  out += plain(kArgumentsSentence) + "\n.SH COMMANDS\n";
  std::string pages;
  for (const Command& command : commands()) {
    out += paragraph(command.name, command.summary);
    pages += fmt::format("{}.BR memreplay\\-{} (1)", pages.empty() ? "" : ",\n", command.name);
  }
  out += ".SH OPTIONS\n";
  out += paragraph("-h, --help", "All commands; after a command its usual options.");
  out += paragraph("--help-all", "After a command: all of its options.");
  out += paragraph("-V, --version", "The version.");
  return out + exit_status() + see_also(pages);
}

std::string manual_page(const CommandDescription& description) {
  const Command& command = *description.command;
  std::string out = head(fmt::format("memreplay-{}", command.name), command.summary);
  out += fmt::format(".SH SYNOPSIS\n.B memreplay {}\n{}\n", command.name, plain(command.arguments));
  out += fmt::format(".SH DESCRIPTION\n{}\n{}\n.SH OPTIONS\n", plain(command.summary),
                     plain(kArgumentsSentence));
  for (const OptionGroup& group : description.groups) {
    out += fmt::format(".SS {}\n", group.title) + options(group.options);
  }
  out += ".SS Help\n" + options(help_options());
  out +=
      fmt::format(".SH EXAMPLE\n.EX\nmemreplay {} {}\n.EE\n", command.name, plain(command.example));
  return out + exit_status() + see_also(".BR memreplay (1)");
}

}  // namespace memreplay
