#pragma once

#include "trace/reader.hpp"

namespace memreplay {

/// What allocators say when they refuse a request, pasted from a log: a state, no events.
ReaderInfo failure_text_reader();

}  // namespace memreplay
