#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "extensions/page/page.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {

/// What the page's scripts read: a description, and the texts that it refers to by their ids.
struct PageData {
  struct Text {
    std::string id;
    std::string text;
  };
  Json description;
  std::vector<Text> texts;
  std::vector<std::string> left_out;  ///< sentences
};

PageData page_data(const PageAnswer& page);

/// Compressed by zlib, quickly.
std::string deflated(const std::string& bytes);
std::string base64(const std::string& bytes);

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
