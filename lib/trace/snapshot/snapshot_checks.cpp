#include "trace/snapshot/snapshot_checks.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "trace/snapshot/snapshot_words.hpp"

namespace memreplay {
namespace {

std::string path_text(const SnapshotPath* at) {
  if (at == nullptr) return {};
  std::string text = path_text(at->up);
  if (at->key.empty()) return text + fmt::format("[{}]", at->index);
  if (!text.empty()) text += '.';
  return text.append(at->key);
}

}  // namespace

void refuse_value(std::string_view file, const SnapshotPath& at, std::string_view got,
                  std::string_view expected) {
  throw InputError(file, "", fmt::format("{} is {}; expected {}", path_text(&at), got, expected));
}

void refuse_missing(std::string_view file, const SnapshotPath& at, std::string_view expected) {
  throw InputError(file, "", fmt::format("{} is missing; expected {}", path_text(&at), expected));
}

void refuse_snapshot(std::string_view file, std::string_view why) {
  throw InputError(file, "", fmt::format("not a PyTorch snapshot: {}", why));
}

std::string describe(WholeNumber number) {
  if (number.huge) return "a whole number beyond 64 bits";
  return number.negative ? fmt::format("{}", static_cast<std::int64_t>(number.bits))
                         : fmt::format("{}", number.bits);
}

std::string describe(double number) { return fmt::format("{}", number); }

std::string describe(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string shown;
  for (const char c : text.substr(0, kLongest)) shown += c >= ' ' && c < 127 ? c : '?';
  return fmt::format("'{}{}'", shown, text.size() > kLongest ? "…" : "");
}

std::string_view describe(ValueKind kind) {
  switch (kind) {
    case ValueKind::none:
      return "None";
    case ValueKind::boolean:
      return "a truth value";
    case ValueKind::whole:
      return "a whole number";
    case ValueKind::real:
      return "a number";
    case ValueKind::text:
      return "a text";
    case ValueKind::list:
      return "a list";
    case ValueKind::dict:
      return "a dict";
    case ValueKind::other:
      return "bytes";
  }
  return "unknown";
}

std::string oldest_release(const SnapshotEvidence& seen) {
  struct Row {
    std::string_view release;
    std::uint64_t SnapshotEvidence::*part;
    Word key;
  };
  using E = SnapshotEvidence;
  constexpr Row kNewestFirst[] = {
      {"2.15", &E::entry, Word::internal_metadata},
      {"2.14", &E::entry, Word::annotate},
      {"2.14", &E::top, Word::host_segments},
      {"2.14", &E::top, Word::host_traces},
      {"2.13", &E::settings, Word::max_round_threshold},
      {"2.12", &E::entry, Word::pool_id},
      {"2.12", &E::entry, Word::forward_frames},
      {"2.10", &E::entry, Word::user_metadata},
      {"2.10", &E::settings, Word::graph_capture_record_stream_reuse},
      {"2.8", &E::entry, Word::compile_context},
      {"2.5", &E::top, Word::external_annotations},
      {"2.3", &E::top, Word::allocator_settings},
      {"2.2", &E::entry, Word::time_us},
      {"2.1", &E::block, Word::address},
      {"2.1", &E::segment, Word::segment_pool_id},
      {"2.0", &E::top, Word::device_traces},
  };
  for (const Row& row : kNewestFirst) {
    if ((seen.*row.part & bit_of(row.key)) != 0) return std::string(row.release);
  }
  return {};
}

}  // namespace memreplay
