#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/option_info.hpp"
#include "core/units.hpp"

namespace memreplay {

/// The options of a workload by their keys, each as given or by its default. What means nothing
/// throws UsageError with the workload, the key and what was expected.
class WorkloadValues {
 public:
  /// `given`: "key=value,…", of keys among `known`; the last one wins.
  WorkloadValues(std::string_view workload, const std::vector<OptionInfo>& known,
                 std::string_view given);

  std::uint64_t whole(std::string_view key, std::uint64_t least, std::uint64_t most) const;
  /// Within [least, most].
  double number(std::string_view key, double least, double most) const;
  /// Within [1 byte, 1 TiB].
  Bytes size(std::string_view key) const;
  /// The index of the value among those that the option's `values` show.
  std::size_t choice(std::string_view key) const;

 private:
  const std::string& text(std::string_view key) const;
  [[noreturn]] void bad(std::string_view key, std::string_view expected) const;

  std::string workload_;
  const std::vector<OptionInfo>& known_;
  std::vector<std::string> texts_;  ///< by option
};

}  // namespace memreplay
