#include "analysis/recorded/place_matching.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

#include "core/text.hpp"

namespace memreplay {
namespace {

struct Line {
  std::uint64_t number = 0;
  std::string place;
};
using Lines = std::vector<Line>;

// The places of one function on either side, by line.
struct Function {
  Lines before;
  Lines now;
};

void add(const std::set<std::string>& places, Lines Function::*side,
         std::map<std::string, Function>& functions) {
  for (const std::string& place : places) {
    std::string function = place;
    std::uint64_t number = 0;
    const std::size_t colon = place.find(':');
    const std::size_t blank = place.find(' ', colon);
    if (blank != std::string::npos) {
      if (const auto line = parse_whole(place.substr(colon + 1, blank - colon - 1))) {
        function.erase(colon, blank - colon);
        number = *line;
      }
    }
    (functions[function].*side).push_back({number, place});
  }
}

bool among(const Lines& some, const Lines& all) {
  return std::ranges::all_of(some, [&](const Line& line) {
    return std::ranges::find(all, line.place, &Line::place) != all.end();
  });
}

std::vector<std::string> names(const Lines& lines) {
  std::vector<std::string> places;
  for (const Line& line : lines) places.push_back(line.place);
  return places;
}

void match(const std::string& name, const Function& function, std::vector<PlacePair>& pairs) {
  const auto& [before, now] = function;
  if (among(before, now)) {
    for (const Line& line : now) {
      const bool known = among({line}, before);
      pairs.push_back(
          {name, line.place, names(known ? Lines{line} : Lines{}), std::vector{line.place}});
    }
  } else if (among(now, before)) {
    for (const Line& line : before) {
      const bool stayed = among({line}, now);
      pairs.push_back(
          {name, line.place, std::vector{line.place}, names(stayed ? Lines{line} : Lines{})});
    }
  } else if (before.size() == now.size()) {
    for (std::size_t i = 0; i < now.size(); ++i) {
      pairs.push_back({name, now[i].place, {before[i].place}, {now[i].place}});
    }
  } else {
    pairs.push_back({name, name, names(before), names(now)});
  }
}

}  // namespace

std::vector<PlacePair> match_places(const std::set<std::string>& before,
                                    const std::set<std::string>& now) {
  std::map<std::string, Function> functions;
  add(before, &Function::before, functions);
  add(now, &Function::now, functions);
  std::vector<PlacePair> pairs;
  for (auto& [name, function] : functions) {
    std::ranges::sort(function.before, {}, &Line::number);
    std::ranges::sort(function.now, {}, &Line::number);
    match(name, function, pairs);
  }
  return pairs;
}

}  // namespace memreplay
