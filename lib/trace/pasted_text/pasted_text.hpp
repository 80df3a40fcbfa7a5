#pragma once

#include "trace/reader.hpp"

namespace memreplay {

/// Messages about memory that somebody pasted, from a log or a screen: figures, no events.
ReaderInfo pasted_text_reader();

}  // namespace memreplay
