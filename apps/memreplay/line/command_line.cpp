#include "line/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay {
namespace {

std::vector<std::string> long_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

/// Where the words of a program begin, or the `--` before them.
auto end_of_options_in(const std::vector<std::string>& words) {
  return std::ranges::find_if(words, [](const std::string& word) {
    return word == "--" || word.size() < 2 || word.front() != '-';
  });
}

std::vector<std::string> program_in(const std::vector<std::string>& words) {
  auto begin = end_of_options_in(words);
  if (begin != words.end() && *begin == "--") ++begin;
  return {begin, words.end()};
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  return fmt::format("{}", fmt::join(parts, between));
}

}  // namespace

struct CommandLine::Parser {
  struct Repeated {
    CLI::Option* option;
    Use use;
  };
  struct OptionalFile {
    CLI::Option* option;
    std::unique_ptr<std::string> path;
    std::function<void(const OutputPath&)> use;
  };
  struct LastPositional {
    std::string name;
    OutputPath* path;
  };

  struct Described {
    const CLI::Option* option;
    std::string group;
    Shown shown;
  };

  CLI::App app;
  std::vector<Described> described;  ///< in the order of the help, but for the groups
  std::vector<std::function<void()>> checks;
  std::vector<Repeated> repeated;
  std::vector<OptionalFile> optional_files;
  std::vector<std::string>* inputs = nullptr;
  std::vector<std::string>* program = nullptr;
  std::function<std::vector<std::string>(const std::string&)> files_in;
  std::optional<LastPositional> output_behind_inputs;
  std::vector<OutputPath> outputs;
};

CommandLine::CommandLine(const Command& command)
    : command_(command), parser_(std::make_unique<Parser>()) {
  parser_->app.set_help_flag("-h,--help");
  parser_->app.set_help_all_flag("--help-all");
  parser_->app.allow_extras();
}

CommandLine::~CommandLine() = default;

void CommandLine::value(const std::string& names, const std::string& values,
                        const std::string& sentence, Use use) {
  describe(parser_->app.add_option_function<std::string>(names, use, sentence)->type_name(values));
}

CommandLine::Group::Group(CommandLine& line, std::string title, Shown shown)
    : line_(line),
      outer_title_(std::exchange(line.group_, std::move(title))),
      outer_shown_(std::exchange(line.shown_, shown)) {}

CommandLine::Group::~Group() {
  line_.group_ = std::move(outer_title_);
  line_.shown_ = outer_shown_;
}

void CommandLine::repeated(const std::string& names, const std::string& values,
                           const std::string& sentence, Use use) {
  CLI::Option* option = parser_->app.add_option(names, sentence)
                            ->type_name(values)
                            ->type_size(1)
                            ->expected(-1)
                            ->allow_extra_args(false)
                            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  parser_->repeated.push_back({option, std::move(use)});
  describe(option);
}

void CommandLine::flag(const std::string& names, const std::string& sentence, bool& set) {
  describe(parser_->app.add_flag(names, set, sentence));
}

// "-o" of "-o,--output".
OutputPath CommandLine::output_path(const std::string& names, const std::string& text) {
  const std::string option = names.substr(0, names.find(','));
  if (text.empty()) throw UsageError(fmt::format("{} is empty; expected a file", option));
  return parser_->outputs.emplace_back(OutputPath(option, text, files_));
}

void CommandLine::input(const std::string& names, const std::string& values,
                        const std::string& sentence, Use use) {
  value(names, values, sentence, [this, names, use = std::move(use)](const std::string& text) {
    reads(names, text);
    use(text);
  });
}

void CommandLine::repeated_input(const std::string& names, const std::string& values,
                                 const std::string& sentence, Use use) {
  repeated(names, values, sentence, [this, names, use = std::move(use)](const std::string& text) {
    reads(names, text);
    use(text);
  });
}

void CommandLine::reads(const std::string& names, const std::string& path) {
  if (path.empty()) throw UsageError(names + " is empty; expected a file");
  files_->reads(names, path);
}

void CommandLine::output(const std::string& names, const std::string& values,
                         const std::string& sentence, OutputPath& path) {
  value(names, values, sentence,
        [this, names, &path](const std::string& text) { path = output_path(names, text); });
}

void CommandLine::renewed(const std::string& names, const std::string& values,
                          const std::string& sentence, OutputPath& path) {
  input(names, values, sentence,
        [this, names, &path](const std::string& text) { path = output_path(names, text); });
}

void CommandLine::optional_file(const std::string& name, const std::string& sentence,
                                std::function<void(const OutputPath&)> use) {
  auto path = std::make_unique<std::string>();
  CLI::Option* option = parser_->app.add_flag(name + "{-}", *path, sentence)->type_name("[=F]");
  parser_->optional_files.push_back({option, std::move(path), std::move(use)});
  describe(option);
}

void CommandLine::positionals(const std::string& name, std::vector<std::string>& values) {
  parser_->app.add_option(name, values)->group("");
}

void CommandLine::inputs(const std::string& name, std::vector<std::string>& paths) {
  positionals(name, paths);
  parser_->inputs = &paths;
}

void CommandLine::expand_inputs(
    std::function<std::vector<std::string>(const std::string&)> files_in) {
  parser_->files_in = std::move(files_in);
}

void CommandLine::output_behind_inputs(const std::string& name, OutputPath& path) {
  parser_->output_behind_inputs = {name, &path};
}

void CommandLine::program(std::vector<std::string>& words) {
  parser_->app.prefix_command();
  parser_->program = &words;
}

void CommandLine::parse(const std::vector<std::string>& arguments) {
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    parser_->app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    throw HelpAsked(description(), Shown::always);
  } catch (const CLI::CallForAllHelp&) {
    throw HelpAsked(description(), Shown::in_help_all);
  } catch (const CLI::ParseError& error) {
    refuse_unknown();
    throw UsageError(fmt::format("{} (memreplay {} --help)", error.what(), command_.name));
  }
  refuse_unknown();
  if (parser_->program != nullptr) *parser_->program = program_in(parser_->app.remaining());
  use_values();
  claim_outputs();
  for (const auto& refuse : parser_->checks) refuse();
}

void CommandLine::check(std::function<void()> refuse) {
  parser_->checks.push_back(std::move(refuse));
}

void CommandLine::refuse_unknown() const {
  std::vector<std::string> extras = parser_->app.remaining();
  if (parser_->program != nullptr) extras.erase(end_of_options_in(extras), extras.end());
  const auto end_of_options = std::ranges::find(extras, "--");
  if (end_of_options != extras.end()) extras.erase(end_of_options);
  for (const std::string& extra : extras) {
    if (extra.size() < 2 || extra.front() != '-') continue;
    const std::string name = extra.substr(0, extra.find('='));
    const std::vector<std::string> known = long_names(parser_->app);
    throw UnknownOption(fmt::format("unknown option '{}'{} (memreplay {} --help)", name,
                                    did_you_mean(name, known), command_.name),
                        name, nearest_name(name, known));
  }
  if (extras.empty()) return;
  throw UsageError(fmt::format("unexpected argument '{}' (memreplay {} {})", extras.front(),
                               command_.name, command_.arguments));
}

void CommandLine::use_values() {
  std::map<const CLI::Option*, std::size_t> used;
  for (const CLI::Option* option : parser_->app.parse_order()) {
    for (const Parser::Repeated& repeated : parser_->repeated) {
      if (repeated.option == option) repeated.use(option->results().at(used[option]++));
    }
  }
  for (const Parser::OptionalFile& file : parser_->optional_files) {
    if (file.option->count() == 0) continue;
    file.use(output_path("--" + file.option->get_lnames().front(), *file.path));
  }
}

// Names with {n} are known when the runs are: an OutputFile claims its own.
void CommandLine::claim_outputs() {
  if (parser_->inputs != nullptr) {
    std::vector<std::string>& paths = *parser_->inputs;
    if (const auto& last = parser_->output_behind_inputs; last && paths.size() > 1) {
      *last->path = output_path(last->name, paths.back());
      paths.pop_back();
    }
    for (const std::string& path : paths) {
      if (path.empty()) throw UsageError("the name of a recording is empty; expected a file");
      const auto& files_in = parser_->files_in;
      for (const std::string& file : files_in ? files_in(path) : std::vector{path}) {
        files_->reads("the recording", file);
      }
    }
  }
  OutputPath("the text", "-", files_).claim();
  for (const OutputPath& output : parser_->outputs) {
    if (!output.of_each_run()) output.claim();
  }
}

void CommandLine::describe(const CLI::Option* option) {
  parser_->described.push_back({option, group_, shown_});
}

CommandDescription CommandLine::description() const {
  CommandDescription all{&command_, {}};
  for (const auto& [option, title, shown] : parser_->described) {
    const auto repeats = std::ranges::find(parser_->repeated, option, &Parser::Repeated::option);
    auto group = std::ranges::find(all.groups, title, &OptionGroup::title);
    if (group == all.groups.end()) group = all.groups.insert(group, {title, {}});
    group->options.push_back({names_of(*option), option->get_type_name(), option->get_description(),
                              shown, repeats != parser_->repeated.end()});
  }
  return all;
}

std::uint64_t size_argument(const std::string& option, const std::string& text) {
  if (const auto size = parse_size(text)) return *size;
  throw UsageError(fmt::format("{} is '{}'; expected a size such as 24GiB, 512MiB or 1000 (bytes)",
                               option, text));
}

std::uint64_t whole_argument(const std::string& option, const std::string& text) {
  if (const auto number = parse_whole(text)) return *number;
  throw UsageError(fmt::format("{} is '{}'; expected a whole number", option, text));
}

double number_argument(const std::string& option, const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (!text.empty() && error == std::errc{} && stop == end && std::isfinite(number) &&
      number >= 0) {
    return number;
  }
  throw UsageError(fmt::format("{} is '{}'; expected a number that is not negative", option, text));
}

std::size_t choice_argument(const std::string& option, const std::string& text,
                            const std::vector<std::string>& choices) {
  const auto found = std::find(choices.begin(), choices.end(), text);
  if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
  throw UsageError(fmt::format("{} is '{}'; expected {}{}", option, text, joined(choices, " or "),
                               did_you_mean(text, choices)));
}

}  // namespace memreplay
