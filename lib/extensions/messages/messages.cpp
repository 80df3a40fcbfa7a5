#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>

#include "extensions/messages/message_kind.hpp"

namespace memreplay {

#define MEMREPLAY_MESSAGE(identifier, file) MessageKind identifier##_message();
#include "extensions/messages/messages.def"
#undef MEMREPLAY_MESSAGE

namespace {

/// Beyond it the words of one message do not go, however many processes or buffers it names.
constexpr std::size_t kLongestMessage = 16 << 10;
/// So near to another message a bare error is the same one.
constexpr std::size_t kNear = 600;

struct Anchor {
  std::size_t at = 0;
  std::size_t end = 0;
  std::size_t kind = 0;
};

/// The patterns that messages begin with, by their first four characters.
class Anchors {
 public:
  Anchors() {
    const auto kinds = message_kinds();
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      for (const Pattern& start : kinds[kind].starts) {
        const std::uint32_t key = key_of(start.beginning().data());
        seen_[slot_of(key)] = true;
        starts_[key].push_back({&start, kind});
      }
    }
  }

  std::vector<Anchor> in(std::string_view packed) const {
    std::vector<Anchor> anchors;
    std::size_t bare_end = 0;
    for (std::size_t at = 0; at + 4 <= packed.size(); ++at) {
      const std::uint32_t key = key_of(packed.data() + at);
      if (!seen_[slot_of(key)]) continue;
      const auto found = starts_.find(key);
      if (found == starts_.end()) continue;
      for (const auto& [start, kind] : found->second) {
        const bool is_bare = message_kinds()[kind].is_bare;
        if (is_bare && at < bare_end) continue;
        const auto match = start->match_at(packed, at);
        if (!match) continue;
        anchors.push_back({at, match->end, kind});
        // Words of a bare error may begin a message with figures.
        if (is_bare) bare_end = match->end;
        if (!is_bare) at = std::max(at, match->end - 1);
        break;
      }
    }
    return anchors;
  }

 private:
  static std::uint32_t key_of(const char* characters) {
    std::uint32_t key = 0;
    std::memcpy(&key, characters, sizeof key);
    return key;
  }
  static std::size_t slot_of(std::uint32_t key) { return (key * 2654435761U) >> 19; }

  struct Start {
    const Pattern* pattern;
    std::size_t kind;
  };
  std::array<bool, 1 << 13> seen_{};
  std::map<std::uint32_t, std::vector<Start>> starts_;
};

const Anchors& anchors() {
  static const Anchors all;
  return all;
}

// A failure whose words another message may be part of.
bool hides(const Anchor& anchor, std::string_view packed) {
  constexpr std::size_t kSaysSo = 250;
  const MessageKind& kind = message_kinds()[anchor.kind];
  return !kind.is_bare && !kind.is_state &&
         std::ranges::none_of(kind.harmless, [&](const Pattern& words) {
           return words.find(packed, anchor.at, anchor.end + kSaysSo).has_value();
         });
}

std::vector<Anchor> anchors_in(std::string_view packed) {
  const std::vector<Anchor> found = anchors().in(packed);
  const auto is_bare = [](const Anchor& anchor) { return message_kinds()[anchor.kind].is_bare; };
  // Words of a message that begin others, where the first ones are lost.
  const auto goes_on = [](const Anchor& before, const Anchor& anchor) {
    constexpr std::size_t kOfOne = 40;
    return before.kind == anchor.kind && message_kinds()[anchor.kind].join == nullptr &&
           anchor.at < before.end + kOfOne;
  };
  std::vector<Anchor> kept;
  std::size_t hidden_to = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!kept.empty() && goes_on(kept.back(), found[i])) continue;
    if (!is_bare(found[i])) {
      if (hides(found[i], packed)) hidden_to = found[i].end + kNear;
      kept.push_back(found[i]);
      continue;
    }
    bool hidden = found[i].at < hidden_to;
    for (std::size_t j = i + 1; j < found.size() && found[j].at < found[i].end + kNear; ++j) {
      hidden |= hides(found[j], packed);
    }
    if (!hidden) kept.push_back(found[i]);
  }
  return kept;
}

/// A rank before a message's own words: in JSON, or where other words come first. Each part of a
/// line is looked at once, however many messages it has.
class RankBefore {
 public:
  std::optional<std::uint64_t> of(std::string_view packed, const PackedLine& line, std::size_t to) {
    static const Pattern kRanks[] = {"[rank{number}]", "\"rank\":{number}", "[default{number}]"};
    if (line.at != line_) rank_.reset();
    const std::size_t from = line.at == line_ ? std::max(read_, line.at) : line.at;
    for (const Pattern& pattern : kRanks) {
      const auto match = pattern.find(packed, from, to);
      if (!match) continue;
      rank_ = match->values[0].count;
      break;
    }
    line_ = line.at;
    read_ = to;
    return rank_;
  }

 private:
  std::size_t line_ = 0;
  std::size_t read_ = 0;
  std::optional<std::uint64_t> rank_;
};

OomMessage message_at(const MessageKind& kind, const MessageSpan& span,
                      const std::optional<std::uint64_t>& rank) {
  OomMessage message;
  message.kind = kind.name;
  message.detail = kind.detail;
  message[OomWord::type] = kind.type;
  message[Count::rank] = rank;
  for (const auto* patterns : {&kind.starts, &kind.fields}) {
    for (const Pattern& pattern : *patterns) {
      if (const auto match = span.find(pattern)) pattern.fill(*match, message);
    }
  }
  if (kind.complete != nullptr) kind.complete(message, span);
  return message;
}

// More than whose it is.
bool says_anything(const OomMessage& message) {
  const auto is_set = [](const auto& value) { return value.has_value(); };
  const bool counts = message[Count::rank].has_value() + message[Count::gpu].has_value() +
                          message[Count::line].has_value() <
                      std::ranges::count_if(message.counts, is_set);
  return counts || std::ranges::any_of(message.figures, is_set) || !message.overflows.empty() ||
         std::ranges::any_of(message.words, [](const std::string& word) { return !word.empty(); });
}

void read_messages(const PackedText& text, std::vector<FoundMessage>& found) {
  const std::vector<Anchor> all = anchors_in(text.text);
  std::map<std::size_t, std::size_t> last;  // message of a kind
  std::set<const MessageKind*> by_whole_text;
  RankBefore ranks;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const MessageKind& kind = message_kinds()[all[i].kind];
    if (kind.read != nullptr) {
      by_whole_text.insert(&kind);
      continue;
    }
    const std::size_t next = i + 1 < all.size() ? all[i + 1].at : text.text.size();
    const MessageSpan span{text.text, all[i].at, std::min(next, all[i].at + kLongestMessage)};
    const PackedLine& line = text.line_of(all[i].at);
    const auto rank = line.rank ? line.rank : ranks.of(text.text, line, all[i].at);
    OomMessage message = message_at(kind, span, rank);
    if (message.kind.empty()) continue;
    const auto before = last.find(all[i].kind);
    if (kind.join != nullptr && before != last.end() &&
        kind.join(found[before->second].message, message)) {
      continue;
    }
    last[all[i].kind] = found.size();
    found.push_back({std::move(message), line.number});
  }
  for (const MessageKind* const kind : by_whole_text) kind->read(text, found);
}

/// A kind for each row of the table of spellings, which reads them as the kind that it names.
std::vector<MessageKind> spelled_kinds(const std::vector<MessageKind>& registered) {
  struct Row {
    std::string_view kind;
    std::string_view type;
    std::string_view detail;
    std::vector<Pattern> spellings;
  };
  const Row rows[] = {
#define MEMREPLAY_SPELLINGS(kind, type, detail, sentence, advice, ...) \
  {kind, type, detail, {__VA_ARGS__}},
#include "core/oom_spellings.def"
  };
  std::vector<MessageKind> kinds;
  for (const Row& row : rows) {
    MessageKind kind = *std::ranges::find(registered, row.kind, &MessageKind::name);
    kind.type = row.type;
    kind.detail = row.detail;
    kind.starts = row.spellings;
    kind.join = add_missing;
    kind.is_bare = std::ranges::none_of(row.spellings, &Pattern::has_figure);
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

constexpr std::size_t kBlock = 64 << 10;

/// Letters, in either case, without which a text is not about memory.
struct Sign {
  enum Of : unsigned char { message = 1, memory = 2, size = 4, exit = 8, status = 16 };
  std::string_view letters;
  Of of;
};
// Memory beside a size or a word for its end: logs of training have "memory: 9833" in every line.
constexpr Sign kSigns[] = {{"llo", Sign::message},
                           {"oom", Sign::message},
                           {"nus", Sign::message},
                           {"v c", Sign::message},
                           {"hbm", Sign::message},
                           {"killed", Sign::message},
                           {"bus error", Sign::message},
                           {"winerror", Sign::message},
                           {"low on res", Sign::message},
                           {"dataloader w", Sign::message},
                           {"exhaust", Sign::message},
                           {"not_init", Sign::message},
                           {"dst tensor", Sign::message},
                           {"buffer size", Sign::message},
                           {"layers to gpu", Sign::message},
                           {"cudagraph", Sign::message},
                           {"cuda graph", Sign::message},
                           {"memoryerror", Sign::message},
                           {"mib |", Sign::message},
                           {"| n/a", Sign::message},
                           {"out_of_mem", Sign::message},
                           {"mem", Sign::memory},
                           {"gib", Sign::size},
                           {"mib", Sign::size},
                           {" gb", Sign::size},
                           {"byt", Sign::size},
                           {"out", Sign::size},
                           {"eno", Sign::size},
                           {"suff", Sign::size},
                           {"exit", Sign::exit},
                           {"return", Sign::exit},
                           {"signal", Sign::exit},
                           {"137", Sign::status},
                           {"-9", Sign::status},
                           {"kill", Sign::status},
                           {"-7", Sign::status}};

constexpr char lower(char c) { return static_cast<char>(c | 0x20); }
constexpr std::size_t pair_of(char first, char second) {
  return static_cast<std::size_t>(static_cast<unsigned char>(lower(first))) << 8 |
         static_cast<unsigned char>(lower(second));
}

/// Signs by their first two letters.
struct SignTable {
  std::vector<unsigned char> group_of = std::vector<unsigned char>(1 << 16);  ///< 0: none
  std::vector<std::vector<Sign>> groups = {{}};

  SignTable() {
    for (const Sign& sign : kSigns) {
      unsigned char& group = group_of[pair_of(sign.letters[0], sign.letters[1])];
      if (group == 0) {
        group = static_cast<unsigned char>(groups.size());
        groups.emplace_back();
      }
      groups[group].push_back(sign);
    }
  }
};

bool is_there(const Sign& sign, std::string_view text) {
  return text.size() >= sign.letters.size() &&
         std::equal(sign.letters.begin(), sign.letters.end(), text.begin(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

/// Whether a block may have a message. O(size).
bool may_say_something(std::string_view block) {
  static const SignTable kTable;
  constexpr unsigned kOfSize = Sign::memory | Sign::size, kOfStatus = Sign::exit | Sign::status;
  const unsigned char* const group_of = kTable.group_of.data();
  unsigned seen = 0;
  std::size_t end = 0;
  char before = 0;
  for (const char c : block) {
    const unsigned char group = group_of[pair_of(before, c)];
    before = c;
    ++end;
    if (group == 0 || end < 2) continue;
    for (const Sign& sign : kTable.groups[group]) {
      if ((seen & sign.of) == 0 && is_there(sign, block.substr(end - 2))) seen |= sign.of;
    }
    if ((seen & Sign::message) != 0 || (seen & kOfSize) == kOfSize ||
        (seen & kOfStatus) == kOfStatus) {
      return true;
    }
  }
  return block.size() < 3;
}

/// The packed texts of those parts of a text that may say something.
std::vector<PackedText> packed(std::string_view text) {
  TextPacker packer;
  bool said = true;  // a message may go on into the next block
  for (std::string_view block; !text.empty(); text.remove_prefix(block.size())) {
    block = text.substr(0, kBlock);
    const std::size_t line = text.find('\n', block.size());
    if (block.size() < text.size())
      block = text.substr(0, line == text.npos ? text.size() : line + 1);
    const bool says = may_say_something(block);
    if (says || said) {
      packer.add(block);
    } else {
      packer.leave_out(block);
    }
    said = says;
  }
  return packer.finish();
}

}  // namespace

std::span<const MessageKind> message_kinds() {
  static const std::vector<MessageKind> kAll = [] {
    const std::vector<MessageKind> registered = {
#define MEMREPLAY_MESSAGE(identifier, file) identifier##_message(),
#include "extensions/messages/messages.def"
#undef MEMREPLAY_MESSAGE
    };
    std::vector<MessageKind> all = spelled_kinds(registered);
    all.insert(all.end(), registered.begin(), registered.end());
    return all;
  }();
  return kAll;
}

bool add_missing(OomMessage& before, const OomMessage& after) {
  const auto agree = [](const std::optional<RoundedBytes>& a,
                        const std::optional<RoundedBytes>& b) {
    if (!a || !b) return true;
    return std::max(a->bytes, b->bytes) - std::min(a->bytes, b->bytes) <= a->within + b->within;
  };
  if (!std::ranges::equal(before.figures, after.figures, agree)) return false;
  const auto same = [](const auto& a, const auto& b) { return !a || !b || a == b; };
  if (!std::ranges::equal(before.counts, after.counts, same)) return false;
  for (std::size_t i = 0; i < kFigures; ++i) {
    auto& figure = before.figures[i];
    if (!figure || (after.figures[i] && after.figures[i]->within < figure->within))
      figure = after.figures[i];
  }
  for (std::size_t i = 0; i < kCounts; ++i) {
    if (!before.counts[i]) before.counts[i] = after.counts[i];
  }
  for (std::size_t i = 0; i < kWords; ++i) {
    if (before.words[i].empty()) before.words[i] = after.words[i];
  }
  before.overflows.insert(before.overflows.end(), after.overflows.begin(), after.overflows.end());
  return true;
}

bool replace_all(OomMessage& before, const OomMessage& after) {
  for (std::size_t i = 0; i < kFigures; ++i) {
    if (after.figures[i]) before.figures[i] = after.figures[i];
  }
  for (std::size_t i = 0; i < kCounts; ++i) {
    if (after.counts[i]) before.counts[i] = after.counts[i];
  }
  for (std::size_t i = 0; i < kWords; ++i) {
    if (!after.words[i].empty()) before.words[i] = after.words[i];
  }
  return true;
}

std::vector<OomMessage> messages_in(std::string_view text, bool first_only) {
  std::vector<FoundMessage> found;
  for (const PackedText& part : packed(text)) {
    read_messages(part, found);
    if (first_only && !found.empty()) break;
  }
  std::erase_if(found, [](const FoundMessage& one) { return !says_anything(one.message); });
  std::ranges::stable_sort(found, {}, &FoundMessage::line);
  std::vector<OomMessage> messages;
  for (FoundMessage& one : found) messages.push_back(std::move(one.message));
  return messages;
}

}  // namespace memreplay
