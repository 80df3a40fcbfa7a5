#include "extensions/heaps/pprof_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>

#include "core/error.hpp"
#include "core/units.hpp"
#include "extensions/heaps/proto_fields.hpp"

namespace memreplay {
namespace {

struct PprofFunction {
  std::uint64_t name = 0;
  std::uint64_t file = 0;
};

/// The parts of a profile refer to one another by numbers, in any order.
class PprofParts {
 public:
  explicit PprofParts(const Input& input) : input_(input) {
    for_each_field(input, input.bytes, [&](const ProtoField& field) {
      if (field.wire != kLengthGiven) return;
      switch (field.number) {
        case 1:
          return types_.push_back(field.bytes);
        case 2:
          return samples_.push_back(field.bytes);
        case 4:
          return add_location(field.bytes);
        case 5:
          return add_function(field.bytes);
        case 6:
          return texts_.push_back(field.bytes);
        default:
          return;
      }
    });
  }

  PprofProfile profile() {
    PprofProfile profile;
    for (const std::string_view bytes : types_) {
      const auto [type, unit] = numbers_of(input_, bytes, 1, 2);
      profile.types.push_back({text(type), text(unit)});
    }
    for (const std::string_view bytes : locations_) profile.locations.push_back(location(bytes));
    for (const std::string_view bytes : samples_) {
      profile.samples.push_back(sample(bytes, profile.types.size()));
    }
    return profile;
  }

 private:
  std::string_view text(std::uint64_t number) const {
    return number < texts_.size() ? texts_[number] : std::string_view();
  }
  void add_location(std::string_view bytes) {
    location_numbers_.emplace(numbers_of(input_, bytes, 1, 1).first, locations_.size());
    locations_.push_back(bytes);
  }
  void add_function(std::string_view bytes) {
    const auto [id, name] = numbers_of(input_, bytes, 1, 2);
    functions_[id] = {name, numbers_of(input_, bytes, 4, 4).first};
  }
  PprofLocation location(std::string_view bytes) const {
    PprofLocation location;
    for_each_field(input_, bytes, [&](const ProtoField& field) {
      if (field.number == 3) location.address = field.value;
      if (field.number != 4) return;
      const auto [id, line] = numbers_of(input_, field.bytes, 1, 2);
      const auto function = functions_.find(id);
      if (function == functions_.end()) return;
      location.lines.push_back({text(function->second.name), text(function->second.file), line});
    });
    return location;
  }
  PprofSample sample(std::string_view bytes, std::size_t types) const;

  const Input& input_;
  std::vector<std::string_view> types_, samples_, locations_, texts_;
  std::unordered_map<std::uint64_t, std::size_t> location_numbers_;
  std::unordered_map<std::uint64_t, PprofFunction> functions_;
};

PprofSample PprofParts::sample(std::string_view bytes, std::size_t types) const {
  PprofSample sample;
  for_each_field(input_, bytes, [&](const ProtoField& field) {
    if (field.number == 1) {
      for_each_number(input_, field, [&](std::uint64_t id) {
        const auto known = location_numbers_.find(id);
        if (known != location_numbers_.end()) sample.locations.push_back(known->second);
      });
    } else if (field.number == 2) {
      for_each_number(input_, field, [&](std::uint64_t value) { sample.values.push_back(value); });
    } else if (field.number == 3) {
      const auto [key, value] = numbers_of(input_, field.bytes, 1, 2);
      if (text(key) == "device") sample.device = text(value);
      if (text(key) == "kind") sample.kind = text(value);
    }
  });
  if (sample.values.size() != types) {
    ProtoMessage(input_, bytes)
        .fail(fmt::format("a sample has {} values; expected {}", sample.values.size(), types));
  }
  for (std::size_t i = 0; i < types; ++i) {
    // A TPU does not say how large a compiled program is.
    if (sample.kind == kExecutable && sample.values[i] == UINT64_MAX) sample.values[i] = 0;
    if (sample.values[i] >= kMostBytes) {
      ProtoMessage(input_, bytes).fail("a value of a sample is negative, or 1 EiB or more");
    }
  }
  return sample;
}

}  // namespace

bool is_pprof_protobuf(std::string_view bytes) {
  // Fields of a Profile, the type of its values among the first: two numbers of texts, each in one
  // or two bytes. Which field begins it depends on who wrote it.
  constexpr std::size_t kShortestType = 2, kLongestType = 8, kLongestNumber = 10;
  constexpr std::uint64_t kType = 1, kTypeOfPeriod = 11, kLastField = 15;
  bool has_type = false;
  while (bytes.size() > 1) {
    const auto key = static_cast<unsigned char>(bytes[0]);
    const std::uint64_t number = key >> 3;
    const bool is_type = number == kType || number == kTypeOfPeriod;
    if (number == 0 || number > kLastField) return false;
    bytes.remove_prefix(1);
    if (!is_type && (number <= 6 || (key & 7) != kVarint)) {
      return has_type && (key & 7) == kLengthGiven;
    }
    const auto length = static_cast<std::size_t>(static_cast<unsigned char>(bytes[0]));
    if (!is_type) {
      const auto end = std::ranges::find_if(bytes, [](char c) { return (c & 0x80) == 0; });
      if (end == bytes.end() || end - bytes.begin() >= std::ptrdiff_t{kLongestNumber}) return false;
      bytes.remove_prefix(static_cast<std::size_t>(end - bytes.begin()) + 1);
      continue;
    }
    if ((key & 7) != kLengthGiven || length < kShortestType || length > kLongestType ||
        length >= bytes.size() || (bytes[1] != '\x08' && bytes[1] != '\x10')) {
      return false;
    }
    has_type |= number == kType;
    bytes.remove_prefix(length + 1);
  }
  return false;
}

PprofProfile parse_pprof(const Input& input) { return PprofParts(input).profile(); }

PprofValues values_in_use(const Input& input, const PprofProfile& profile) {
  std::optional<PprofValues> values;
  std::string names;
  for (std::size_t i = 0; i < profile.types.size(); ++i) {
    const auto& [type, unit] = profile.types[i];
    names += fmt::format("{}{} in {}", i > 0 ? ", " : "", type, unit);
    const bool counts_freed = type.starts_with("alloc_") || type.starts_with("allocated");
    if (unit != "bytes" || counts_freed) continue;
    values = {.bytes = i};
    // What is counted stands before it.
    if (i > 0 && profile.types[i - 1].unit != "bytes") values->count = i - 1;
  }
  if (values) return *values;
  throw InputError(input.name, "",
                   fmt::format("is a profile of {}; expected one of memory in use (inuse_space)",
                               names.empty() ? "nothing" : names));
}

}  // namespace memreplay
