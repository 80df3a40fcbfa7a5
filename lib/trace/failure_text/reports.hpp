#pragma once

#include <optional>
#include <string_view>

#include "core/told_failure.hpp"

/// Failures told by a text, which may hold other lines too and be cut at either end. Unset where
/// it holds no such thing.
namespace memreplay {

/// The first report of a BFC allocator, with or without the prefixes of a log.
std::optional<ToldFailure> told_by_bfc(std::string_view text);

/// PyTorch's error message, in the words of its releases since 1.0, and what
/// `torch.cuda.memory_summary()` printed, of the same device where there are several.
std::optional<ToldFailure> told_by_torch(std::string_view text);

/// The line at the beginning of `text` with its line break, which is taken off; empty at the end.
std::string_view take_line(std::string_view& text);

}  // namespace memreplay
