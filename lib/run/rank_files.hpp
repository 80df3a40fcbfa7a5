#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace memreplay {

/// Who says which file is which rank.
enum class RanksFrom { names, order };

/// A file that is taken for the recording of a rank.
struct RankFile {
  std::string path;
  std::uint64_t rank = 0;
};

/// What is there to be replayed, by ascending rank.
struct RankFiles {
  std::vector<RankFile> files;
  RanksFrom ranks_from = RanksFrom::names;
  std::vector<std::string> others;  ///< files of a folder that are no recordings, by their content
};

/// The rank that a path tells: after the word in its name or in that of a folder
/// ("oom_rank3.pickle", "rank_05/run.pickle"), else after another ("worker3.pickle"), else a number
/// that ends or makes up the name ("snapshot_3.pickle", "7.pickle.gz").
std::optional<std::uint64_t> rank_of_path(const std::string& path);

/// Whether names alone show that files are of ranks: each says so with a word, or they differ by a
/// number at their end alone, which counts from 0.
bool names_show_ranks(const std::vector<std::string>& paths);

/// A folder's files at any depth, in the order of their paths; what is hidden is left out. A path
/// that is no folder is itself. Throws InputError.
std::vector<std::string> files_in(const std::string& path);

/// The files of folders and those named. Where some file tells no rank, or two tell the same number
/// without the word, ranks count by the order of the paths. Throws InputError, and UsageError where
/// two are of one rank.
RankFiles rank_files(const std::vector<std::string>& paths);

}  // namespace memreplay
