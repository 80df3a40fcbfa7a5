#pragma once

#include <cstddef>

namespace memreplay::web {

/// Whole pages of WebAssembly's memory, the first that are free; null where there are no more.
void* take_pages(std::size_t bytes);
/// False where this is no block of such pages.
bool give_back(void* memory);

}  // namespace memreplay::web
