#include <algorithm>
#include <memory>

#include "core/error.hpp"
#include "extensions/messages/message_kind.hpp"
#include "extensions/messages/packed_text.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

// A log has the message at its end, if anywhere.
bool has_messages(const Input& input) {
  constexpr std::size_t kPart = 1 << 20;
  const std::string_view text = input.bytes;
  const auto says = [](std::string_view part) { return !messages_in(part, true).empty(); };
  if (text.size() <= 2 * kPart) return says(text);
  const std::size_t last_part = text.find('\n', text.size() - kPart);
  return says(text.substr(0, kPart)) || says(text.substr(std::min(last_part, text.size()))) ||
         says(text);
}

constexpr std::string_view kSegmentsOn = "_ALLOC_CONF=expandable_segments:True";

// "try setting PYTORCH_CUDA_ALLOC_CONF=…", which a line may begin with where the message is
// wrapped.
bool ends_with_advice(std::string_view text) {
  TextPacker packer;
  packer.add(text);
  return std::ranges::any_of(packer.finish(), [](const PackedText& part) {
    const std::string_view words = part.text;
    if (!words.ends_with(kSegmentsOn)) return false;
    const std::string_view before = words.substr(0, words.size() - kSegmentsOn.size());
    const std::size_t last = before.find_last_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
    return last != before.npos && before.substr(0, last + 1).ends_with("setting");
  });
}

// Set for the program by a line of the text, not advised by a message.
bool sets_expandable_segments(std::string_view text) {
  constexpr std::size_t kBefore = 200;  // with the prefix of a line
  for (std::size_t at = text.find(kSegmentsOn); at != text.npos;
       at = text.find(kSegmentsOn, at + 1)) {
    const std::size_t from = at - std::min(at, kBefore);
    if (!ends_with_advice(text.substr(from, at + kSegmentsOn.size() - from))) return true;
  }
  return false;
}

bool is_failure(const OomMessage& message) {
  const auto kinds = message_kinds();
  const auto kind = std::ranges::find(kinds, message.kind, &MessageKind::name);
  return !message.harmless && kind != kinds.end() && !kind->is_state &&
         message[OomWord::type] != "statistics";
}

// What the text shows beside its messages. A failure among them needs no other sign.
void note_signs(std::string_view text, std::vector<OomMessage>& messages) {
  constexpr std::size_t kPart = 1 << 20;
  const bool fails = std::ranges::any_of(messages, is_failure);
  const bool succeeds = !fails && shows_success(text);
  const bool harmless = std::ranges::any_of(messages, &OomMessage::harmless);
  const bool intact = !fails && (succeeds || harmless) && !shows_failure(text);
  const bool on_segments = sets_expandable_segments(text);
  Platform platform = platform_of(text.substr(0, kPart));
  if (platform == Platform::unknown && text.size() > kPart) {
    platform = platform_of(text.substr(text.size() - kPart));
  }
  for (OomMessage& message : messages) {
    message.works = intact && (succeeds || message.harmless);
    message.expandable_segments |= on_segments;
    message.platform = platform;
  }
}

Recording read_text(const Input& input, const ReadOptions&) {
  Recording recording;
  recording.path = input.name;
  recording.format = "pasted-text";
  auto text = std::make_shared<PastedText>();
  text->messages = messages_in(input.bytes);
  put_together(text->messages);
  if (text->messages.empty()) {
    throw InputError(
        input.name, "",
        "says nothing about memory; expected an allocator's OOM message, a table of "
        "memory_summary() or another text of those that 'memreplay list formats' names");
  }
  recording.detail = text->messages.front().detail;
  note_signs(input.bytes, text->messages);
  recording.text = std::move(text);
  return recording;
}

}  // namespace

/// Messages about memory that somebody pasted, from a log or a screen: figures, no events.
ReaderInfo pasted_text_reader() {
  return {.name = "pasted-text",
          .summary =
              "What an allocator or a framework says about memory, pasted from a log; for explain "
              "only: OOM messages, BFC reports, memory_summary(), start-up lines.",
          .recognises = has_messages,
          .read = read_text,
          .is_text = true};
}

}  // namespace memreplay
