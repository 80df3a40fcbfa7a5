#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/text.hpp"
#include "program/places.hpp"

namespace memreplay {
namespace {

/// "enc/model.py:41 forward" in its parts; what is no line of a file is a function alone.
struct Parts {
  std::string file;
  std::string function;  ///< with the blank before it
  std::uint64_t number = 0;
};

Parts parts_of(const std::string& place) {
  constexpr std::string_view kEnd = ".py";
  const std::size_t colon = place.find(':');
  const std::size_t blank = place.find(' ', colon);
  if (blank != std::string::npos) {
    if (const auto line = parse_whole(place.substr(colon + 1, blank - colon - 1))) {
      return {place.substr(0, colon), place.substr(blank), *line};
    }
  }
  const std::size_t end = place.find(kEnd);
  const std::size_t behind = end == place.npos ? 0 : end + kEnd.size();
  return {place.substr(0, behind), place.substr(behind), 0};
}

struct Line {
  std::uint64_t number = 0;
  std::string file;
  std::string place;
};
using Lines = std::vector<Line>;

// The places of one function on either side, by line.
struct Function {
  Lines before;
  Lines now;
};

bool ends_with_path(const std::string& path, const std::string& end) {
  return path.size() > end.size() && path.ends_with(end) &&
         path[path.size() - end.size() - 1] == '/';
}

/// One name for files of both sides that are one: how many folders a name has depends on the other
/// files of its recording.
class Files {
 public:
  Files(const std::set<std::string>& before, const std::set<std::string>& now)
      : before_(files_in(before)), now_(files_in(now)) {
    for (const std::string& file : before_) {
      if (now_.contains(file)) continue;
      for (const std::string& other : now_) {
        if (before_.contains(other)) continue;
        if (ends_with_path(file, other)) join(file, other);
        if (ends_with_path(other, file)) join(other, file);
      }
    }
  }

  const std::string& name(const std::string& file) const {
    const auto found = names_.find(file);
    return found == names_.end() ? file : name(found->second);
  }

 private:
  static std::set<std::string> files_in(const std::set<std::string>& places) {
    std::set<std::string> files;
    for (const std::string& place : places) files.insert(parts_of(place).file);
    return files;
  }

  // The name that the files of both have is the shorter one.
  void join(const std::string& file, const std::string& shorter) {
    const std::string one = name(file);
    const std::string other = name(shorter);
    if (one == other) return;
    const bool first = other.size() <= one.size();
    names_[first ? one : other] = first ? other : one;
  }

  std::set<std::string> before_, now_;
  std::map<std::string, std::string> names_;
};

void add(const std::set<std::string>& places, const Files& files, Lines Function::*side,
         std::map<std::string, Function>& functions) {
  for (const std::string& place : places) {
    const Parts parts = parts_of(place);
    const std::string function = files.name(parts.file) + parts.function;
    (functions[function].*side).push_back({parts.number, parts.file, place});
  }
}

const Line* same_line(const Line& line, const Lines& others) {
  const auto found = std::ranges::find(others, line.number, &Line::number);
  return found == others.end() ? nullptr : &*found;
}

bool among(const Lines& some, const Lines& all) {
  return std::ranges::all_of(some,
                             [&](const Line& line) { return same_line(line, all) != nullptr; });
}

bool has_twice(const Lines& lines) {
  return std::ranges::adjacent_find(lines, {}, &Line::number) != lines.end();
}

bool in_one_file(const Lines& lines) {
  return std::ranges::all_of(lines,
                             [&](const Line& line) { return line.file == lines.front().file; });
}

std::vector<std::string> names(const Lines& lines) {
  std::vector<std::string> places;
  for (const Line& line : lines) places.push_back(line.place);
  return places;
}

std::vector<std::string> name_of_same(const Line& line, const Lines& others) {
  const Line* same = same_line(line, others);
  return same == nullptr ? std::vector<std::string>() : std::vector{same->place};
}

void match(const std::string& name, const Function& function, std::vector<PlacePair>& pairs) {
  const auto& [before, now] = function;
  const bool told_apart = !has_twice(before) && !has_twice(now);
  if (told_apart && among(before, now)) {
    for (const Line& line : now) {
      pairs.push_back({name, line.place, name_of_same(line, before), {line.place}});
    }
  } else if (told_apart && among(now, before)) {
    for (const Line& line : before) {
      const Line* stayed = same_line(line, now);
      pairs.push_back({name,
                       stayed != nullptr ? stayed->place : line.place,
                       {line.place},
                       name_of_same(line, now)});
    }
  } else if (told_apart && before.size() == now.size() && in_one_file(before) && in_one_file(now)) {
    for (std::size_t i = 0; i < now.size(); ++i) {
      pairs.push_back({name, now[i].place, {before[i].place}, {now[i].place}});
    }
  } else {
    pairs.push_back({name, name, names(before), names(now)});
  }
}

using Sizes = std::map<Bytes, std::uint64_t>;  // and how often

Sizes sizes_of(const std::vector<std::string>& names, const PlaceSizes& places) {
  Sizes sum;
  for (const std::string& name : names) {
    const auto found = places.find(name);
    if (found == places.end()) continue;
    for (const auto& [size, count] : found->second) sum[size] += count;
  }
  return sum;
}

// The part of the bytes that both request in the same sizes.
double share_alike(const Sizes& a, const Sizes& b) {
  Bytes both = 0;
  Bytes of_a = 0;
  Bytes of_b = 0;
  for (const auto& [size, count] : a) {
    of_a += size * count;
    const auto found = b.find(size);
    if (found != b.end()) both += size * std::min(count, found->second);
  }
  for (const auto& [size, count] : b) of_b += size * count;
  const Bytes most = std::max(of_a, of_b);
  return most == 0 ? 0 : static_cast<double>(both) / static_cast<double>(most);
}

// How well two places of different names go together; 0: not at all.
double likeness(const std::string& gone, const std::string& fresh, double share) {
  const Parts a = parts_of(gone);
  const Parts b = parts_of(fresh);
  const bool file = !a.file.empty() && a.file == b.file;
  const bool function = a.function == b.function;
  const bool line = a.number != 0 && a.number == b.number;
  if (line && (file || function)) return 1 + share;
  return (file || function) && share >= 0.5 ? share : 0;
}

}  // namespace

void join_renamed(std::vector<PlacePair>& pairs, const PlaceSizes& before, const PlaceSizes& now) {
  std::vector<std::tuple<double, std::size_t, std::size_t>> alike;  // the best last
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (!pairs[i].now.empty()) continue;
    for (std::size_t j = 0; j < pairs.size(); ++j) {
      if (!pairs[j].before.empty()) continue;
      const double share =
          share_alike(sizes_of(pairs[i].before, before), sizes_of(pairs[j].now, now));
      const double like = likeness(pairs[i].name, pairs[j].name, share);
      if (like > 0) alike.emplace_back(like, i, j);
    }
  }
  std::ranges::sort(alike);
  for (; !alike.empty(); alike.pop_back()) {
    const auto [like, gone, fresh] = alike.back();
    if (pairs[gone].before.empty() || !pairs[fresh].before.empty()) continue;  // taken
    pairs[fresh].before = std::exchange(pairs[gone].before, {});
    pairs[fresh].renamed = true;
  }
  std::erase_if(pairs,
                [](const PlacePair& pair) { return pair.before.empty() && pair.now.empty(); });
}

std::vector<PlacePair> match_places(const std::set<std::string>& before,
                                    const std::set<std::string>& now) {
  const Files files(before, now);
  std::map<std::string, Function> functions;
  add(before, files, &Function::before, functions);
  add(now, files, &Function::now, functions);
  std::vector<PlacePair> pairs;
  for (auto& [name, function] : functions) {
    std::ranges::sort(function.before, {}, &Line::number);
    std::ranges::sort(function.now, {}, &Line::number);
    match(name, function, pairs);
  }
  return pairs;
}

}  // namespace memreplay
