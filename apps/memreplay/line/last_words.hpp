#pragma once

#include <string_view>

namespace memreplay {

/// The recording that the work is about from now on, named where memory runs out; empty: no single
/// one.
void set_recording(std::string_view path);

/// What a signal leaves behind from now on, one line; empty: nothing.
void set_left_behind(std::string_view line);

/// From here on the program ends in order, with nothing left of its unfinished files: without
/// memory and when a recording is cut short under it with a line and exit 2, by a signal that ends
/// programs with that signal.
void prepare_last_words();

/// The end without memory. Needs none.
[[noreturn]] void end_without_memory();
/// The end by a signal. To be called in its handler.
void end_by(int signal);

}  // namespace memreplay
