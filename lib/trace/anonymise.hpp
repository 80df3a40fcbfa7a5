#pragma once

#include "trace/trace.hpp"

namespace memreplay {

struct AnonymiseOptions {
  bool keep_settings_text = false;  ///< the configuration string names known options only
};

/// A copy of a recording with nothing in it but sizes, order and structure. Texts become
/// function_3, tag_1 and annotation_2, equal ones equal, empty ones empty. A file keeps its number,
/// that of its folder or package, and whose code it is: folder_0/file_2.py is the program's own,
/// site-packages/folder_1/file_4.py is not. Lines stay. Times count from the first. Streams, pools,
/// threads and ids are numbered in their order. All addresses move by one whole number of 2 MiB, so
/// that the lowest of them is at 2^44. Every replay and verification gives what it gave for the
/// recording. O(events).
Recording anonymised(Recording recording, const AnonymiseOptions& options);

}  // namespace memreplay
