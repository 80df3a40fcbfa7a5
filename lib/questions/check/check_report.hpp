#pragma once

#include <span>
#include <string>
#include <string_view>

#include "questions/check/answer.hpp"
#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

class JsonFields;

/// What is over its limit, where, and what grew; then what is within.
std::string to_text(const CheckAnswer& answer, const TextStyle& style);
/// The schema "memreplay/1" with every value under "metrics".
std::string to_json(const CheckAnswer& answer);
/// A row a value, exact.
Table to_table(const CheckAnswer& answer);
/// For a pull request: what is over the limit first, then what grew. GitHub's dialect.
std::string to_markdown(const CheckAnswer& answer);
/// JUnit's XML: a test case for each value.
std::string to_junit(const CheckAnswer& answer);
/// GitHub's workflow commands: an error on each line of code that grew, where something failed.
std::string to_github(const CheckAnswer& answer);
/// Bencher's metric format, JSON: what is estimated with its interval as bounds.
std::string to_bencher(const CheckAnswer& answer);
/// The JSON that github-action-benchmark reads as customSmallerIsBetter.
std::string to_benchmark_action(const CheckAnswer& answer);
/// PyTorch's records of benchmarks, version 3, JSON.
std::string to_oss_benchmark(const CheckAnswer& answer);

/// What other programs read of a check, each into a file of its own.
struct CheckFormat {
  std::string_view option;
  std::string_view sentence;  ///< shown in the help
  std::string (*write)(const CheckAnswer&) = nullptr;
  bool rare = false;         ///< for the long help
  bool beside_text = false;  ///< on standard output the text follows it
};
std::span<const CheckFormat> check_formats();

/// A line for each entry that was updated, and what changed in it.
std::string to_text(const UpdateAnswer& answer, const TextStyle& style);
/// The schema "memreplay/1" with the changes of every entry.
std::string to_json(const UpdateAnswer& answer);
/// A row for each value that changed, exact.
Table to_table(const UpdateAnswer& answer);

/// The keys of its JSON.
void fields(JsonFields& f, const CheckAnswer& answer);
void fields(JsonFields& f, const UpdateAnswer& answer);

}  // namespace memreplay
