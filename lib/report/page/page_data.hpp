#pragma once

#include <string>
#include <vector>

#include "report/page/page.hpp"
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

}  // namespace memreplay
