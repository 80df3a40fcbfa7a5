#pragma once

namespace memreplay::capture {

/// A handle, never to be closed, of a library that the process has loaded, for some of its parts
/// alone perhaps; by how its file's name begins. Null where there is none.
void* loaded_library(const char* begins);

}  // namespace memreplay::capture
