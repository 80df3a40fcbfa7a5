#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "analysis/page/placed_blocks.hpp"
#include "analysis/page/trace_picture.hpp"
#include "report/explain/explain.hpp"
#include "report/results.hpp"

namespace memreplay {

/// One device of a recording; every run has its picture.
struct PageDevice {
  ReplayReport report;
  TracePicture trace;
  std::vector<PlacedBlocks> placed;  ///< by run
  ExplainReport explained;
  std::vector<std::string> settings;  ///< sentences
};

struct Page {
  std::string version;  ///< of the program
  std::vector<PageDevice> devices;
  Bytes most_bytes = 14 * 1000 * 1000;  ///< where a page grows beyond, places are left out
};

/// One file of HTML with everything in it: nothing is fetched when it is looked at. Places of
/// blocks are left out, those of the last strategies first, where they would make it larger than
/// asked for; the page says so.
void write_page(const Page& page, std::ostream& out);

}  // namespace memreplay
