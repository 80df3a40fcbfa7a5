#include "strategy/torch/written_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "strategy/torch/assigned_value.hpp"

namespace memreplay::torch {
namespace {

using Severity = SettingIssue::Severity;

/// A way to write a setting that does not set it.
struct Fault {
  bool (*is_it)(const Writing& writing);
  std::string_view says;
};

std::string_view line_behind(const Writing& w) {
  return w.text_behind.substr(0, w.text_behind.find('\n'));
}

bool is_kept_quote(const Writing& w) { return w.has_sign && w.is_quoted && !w.is_with_name; }

constexpr Fault kFaults[] = {
    {[](const Writing& w) { return w.has_blanks && w.command.ends_with("export"); },
     "a shell allows no blanks around '=': remove them, or the variable is not set"},
    {[](const Writing& w) {
       return w.command.starts_with("!export") || w.command.starts_with("! export") ||
              w.command == "!set";
     },
     "each '!' of a notebook has a shell of its own, and what it exports ends with it: write %env "
     "NAME=VALUE or set os.environ before torch is imported"},
    {[](const Writing& w) { return w.has_sign && in_capitals(w.command) == "SETX"; },
     "setx takes name and value separately, without '=': setx NAME \"VALUE\""},
    {[](const Writing& w) { return is_kept_quote(w) && w.command == "-"; },
     "in a YAML list these quotes stay in the value, and PyTorch refuses it: quote all of "
     "NAME=VALUE, or remove the quotes"},
    {[](const Writing& w) { return is_kept_quote(w) && w.command == "set"; },
     "cmd keeps these quotes in the value, and PyTorch refuses it: set \"NAME=VALUE\""},
    {[](const Writing& w) { return is_kept_quote(w) && w.command == "%env"; },
     "%env keeps these quotes in the value, and PyTorch refuses it: remove them"},
    {[](const Writing& w) {
       return w.command == "%env" && line_behind(w).find(" #") != std::string_view::npos;
     },
     "%env takes the whole line: the comment becomes part of the value; put it on its own line"},
    {[](const Writing& w) {
       return w.is_python && w.is_quoted && trimmed(line_behind(w)).starts_with("if ");
     },
     "it is used when the condition after it holds; the other value is not checked"},
};

}  // namespace

Assignment without_value(Lack lack) {
  constexpr std::string_view kSays[] = {
      "this reads the variable and sets nothing: nothing to check",
      "this removes the variable or leaves it unset: the defaults are used",
      "the value is not in the text: nothing to check",
  };
  Assignment nothing;
  nothing.sets = false;
  nothing.notes.push_back({Severity::warning, std::string(kSays[static_cast<std::size_t>(lack)])});
  return nothing;
}

void note_writing(const Writing& writing, Assignment& read) {
  for (const Fault& fault : kFaults) {
    if (fault.is_it(writing)) read.notes.push_back({Severity::warning, std::string(fault.says)});
  }
  if (std::erase(read.conf, '\n') > 0) {
    read.notes.push_back({Severity::warning,
                          "the value contains a line break, which PyTorch drops since 2.10 and "
                          "reads as part of an option's name before: write it on one line"});
  }
  const std::size_t next = writing.text_behind.find('\n');
  const std::string_view line = trimmed(line_behind(writing));
  const bool ends_in_comma =
      (read.conf.ends_with(',') && line.empty()) || (line == "," && !writing.is_quoted);
  if (!ends_in_comma || next == writing.text_behind.npos) return;
  const std::string_view following = trimmed(writing.text_behind.substr(next));
  if (!begins_an_option(following)) return;
  read.notes.push_back(
      {Severity::warning, fmt::format("the value ends with its line, and '{}' on the next one is "
                                      "not part of it: write all of it on one line",
                                      following.substr(0, following.find_first_of(" \t\n\"'")))});
}

bool drop_punctuation(std::string& conf) {
  const std::size_t size = conf.size();
  constexpr std::string_view kEnds[] = {"...", "…", ".", "。", "!", "?", "，", "；"};
  const auto has_value = [&] {
    const std::string_view option = std::string_view(conf).substr(conf.rfind(',') + 1);
    return option.ends_with(':') && std::ranges::count(option, ':') > 1;
  };
  for (bool dropped = true; dropped;) {
    dropped = false;
    for (const std::string_view end : kEnds) {
      if (!conf.ends_with(end)) continue;
      conf.resize(conf.size() - end.size());
      dropped = true;
      if (end == "..." && conf.ends_with(',')) conf.pop_back();
    }
    if (!has_value()) continue;
    conf.pop_back();
    dropped = true;
  }
  return conf.size() != size;
}

bool begins_an_option(std::string_view text) {
  const auto end = std::ranges::find_if_not(text, [](unsigned char c) {
    return std::islower(c) != 0 || c == '_' || std::isdigit(c) != 0;
  });
  const std::string_view name = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  return end != text.end() && *end == ':' && name.size() > 1 &&
         (name.find('_') != name.npos || name == "backend");
}

bool is_name(std::string_view conf) {
  return conf.starts_with("PYTORCH_") && std::ranges::all_of(conf, [](unsigned char c) {
           return is_of_name(static_cast<char>(c)) && std::islower(c) == 0;
         });
}

}  // namespace memreplay::torch
