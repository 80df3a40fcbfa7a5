#pragma once

#include <string>
#include <string_view>

#include "report/parts/json_parts.hpp"

namespace memreplay {

/// Columns of bytes one after the other, compressed (zlib) and as base64: what unpack.js reads.
class Blob {
 public:
  void add(std::string_view name, std::string_view bytes);

  /// Where each column lies: name -> [first byte, bytes].
  const Json& table() const { return table_; }
  std::string packed() const;

 private:
  Json table_ = Json::object();
  std::string bytes_;
};

}  // namespace memreplay
