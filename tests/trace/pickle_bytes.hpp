#pragma once

#include <string>
#include <string_view>

#include "trace/reader.hpp"
#include "trace/snapshot/torch_snapshot.hpp"

namespace memreplay {

using namespace std::string_literals;

// A few opcodes by name; texts go without memo.
inline const std::string kProto4 = "\x80\x04"s, kStop = "."s, kMark = "("s, kDict = "}"s,
                         kList = "]"s, kSetItems = "u"s, kAppends = "e"s, kAppend = "a"s,
                         kMemoize = "\x94"s;

inline std::string text(std::string_view value) {
  return "\x8c"s + static_cast<char>(value.size()) + std::string(value);
}

inline std::string number(std::int64_t value) {
  std::string op = "\x8a\x08"s;
  for (int i = 0; i < 8; ++i) op += static_cast<char>(value >> (8 * i));
  return op;
}

inline std::string get(unsigned char memo) { return "h"s + static_cast<char>(memo); }
inline std::string dict(const std::string& items) { return kDict + kMark + items + kSetItems; }
inline std::string list(const std::string& items) { return kList + kMark + items + kAppends; }

/// A trace entry; `more` are further keys and values.
inline std::string entry(std::string_view action, std::int64_t address, std::int64_t size,
                         const std::string& more = {}) {
  return dict(text("action") + text(action) + text("addr") + number(address) + text("size") +
              number(size) + text("stream") + number(0) + more);
}

inline std::string frame(std::string_view name, std::int64_t line) {
  return dict(text("name") + text(name) + text("filename") + text("a.py") + text("line") +
              number(line));
}

/// A whole pickle with one device whose trace has these entries.
inline std::string snapshot(const std::string& entries) {
  return kProto4 + dict(text("segments") + kList + text("device_traces") + list(list(entries))) +
         kStop;
}

inline TorchSnapshot read(const std::string& bytes) {
  return read_torch_pickle({"x.pickle", bytes});
}

/// What the reader says of these bytes; empty when it reads them.
inline std::string complaint(const std::string& bytes) {
  try {
    read(bytes);
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

}  // namespace memreplay
