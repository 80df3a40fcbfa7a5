#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "extensions/what_if/edit/selector.hpp"
#include "program/rewrite.hpp"
#include "run/what_if.hpp"

namespace memreplay {

/// torch.utils.checkpoint around the code that is selected: what its forward saves dies when it
/// would without a backward, and is computed again before that.
struct CheckpointEdit {
  std::uint32_t group = 1;                ///< so many successive layers in one
  std::optional<std::uint32_t> inner;     ///< within each such group one more for so many layers
  std::optional<std::uint32_t> only;      ///< layers 0, K, 2K, … alone
  std::optional<std::uint32_t> segments;  ///< all layers in so many, the last one plain
  bool reentrant = false;
};

/// torch.autograd.graph.save_on_cpu: what is saved goes to host memory and comes back.
struct OffloadEdit {
  std::optional<double> bandwidth;    ///< bytes a second; unset: no time is reported
  bool pinned = false;                ///< in pinned memory, rounded as that is
  std::optional<std::uint32_t> only;  ///< only layers 0, K, 2K, … of the selected code
};

struct ScaleEdit {
  double factor = 0;  ///< above 0
};

struct DropEdit {};

struct ShortenEdit {
  std::uint64_t events = 0;  ///< so many at most from birth to free; above 0
};

/// Elements of another width.
struct DtypeEdit {
  std::string from = "fp32";
  std::string to = "bf16";
};

/// torch.autocast around every forward pass.
struct AutocastEdit {
  std::string to = "bf16";  ///< or fp16
  bool cache = true;        ///< cache_enabled: a weight is cast once for a pass
};

/// One thing that is another in the program.
struct Edit {
  std::string text;  ///< as it was given
  std::variant<CheckpointEdit, OffloadEdit, ScaleEdit, DropEdit, ShortenEdit, DtypeEdit,
               AutocastEdit>
      what;
  Selector selector;
};

/// Bytes of an element: 2 of "bf16"; 0 of a name that is none.
Bytes bytes_of_dtype(std::string_view name);

/// "VERB:KEY=VALUE,…", see the options. Throws UsageError.
Edit parse_edit(const std::string& text);

/// "KEY=VALUE,…" as in an edit. Throws UsageError.
Selector parse_selector(const std::string& option, const std::string& text);

/// The recording with the edits made one after the other. Throws UsageError where one selects
/// nothing, or needs what the recording lacks. O(edits · events), for each of the guesses.
MadeRecordings edited(const Subject& subject, std::span<const Edit> edits);

/// Each of them edited: the likeliest ways of the others stand beside those of the likeliest.
MadeRecordings edited(const MadeRecordings& made, std::span<const Edit> edits);

}  // namespace memreplay
