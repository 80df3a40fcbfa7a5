#pragma once

#include "trace/trace.hpp"

namespace memreplay {

struct AnonymiseOptions {
  bool keep_settings_text = false;  ///< the configuration string names known options only
};

/// A copy of a recording with nothing in it but sizes, order and structure. Texts become frame_3,
/// file_0, tag_1 and annotation_2, equal ones equal, empty ones empty; line numbers 0. Times count
/// from the first. Streams, pools, threads and ids are numbered in their order. All addresses move
/// by one whole number of 2 MiB, so that the lowest of them is at 2^44. Every replay and
/// verification gives what it gave of the recording. O(events).
Recording anonymised(Recording recording, const AnonymiseOptions& options);

}  // namespace memreplay
