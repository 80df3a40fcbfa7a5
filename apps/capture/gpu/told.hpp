#pragma once

#include <cstddef>
#include <string>

namespace memreplay::gpu {

/// What the person is told at the end of the recording.

/// The program looked at something that only a kernel could have computed.
void value_was_read(std::size_t size);
/// A workspace that the original library would have asked for, by a rule that is written down.
void workspace_was_modelled(const char* function, std::size_t size);
/// A kernel was launched of which there is no code that the card runs; the oldest code is of this
/// architecture (75: 7.5).
void code_was_missing(int architecture);
/// Counts a request of the program; its number, from 1.
std::size_t request_was_made();
/// Request `number` of the program was refused because it was told to be.
void request_was_refused(std::size_t number, std::size_t size);

}  // namespace memreplay::gpu
