#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "trace/device_streams.hpp"
#include "trace/pointer_log.hpp"
#include "trace/reader.hpp"

namespace memreplay {

// For a Reader(input, options, begin), or Reader(input, begin), with `read_all()` and `take()`.

template <typename Reader>
std::unique_ptr<Reader> reader_of(const Input& input, const ReadOptions& options,
                                  const BeginEvents& begin) {
  if constexpr (std::is_constructible_v<Reader, const Input&, const BeginEvents&>) {
    return std::make_unique<Reader>(input, begin);
  } else {
    return std::make_unique<Reader>(input, options, begin);
  }
}

/// Hands the events on, and tells whether there were any.
template <typename Reader>
bool stream_as_read(const Input& input, const ReadOptions& options, const BeginEvents& begin) {
  return reader_of<Reader>(input, options, begin)->read_all();
}

/// Hands the events on.
template <typename Reader>
Recording read_and_hand_on(const Input& input, const ReadOptions& options,
                           const BeginEvents& begin) {
  const auto reader = reader_of<Reader>(input, options, begin);
  reader->read_all();
  return reader->take();
}

/// Keeps them.
template <typename Reader>
Recording read_and_keep(const Input& input, const ReadOptions& options) {
  return read_and_hand_on<Reader>(input, options, {});
}

// A log whose frees say sizes is read by a Reader(input, begin, earlier) with `read_all()`,
// `earlier()` and `take()`. Where it frees blocks that were there before it, which is known at its
// end, it is read again with those ahead of all else.

template <typename Reader>
Recording read_log(const Input& input, const BeginEvents& begin = {}) {
  for (EarlierPointers earlier;;) {
    Reader reader(input, begin, earlier);
    reader.read_all();
    EarlierPointers better = reader.earlier();
    if (!better) return reader.take();
    earlier = std::move(better);
  }
}

/// As read_log, for events that leave as they come.
template <typename Reader>
bool stream_log(const Input& input, const BeginEvents& begin) {
  ForgottenEvents nowhere;
  for (EarlierPointers earlier;;) {
    Reader reader(
        input, [&]() -> EventSink& { return nowhere; }, earlier);
    if (!reader.read_all()) return false;
    EarlierPointers better = reader.earlier();
    if (!better) return Reader(input, begin, earlier).read_all();
    earlier = std::move(better);
  }
}

}  // namespace memreplay
