#include "help/manual.hpp"

#include <fmt/format.h>

#include "help/text.hpp"

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

}  // namespace

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
  out += paragraph("--help-all", "Behind a command: all of its options.");
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
