#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace memreplay {

/// A part of the program that takes what others wrote.
struct FuzzTarget {
  std::string name;
  /// What is done with the bytes; may throw InputError and UsageError, and nothing else.
  std::function<void(std::string_view bytes)> take;
  std::vector<std::string> seeds;  ///< good inputs, to begin from
  std::vector<std::string> words;  ///< what its inputs are made of
};

/// Readers, and what copies and unpacks recordings.
std::vector<FuzzTarget> reader_targets();
/// Every command, on a recording.
std::vector<FuzzTarget> command_targets();
/// Parsers of options and of files that are no recordings.
std::vector<FuzzTarget> text_targets();

std::vector<FuzzTarget> fuzz_targets();
/// Ends the program where there is no such target.
FuzzTarget target_named(std::string_view name);

/// Runs a target. Whatever it throws that it may not is told, and ends the program by a signal.
void run_target(const FuzzTarget& target, std::string_view bytes);

/// The names and numbers in texts, each once: words for what is written alike.
std::vector<std::string> words_in(const std::vector<std::string>& texts);

/// A few snapshots of a few entries, as pickles.
const std::vector<std::string>& small_snapshots();

/// The files of the bundled traces, the large ones left out.
std::vector<std::string> bundled_files();

}  // namespace memreplay
