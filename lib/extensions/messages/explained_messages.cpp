#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "program/growth.hpp"
#include "questions/explain/answer.hpp"
#include "questions/explain/explained.hpp"
#include "trace/trace.hpp"

namespace memreplay {
namespace {

/// What a program reports of its memory as it goes on.
bool is_report(const OomMessage& message) {
  static constexpr std::string_view kReports[] = {"torch-summary", "torch-stats", "megatron",
                                                  "torch-printed"};
  return std::ranges::find(kReports, message.kind) != std::end(kReports);
}

/// The worst first: what no setting cures, then what one does, then what tells of no failure.
int order_of(const ExplainedMessage& one) {
  if (is_report(one.message)) return 6;
  if (one.message.kind == "gpu-error" && one.cause != Cause::none) return 5;
  switch (one.cause) {
    case Cause::shortage:
      return 0;
    case Cause::limit:
    case Cause::outside:
      return 1;
    case Cause::address_space:
      return 2;
    case Cause::fragmentation:
      return 3;
    case Cause::unknown:
      return 4;
    default:
      return 7;
  }
}

/// Reports of the same program in a row become its newest, with what they show together.
void fold_reports(std::vector<ExplainedMessage>& messages) {
  constexpr std::size_t kRow = 4;
  using Source =
      std::tuple<std::string, std::optional<std::uint64_t>, std::optional<std::uint64_t>>;
  std::map<Source, std::vector<std::size_t>> rows;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const OomMessage& m = messages[i].message;
    if (is_report(m) && m[Figure::live]) rows[{m.kind, m[Count::rank], m[Count::gpu]}].push_back(i);
  }
  std::vector<bool> folded(messages.size());
  for (const auto& [source, row] : rows) {
    if (row.size() < kRow) continue;
    const auto live_of = [&](std::size_t i) { return *messages[i].message[Figure::live]; };
    ReportRow all{.reports = row.size(),
                  .first = live_of(row.front()),
                  .least = live_of(row.front()),
                  .most = live_of(row.front())};
    std::vector<Bytes> live;
    for (const std::size_t i : row) {
      const RoundedBytes held = live_of(i);
      live.push_back(held.bytes);
      if (held.bytes < all.least.bytes) all.least = held;
      if (held.bytes > all.most.bytes) all.most = held;
      folded[i] = i != row.back();
    }
    if (const auto since = grows_since(live)) all.per_report = slope_from(live, *since);
    messages[row.back()].row = all;
  }
  std::size_t at = 0;
  std::erase_if(messages, [&](const ExplainedMessage&) { return folded[at++]; });
}

/// An option that asks for what only events can show; null where there is none.
const char* beyond_a_text(const ExplainQuestion& question) {
  const Setup& setup = question.setup;
  if (question.at.kind != At::Kind::usual && question.at.kind != At::Kind::oom) return "--at";
  if (!question.phases.empty()) return "--phase";
  if (question.by_phase) return "--by-phase";
  if (question.growth) return "--growth";
  if (question.strategy) return "-s";
  if (setup.capacity || setup.endless) return "--capacity";
  if (setup.reserve) return "--reserve";
  return question.stacks ? "memory by stack" : nullptr;
}

Bytes stated_bytes(const std::optional<RoundedBytes>& figure) {
  return figure.value_or(RoundedBytes{}).bytes;
}

// The figures of the worst message, in the places of those of a recording.
void note_figures(const ExplainedMessage& worst, Explanation& e) {
  const OomMessage& m = worst.message;
  e.cause = worst.cause;
  e.moment = Explanation::Moment::oom;
  e.at_oom = m[Figure::requested].has_value() && worst.cause != Cause::none;
  e.requested = e.asked = stated_bytes(m[Figure::requested]);
  e.retries = m[Count::retries].value_or(0);
  e.live_allocated = stated_bytes(m[Figure::live]);
  e.live_requested = stated_bytes(m[Figure::live_requested]);
  e.reserved = stated_bytes(m[Figure::reserved]);
  e.free_inside = stated_bytes(m[Figure::free_inside]);
  e.largest_free = stated_bytes(m[Figure::largest_free]);
}

}  // namespace

ExplainedDevice explained_text_of(const Recording& recording, const ExplainQuestion& question,
                                  const ExplainProgress& progress) {
  if (const char* const asked = beyond_a_text(question)) {
    throw UsageError(
        fmt::format("{}: is a text about memory, without a history; {} needs a recording",
                    recording.path, asked));
  }
  ExplainedDevice device;
  device.among_others = question.among_others;
  for (const OomMessage& message : recording.text->messages) {
    device.messages.push_back(explained(message));
  }
  fold_reports(device.messages);
  std::ranges::stable_sort(device.messages, [](const auto& a, const auto& b) {
    return std::pair(order_of(a), a.room.value_or(0)) < std::pair(order_of(b), b.room.value_or(0));
  });
  const ExplainedMessage& worst = device.messages.front();
  device.trace.path = recording.path;
  device.trace.format = recording.format;
  device.trace.detail = worst.message.detail;
  device.trace.gpu = static_cast<int>(worst.message[Count::gpu].value_or(0));
  device.explanation.rows = question.rows;
  note_figures(worst, device.explanation);
  progress.explained(device);
  progress.searched(device);
  return device;
}

}  // namespace memreplay
