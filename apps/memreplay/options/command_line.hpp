#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands.hpp"

namespace memreplay {

/// `--help` was asked for; what() is the help.
class HelpAsked : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The options of one command. Functions given here may throw UsageError.
class CommandLine {
 public:
  explicit CommandLine(const Command& command);
  ~CommandLine();

  using Use = std::function<void(const std::string&)>;
  /// "--capacity" with its values and one sentence that ends in the default.
  void value(const std::string& names, const std::string& values, const std::string& sentence,
             Use use);
  /// An option that may be given any number of times; calls to `use` keep the order on the command
  /// line, also among several such options.
  void repeated(const std::string& names, const std::string& values, const std::string& sentence,
                Use use);
  void flag(const std::string& names, const std::string& sentence, bool& set);
  /// NAME alone means "-"; NAME=FILE names a file. It never takes the next argument.
  void optional_file(const std::string& name, const std::string& sentence, Use use);
  void positional(const std::string& name, std::string& value);
  void positionals(const std::string& name, std::vector<std::string>& values);

  /// Throws HelpAsked, and UsageError with a suggestion for an unknown option.
  void parse(const std::vector<std::string>& arguments);

 private:
  /// The part that needs CLI11, whose header takes the compiler seven seconds.
  struct Parser;

  std::string help() const;
  void refuse_unknown() const;
  void use_values();

  const Command& command_;
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
