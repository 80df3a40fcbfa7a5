#pragma once

#include <functional>
#include <span>
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
/// Parsers of options and of files that are no recordings.
std::vector<FuzzTarget> text_targets();
/// Commands; those that take any file begin with what others do.
std::vector<FuzzTarget> command_targets(const std::vector<FuzzTarget>& others);

std::vector<FuzzTarget> fuzz_targets();
/// Ends the program where there is no such target.
FuzzTarget target_named(std::string_view name);

/// Runs a target. Whatever it throws that it may not is told, and ends the program by a signal, as
/// does what takes more than 20 seconds of the processor.
void run_target(const FuzzTarget& target, std::string_view bytes);

/// The names and numbers in texts, each once: words for what is written alike.
std::vector<std::string> words_in(const std::vector<std::string>& texts);

/// What numbers and names are not.
std::span<const std::string_view> hostile_texts();

/// Each strategy, and each of its options, that needs no real memory.
std::vector<std::string> simulated_strategies();

/// A few snapshots of a few entries, as pickles.
const std::vector<std::string>& small_snapshots();

/// Replays that say what the originals do where memory runs out.
std::vector<std::string> failure_texts();

/// The path of a file of the bundled traces.
std::string bundled_file(const std::string& name);
/// Their contents, the large ones left out.
std::vector<std::string> bundled_files();

}  // namespace memreplay
