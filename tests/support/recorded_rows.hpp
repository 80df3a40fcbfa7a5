#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace memreplay {

/// A row of a trace beside results of an original: cells without quotes, an empty one is 0.
struct RecordedCells {
  std::vector<std::string> texts;

  std::uint64_t number(std::size_t i) const { return texts[i].empty() ? 0 : std::stoull(texts[i]); }
};

/// The rows after the header; each has at least so many cells.
inline std::vector<RecordedCells> recorded_rows(const std::filesystem::path& trace,
                                                std::size_t cells) {
  std::ifstream in(trace);
  std::vector<RecordedCells> rows;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    RecordedCells row;
    std::stringstream text(line);
    for (std::string cell; std::getline(text, cell, ',');) row.texts.push_back(cell);
    row.texts.resize(cells);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace memreplay
