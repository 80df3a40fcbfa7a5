#pragma once

#include "trace/reader.hpp"

namespace memreplay {

// Every reader, by its name in readers.def: `ReaderInfo csv_reader()`.
#define MEMREPLAY_READER(identifier, file) ReaderInfo identifier##_reader();
#include "registered/readers.def"
#undef MEMREPLAY_READER

}  // namespace memreplay
