#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/check/check.hpp"
#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

struct CheckReport {
  std::string baseline;  ///< path as given
  std::vector<EntryCheck> entries;
  std::vector<std::string> not_checked;  ///< what else the baseline has, in words
  bool interrupted = false;              ///< there would have been more entries

  bool passed() const;
};

/// What `--update` did to one entry.
struct EntryUpdate {
  struct Change {
    const CheckedMetric* metric = nullptr;
    std::optional<std::uint64_t> before;  ///< nothing: it is new
    std::optional<std::uint64_t> after;   ///< nothing: it is no longer there
  };
  EntryCheck check;
  enum class Kind { fresh, changed, same };
  Kind kind = Kind::same;
  std::vector<Change> changes;  ///< of values that are no longer the same
};

struct UpdateReport {
  std::string baseline;  ///< path as given
  std::vector<EntryUpdate> entries;
};

std::string check_text(const CheckReport& report, const TextStyle& style);
std::string check_json(const CheckReport& report);
/// A row a value, exact, for CSV.
Table check_table(const CheckReport& report);
/// For a pull request: what is over the limit first, then what grew. GitHub's dialect.
std::string check_markdown(const CheckReport& report);
/// JUnit's XML: a test case for each value.
std::string check_junit(const CheckReport& report);

std::string update_text(const UpdateReport& report);
std::string update_json(const UpdateReport& report);
Table update_table(const UpdateReport& report);

}  // namespace memreplay
