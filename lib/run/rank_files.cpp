#include "run/rank_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>

#include "core/error.hpp"
#include "core/text.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kBetween = "_-.= ";
/// The first one counts before the others.
constexpr std::string_view kWords[] = {"rank", "worker", "process", "proc", "gpu"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return text;
}

// After the last such word of a name that a number follows.
std::optional<std::uint64_t> number_after(std::string_view word, const std::string& name) {
  const std::string text = lower(name);
  std::optional<std::uint64_t> rank;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) {
    const std::size_t begin = at + word.size();
    if (at > 0 && is_letter(text[at - 1])) continue;  // "frank3" is none
    std::size_t digits = begin;
    if (digits < text.size() && kBetween.find(text[digits]) != std::string_view::npos) ++digits;
    const std::size_t end = std::min(text.find_first_not_of(kDigits, digits), text.size());
    if (const auto number = parse_whole(text.substr(digits, end - digits))) rank = number;
  }
  return rank;
}

// Ignores what follows the first point after a letter or digit, as in "snapshot_3.pickle.gz".
std::string stem_of(const std::string& name) { return name.substr(0, name.find('.', 1)); }

std::optional<std::uint64_t> at_the_end(const std::string& name) {
  const std::string stem = stem_of(name);
  const std::size_t before = stem.find_last_not_of(kDigits);
  const std::size_t digits = before == std::string::npos ? 0 : before + 1;
  if (digits > 0 && kBetween.find(stem[digits - 1]) == std::string_view::npos) return std::nullopt;
  return parse_whole(stem.substr(digits));
}

std::optional<std::uint64_t> by_the_word(const std::string& path) {
  for (const std::string_view word : kWords) {
    std::optional<std::uint64_t> rank;
    for (const fs::path& part : fs::path(path)) {
      if (const auto found = number_after(word, part.string())) rank = found;
    }
    if (rank) return rank;
  }
  return std::nullopt;
}

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

// A file that names its rank by the word stands, even where the numbers of the others do not.
struct NamedFile {
  std::string path;
  std::optional<std::uint64_t> rank;
  bool by_the_word = false;
};

// Throws where the word names one twice: order would say something else than the names.
bool names_will_do(const std::vector<NamedFile>& files) {
  std::map<std::uint64_t, const NamedFile*> by_rank;
  bool will_do = true;
  for (const NamedFile& file : files) {
    if (!file.rank) return false;
    const auto [other, first] = by_rank.try_emplace(*file.rank, &file);
    if (first) continue;
    will_do = false;
    if (!file.by_the_word || !other->second->by_the_word) continue;
    throw UsageError(fmt::format("rank {} twice: {} and {}; expected one recording of a rank",
                                 *file.rank, other->second->path, file.path));
  }
  return will_do;
}

/// TensorBoard has profiles in plugins/profile/RUN/HOST.xplane.pb, a run named by its time: the
/// newest one in a folder is kept.
void keep_newest_run(std::vector<std::string>& files) {
  const auto runs_of = [](const std::string& file) {
    const fs::path runs = fs::path(file).parent_path().parent_path();
    const bool is = runs.filename() == "profile" && runs.parent_path().filename() == "plugins";
    return is ? runs.string() : std::string();
  };
  std::map<std::string, fs::path> newest;
  for (const std::string& file : files) {
    if (const std::string runs = runs_of(file); !runs.empty()) {
      newest[runs] = std::max(newest[runs], fs::path(file).parent_path());
    }
  }
  std::erase_if(files, [&](const std::string& file) {
    const auto run = newest.find(runs_of(file));
    return run != newest.end() && fs::path(file).parent_path() != run->second;
  });
}

}  // namespace

std::optional<std::uint64_t> rank_of_path(const std::string& path) {
  const auto rank = by_the_word(path);
  return rank ? rank : at_the_end(fs::path(path).filename().string());
}

bool names_show_ranks(const std::vector<std::string>& paths) {
  const auto has_word = [](const std::string& path) { return by_the_word(path).has_value(); };
  if (std::ranges::all_of(paths, has_word)) return true;
  std::set<std::uint64_t> numbers;
  std::set<std::string> names;
  for (const fs::path path : paths) {
    const std::string name = path.filename().string();
    const auto number = at_the_end(name);
    if (!number) return false;
    numbers.insert(*number);
    std::string stem = stem_of(name);
    stem.erase(stem.find_last_not_of(kDigits) + 1);
    names.insert((path.parent_path() / stem).string());
  }
  return names.size() == 1 && numbers.size() == paths.size() &&
         *numbers.rbegin() == paths.size() - 1;
}

std::vector<std::string> files_in(const std::string& path) {
  std::error_code failed;
  if (!fs::is_directory(path, failed)) return {path};
  std::vector<std::string> files;
  fs::recursive_directory_iterator entry(path, failed);
  for (; !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
    if (is_hidden(entry->path())) {
      entry.disable_recursion_pending();
    } else if (!entry->is_directory(failed)) {
      files.push_back(entry->path().string());
    }
  }
  if (failed) throw InputError(path, "", "cannot be read: " + failed.message());
  std::ranges::sort(files);
  keep_newest_run(files);
  return files;
}

RankFiles rank_files(const std::vector<std::string>& paths) {
  RankFiles found;
  std::vector<NamedFile> told;
  for (const std::string& path : paths) {
    std::error_code ignored;
    const bool searched = fs::is_directory(path, ignored);
    for (const std::string& file : files_in(path)) {
      if (searched && !seems_a_recording(file)) {
        found.others.push_back(file);
      } else {
        told.push_back({file, rank_of_path(file), by_the_word(file).has_value()});
      }
    }
  }
  if (!names_will_do(told)) found.ranks_from = RanksFrom::order;
  for (const NamedFile& file : told) {
    const bool named = found.ranks_from == RanksFrom::names;
    found.files.push_back({file.path, named ? *file.rank : found.files.size()});
  }
  std::ranges::sort(found.files, {}, &RankFile::rank);
  return found;
}

}  // namespace memreplay
