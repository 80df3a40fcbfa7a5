#pragma once

#include <string>
#include <string_view>

/// What print(torch.cuda.memory_snapshot()), or of _snapshot(), shows: a snapshot as Python writes
/// it.
namespace memreplay {

/// Where it begins near the beginning of a text, amid other lines; npos where there is none.
std::size_t printed_snapshot_in(std::string_view text);

/// Its text as JSON, from there to its end: other names for null and truth values, lists for
/// tuples, one kind of quotation marks.
std::string json_of_printed(std::string_view text);

}  // namespace memreplay
