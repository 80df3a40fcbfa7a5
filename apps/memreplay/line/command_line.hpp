#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "line/commands.hpp"
#include "line/help.hpp"
#include "line/output_file.hpp"

namespace CLI {
class Option;
}

namespace memreplay {

/// `--help` was asked for, or `--help-all`.
struct HelpAsked : std::exception {
  HelpAsked(CommandDescription of, Shown how_much) : description(std::move(of)), shown(how_much) {}
  CommandDescription description;
  Shown shown;
};

/// An option that the command does not have.
class UnknownOption : public UsageError {
 public:
  UnknownOption(const std::string& message, std::string name, std::optional<std::string> nearest)
      : UsageError(message), name_(std::move(name)), nearest_(std::move(nearest)) {}

  const std::string& name() const { return name_; }                       ///< "--capacty"
  const std::optional<std::string>& nearest() const { return nearest_; }  ///< "--capacity"

 private:
  std::string name_;
  std::optional<std::string> nearest_;
};

/// The options of one command. Functions given here may throw UsageError.
class CommandLine {
 public:
  explicit CommandLine(const Command& command);
  ~CommandLine();

  /// The options that are added while it lives stand together in the help. Others, and those added
  /// outside of any, are what the command itself is asked.
  class Group {
   public:
    Group(CommandLine& line, std::string title, Shown shown = Shown::always);
    ~Group();
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

   private:
    CommandLine& line_;
    std::string outer_title_;
    Shown outer_shown_;
  };

  using Use = std::function<void(const std::string&)>;
  /// "--capacity" with its values, by which shells complete them (help/script.hpp), and one
  /// sentence that ends in the default.
  void value(const std::string& names, const std::string& values, const std::string& sentence,
             Use use);
  /// An option that may be given any number of times; calls to `use` keep the order on the command
  /// line, also among several such options.
  void repeated(const std::string& names, const std::string& values, const std::string& sentence,
                Use use);
  void flag(const std::string& names, const std::string& sentence, bool& set);
  /// An option whose value is a file that is read.
  void input(const std::string& names, const std::string& values, const std::string& sentence,
             Use use);
  /// One that may be given any number of times.
  void repeated_input(const std::string& names, const std::string& values,
                      const std::string& sentence, Use use);
  /// An option whose value is a file that is written.
  void output(const std::string& names, const std::string& values, const std::string& sentence,
              OutputPath& path);
  /// An option whose value is a file that is read, and may be written again.
  void renewed(const std::string& names, const std::string& values, const std::string& sentence,
               OutputPath& path);
  /// A file to be written: NAME alone means "-", NAME=FILE names it. It never takes the next
  /// argument.
  void optional_file(const std::string& name, const std::string& sentence,
                     std::function<void(const OutputPath&)> use);
  void positionals(const std::string& name, std::vector<std::string>& values);
  /// Positionals that name files to be read: recordings.
  void inputs(const std::string& name, std::vector<std::string>& paths);
  /// A file that is read, of an option whose value says more than its path.
  void reads(const std::string& names, const std::string& path);
  /// Which files a path among the inputs stands for; without it that file alone.
  void expand_inputs(std::function<std::vector<std::string>(const std::string&)> files_in);
  /// The last of the positionals, where there are two or more, names a file to be written.
  void output_behind_inputs(const std::string& name, OutputPath& path);

  /// Words that end the options: from the first argument that is none, or from `--` on.
  void program(std::vector<std::string>& words);

  /// For options that must go together: called when all of them were used.
  void check(std::function<void()> refuse);

  /// Throws HelpAsked; UsageError with a suggestion for an unknown option, and where an output is
  /// an input or another output.
  void parse(const std::vector<std::string>& arguments);

 private:
  /// The part that needs CLI11, whose header takes the compiler seven seconds.
  struct Parser;

  void describe(const CLI::Option* option);
  CommandDescription description() const;
  void refuse_unknown() const;
  void use_values();
  void claim_outputs();
  OutputPath output_path(const std::string& names, const std::string& text);

  const Command& command_;
  std::string group_ = "General";
  Shown shown_ = Shown::always;
  std::shared_ptr<CommandFiles> files_ = std::make_shared<CommandFiles>();
  std::unique_ptr<Parser> parser_;
};

/// The bytes of a SIZE argument. Throws UsageError.
std::uint64_t size_argument(const std::string& option, const std::string& text);
std::uint64_t whole_argument(const std::string& option, const std::string& text);
double number_argument(const std::string& option, const std::string& text);
/// The index of `text` among `choices`. Throws UsageError with the nearest.
std::size_t choice_argument(const std::string& option, const std::string& text,
                            const std::vector<std::string>& choices);

}  // namespace memreplay
