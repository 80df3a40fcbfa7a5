#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "trace/event_sink.hpp"
#include "trace/pointer_log.hpp"
#include "trace/reader.hpp"

namespace memreplay {

/// Takes events, and keeps nothing.
class ForgottenEvents final : public EventSink {
 public:
  void add(std::size_t, const EventColumns&) override {}
  void finish(const Recording&) override {}
};

// Of a Reader(input, options, begin), or Reader(input, begin), with `read_all()` and `take()`.

/// Hands the events on.
template <typename Reader>
Recording read_and_hand_on(const Input& input, const ReadOptions& options,
                           const BeginEvents& begin) {
  const auto read = [](auto reader) {
    reader->read_all();
    return reader->take();
  };
  if constexpr (std::is_constructible_v<Reader, const Input&, const BeginEvents&>) {
    return read(std::make_unique<Reader>(input, begin));
  } else {
    return read(std::make_unique<Reader>(input, options, begin));
  }
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

/// The same for events that leave as they come.
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
