#include "trace/pickle/pickle_value.hpp"

#include <algorithm>

#include "trace/snapshot/snapshot_checks.hpp"

namespace memreplay {
namespace {

using Form = PickleObject::Form;

constexpr std::uint32_t kNoEntry = UINT32_MAX;

bool is_no_line(const PickleValue& v) { return is_handle(v) && v.bits == kNoLineWritten; }

}  // namespace

std::string_view PickleStore::keep(std::string_view text) {
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  if (kept.empty() || kept.back().capacity() - kept.back().size() < text.size()) {
    kept.emplace_back().reserve(std::max(kPiece, text.size()));
  }
  std::string& piece = kept.back();
  const std::size_t at = piece.size();
  piece += text;
  return std::string_view(piece).substr(at);
}

std::vector<PickleValue>& PickleStore::contents_of(PickleObject& object) {
  if (object.form == Form::empty) {
    object.form = Form::plain;
    object.at = static_cast<std::uint32_t>(contents.size());
    contents.emplace_back();
  }
  return contents[object.at];
}

PickleValue PickleStore::make_tuple(std::span<const PickleValue> items) {
  if (items.size() == 2 && is_size(items[0]) && is_size(items[1])) {
    return {.tag = PickleTag::pair, .index = texts.pool({items[0].bits, items[1].bits})};
  }
  const auto number = static_cast<std::uint32_t>(objects.size());
  contents_of(objects.emplace_back()).assign(items.begin(), items.end());
  return {.tag = PickleTag::tuple, .index = number};
}

void PickleStore::append(std::uint32_t list, std::span<const PickleValue> items) {
  PickleObject& object = objects[list];
  if (object.in_use) throw NeedsPlainValues{};
  const PickleTag first = items.front().tag;
  if (converts_early && (first == PickleTag::dict || first == PickleTag::entry)) {
    if (object.form == Form::empty && items.size() > 1 && try_stack(object, items)) return;
    if (try_range(object, items)) return;
  }
  make_plain(object);
  auto& plain = contents_of(object);
  plain.insert(plain.end(), items.begin(), items.end());
}

void PickleStore::set_items(std::uint32_t dict, std::span<const PickleValue> items) {
  PickleObject& object = objects[dict];
  if (object.form == Form::entry || object.form == Form::frame) throw NeedsPlainValues{};
  if (object.form == Form::empty && converts_early) {
    std::uint64_t keys = 0;
    for (std::size_t i = 0; i < items.size(); i += 2) keys |= bit_of(items[i].word);
    if ((keys & bit_of(Word::action)) != 0) {
      if (try_entry(object, items)) return;
    } else if ((keys & bit_of(Word::filename)) != 0 && try_frame(object, items)) {
      return;
    }
  }
  auto& plain = contents_of(object);
  plain.insert(plain.end(), items.begin(), items.end());
}

// What these do not accept stays plain, and the conversion says what is wrong with it.

bool PickleStore::add_entry(PickleEntry& made) {
  TorchEntry& entry = made.entry;
  const auto has = [&](Word key) { return (made.keys & bit_of(key)) != 0; };
  if (entry.action == TorchAction::oom) {
    entry.address = made.device_free;
  } else if (entry.action == TorchAction::other || !has(Word::addr)) {
    return false;
  }
  if (!has(Word::size)) return false;
  entry_words |= evidence_in(made.keys, entry.action);
  entries.push_back(entry);
  return true;
}

bool PickleStore::try_entry(PickleObject& dict, std::span<const PickleValue> items) {
  PickleEntry made;
  for (std::size_t i = 0; i < items.size(); i += 2) {
    if (!set_field(made, items[i].word, items[i + 1])) return false;
  }
  if (!add_entry(made)) return false;
  dict.form = Form::entry;
  dict.at = static_cast<std::uint32_t>(entries.size() - 1);
  return true;
}

bool PickleStore::try_frame(PickleObject& dict, std::span<const PickleValue> items) {
  std::string_view name, file;
  std::uint64_t line = 0;
  for (std::size_t i = 0; i < items.size(); i += 2) {
    const PickleValue& v = items[i + 1];
    switch (items[i].word) {
      case Word::name:
        if (v.tag != PickleTag::text) return false;
        name = v.text();
        break;
      case Word::filename:
        if (v.tag != PickleTag::text) return false;
        file = v.text();
        break;
      case Word::line:
        if (is_no_line(v)) {
          line = kNoLine;
          break;
        }
        if (!is_size(v) || v.bits >= kNoLine) return false;
        line = v.bits;
        break;
      default:
        break;
    }
  }
  dict.form = Form::frame;
  dict.at = texts.frame(name, file, static_cast<std::uint32_t>(line));
  return true;
}

bool PickleStore::try_stack(PickleObject& list, std::span<const PickleValue> items) {
  frame_numbers_.resize(items.size());
  std::uint32_t* out = frame_numbers_.data();
  for (const PickleValue& v : items) {
    if (v.tag != PickleTag::dict) return false;
    const PickleObject& frame = objects[v.index];
    if (frame.form != Form::frame) return false;
    *out++ = frame.at;
  }
  list.form = Form::stack;
  list.at = texts.stack(frame_numbers_);
  return true;
}

bool PickleStore::try_range(PickleObject& list, std::span<const PickleValue> items) {
  if (list.form != Form::empty && list.form != Form::range) return false;
  const auto number_of = [&](const PickleValue& v) {
    if (v.tag == PickleTag::entry) return v.index;
    const bool is_entry = v.tag == PickleTag::dict && objects[v.index].form == Form::entry;
    return is_entry ? objects[v.index].at : kNoEntry;
  };
  const std::uint32_t first = list.form == Form::range
                                  ? ranges[list.at].first + ranges[list.at].count
                                  : number_of(items.front());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::uint32_t number = number_of(items[i]);
    if (number == kNoEntry || number != first + i) return false;
  }
  if (list.form == Form::empty) {
    list.form = Form::range;
    list.at = static_cast<std::uint32_t>(ranges.size());
    ranges.push_back({first, 0});
  }
  ranges[list.at].count += static_cast<std::uint32_t>(items.size());
  return true;
}

void PickleStore::make_plain(PickleObject& list) {
  if (list.form == Form::stack) {
    const auto frames = texts.frames_of(list.at);
    list.form = Form::empty;
    for (const std::uint32_t frame : frames) {
      contents_of(list).push_back({.tag = PickleTag::frame, .index = frame});
    }
  } else if (list.form == Form::range) {
    const PickleRange range = ranges[list.at];
    list.form = Form::empty;
    for (std::uint32_t i = 0; i < range.count; ++i) {
      contents_of(list).push_back({.tag = PickleTag::entry, .index = range.first + i});
    }
  }
}

bool PickleStore::stack_of(const PickleValue& list, std::uint32_t& stack) {
  if (list.tag == PickleTag::stack) {
    stack = list.index;
    return true;
  }
  if (list.tag != PickleTag::list) return false;
  PickleObject& object = objects[list.index];
  if (object.form == Form::range) return false;
  if (object.form == Form::plain) {
    // Built item by item; the plain copy is not needed any more.
    auto& items = contents[object.at];
    for (const PickleValue& item : items) {
      if (item.tag == PickleTag::frame) continue;
      if (item.tag != PickleTag::dict || objects[item.index].form != Form::frame) return false;
    }
    frame_numbers_.clear();
    for (const PickleValue& item : items) {
      frame_numbers_.push_back(item.tag == PickleTag::frame ? item.index : objects[item.index].at);
    }
    items = {};
    object.form = Form::stack;
    object.at = texts.stack(frame_numbers_);
  }
  object.in_use = true;
  stack = object.form == Form::stack ? object.at : 0;
  return true;
}

}  // namespace memreplay
