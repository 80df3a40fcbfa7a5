#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/reader.hpp"

namespace memreplay {

struct PprofLine {
  std::string_view name;  ///< the function
  std::string_view file;
  std::uint64_t line = 0;  ///< 0: not known
};
struct PprofLocation {
  std::uint64_t address = 0;
  std::vector<PprofLine> lines;  ///< innermost first
};
struct PprofSample {
  std::vector<std::size_t> locations;  ///< positions, innermost first
  std::vector<std::uint64_t> values;   ///< one of each type
  std::string_view device;             ///< a label of JAX
  std::string_view kind;               ///< likewise: "buffer", "executable"
};
/// PprofSample::kind of the code of a compiled program.
inline constexpr std::string_view kExecutable = "executable";

/// "inuse_space" in "bytes"
struct PprofType {
  std::string_view type;
  std::string_view unit;
};

/// What a profile says; texts are those of the file.
struct PprofProfile {
  std::vector<PprofType> types;
  std::vector<PprofSample> samples;
  std::vector<PprofLocation> locations;
};

/// Whether it begins as such a protobuf does, with the type of a value.
bool is_pprof_protobuf(std::string_view bytes);

/// Throws InputError with the byte where it is cut off or damaged.
PprofProfile parse_pprof(const Input& input);

/// Which values of a sample are of memory in use.
struct PprofValues {
  std::size_t bytes = 0;
  std::optional<std::size_t> count = {};
};
/// Throws InputError for a profile of something else: of a CPU's time, or of all that was
/// allocated.
PprofValues values_in_use(const Input& input, const PprofProfile& profile);

}  // namespace memreplay
