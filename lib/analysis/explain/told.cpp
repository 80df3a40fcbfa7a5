#include "analysis/explain/told.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "analysis/explain/answer.hpp"
#include "core/error.hpp"
#include "trace/trace.hpp"

namespace memreplay {
namespace {

/// About what a CUDA context and the libraries in it take, which nobody can give back.
constexpr std::int64_t kOfContexts = std::int64_t{1} << 30;

/// A sum of figures, and how far off it may be.
struct FigureBalance {
  std::int64_t bytes = 0;
  std::int64_t within = 0;

  FigureBalance& plus(const ToldBytes& figure) {
    bytes += static_cast<std::int64_t>(figure.bytes);
    within += static_cast<std::int64_t>(figure.within);
    return *this;
  }
  FigureBalance& minus(const ToldBytes& figure) {
    bytes -= static_cast<std::int64_t>(figure.bytes);
    within += static_cast<std::int64_t>(figure.within);
    return *this;
  }
  bool sure() const { return std::abs(bytes) >= within; }
};

/// Decides, and remembers whether the roundings could have decided otherwise.
class ToldJudge {
 public:
  explicit ToldJudge(const ToldFailure& failure) : failure_(failure) { told_.failure = failure; }

  Cause judge() {
    told_.sure = true;
    const bool bfc = failure_.source == ToldFailure::Source::bfc;
    const Cause cause = bfc ? of_bfc() : of_torch();
    if (cause == Cause::unknown) told_.sure = false;
    return cause;
  }
  ToldExplanation take() { return std::move(told_); }

 private:
  bool has(const std::optional<ToldBytes>& figure, const char* name) {
    if (!figure) told_.missing.emplace_back(name);
    return figure.has_value();
  }
  bool at_least_zero(const FigureBalance& balance) {
    told_.sure &= balance.sure();
    return balance.bytes >= 0;
  }

  Cause of_bfc() {
    const bool known = has(failure_.requested, "the size of the request") &
                       has(failure_.limit, "the allocator's limit") &
                       has(failure_.live, "how much of it was in use");
    if (!known) return free_anyway() ? Cause::fragmentation : Cause::unknown;
    // As of a recording, what is left beside what was asked for, not beside the chunks.
    told_.room = left_by(failure_.live_requested.value_or(*failure_.live)).bytes;
    if (!at_least_zero(left_by(*failure_.live))) return beyond_the_limit();
    if (!failure_.reserved) {
      told_.sure = false;
      return Cause::fragmentation;
    }
    const FigureBalance growth =
        FigureBalance().plus(*failure_.limit).minus(*failure_.reserved).minus(*failure_.requested);
    return at_least_zero(growth) ? Cause::outside : Cause::fragmentation;
  }

  // What the limit leaves beside what is live and the request.
  FigureBalance left_by(const ToldBytes& live) const {
    return FigureBalance().plus(*failure_.limit).minus(live).minus(*failure_.requested);
  }

  // Chunks are not always cut to the size of their request.
  Cause beyond_the_limit() {
    if (!failure_.live_requested) {
      told_.sure = false;
      return Cause::shortage;
    }
    const FigureBalance without_waste = left_by(*failure_.live_requested);
    // Some waste every allocator has: what may just be enough is not.
    return at_least_zero(without_waste) && without_waste.sure() ? Cause::fragmentation
                                                                : Cause::shortage;
  }

  // What is free would do, whatever the limit is.
  bool free_anyway() {
    if (!failure_.requested || !failure_.free_inside) return false;
    const FigureBalance room =
        FigureBalance().plus(*failure_.free_inside).minus(*failure_.requested);
    if (room.bytes < 0) return false;
    told_.room = room.bytes;
    told_.sure = room.sure();
    return true;
  }

  Cause of_torch() {
    const bool known = has(failure_.requested, "the size of the request") &
                       has(failure_.device_free, "how much of the device was free") &
                       has(failure_.live, "how much was allocated") &
                       has(failure_.reserved, "how much was reserved");
    if (!known) return of_the_whole_device();
    const FigureBalance room = FigureBalance()
                                   .plus(*failure_.reserved)
                                   .plus(*failure_.device_free)
                                   .minus(*failure_.live)
                                   .minus(*failure_.requested);
    told_.room = room.bytes;
    if (failure_.device) {
      const FigureBalance others = FigureBalance()
                                       .plus(*failure_.device)
                                       .minus(*failure_.reserved)
                                       .minus(*failure_.device_free);
      told_.others = static_cast<Bytes>(std::max<std::int64_t>(others.bytes, 0));
    }
    if (!at_least_zero(room)) return beyond_the_device(room);
    if (failure_.limit) return under_a_limit();
    const FigureBalance device_alone =
        FigureBalance().plus(*failure_.device_free).minus(*failure_.requested);
    return at_least_zero(device_alone) ? Cause::unknown : Cause::fragmentation;
  }

  // Too small if it were this allocator's alone: a verdict without the rest.
  Cause of_the_whole_device() {
    if (!failure_.requested || !failure_.device) return Cause::unknown;
    const FigureBalance room = FigureBalance()
                                   .plus(*failure_.device)
                                   .minus(failure_.live.value_or(ToldBytes{}))
                                   .minus(*failure_.requested);
    if (room.bytes >= 0 || !room.sure()) return Cause::unknown;
    told_.room = room.bytes;
    told_.missing.clear();
    return Cause::shortage;
  }

  Cause beyond_the_device(FigureBalance room) {
    if (!failure_.device) {
      told_.sure = false;
      return Cause::shortage;
    }
    const FigureBalance without_others{
        room.bytes + static_cast<std::int64_t>(*told_.others) - kOfContexts, room.within};
    return at_least_zero(without_others) ? Cause::outside : Cause::shortage;
  }

  Cause under_a_limit() {
    const FigureBalance room =
        FigureBalance().plus(*failure_.limit).minus(*failure_.live).minus(*failure_.requested);
    if (room.bytes < *told_.room) told_.room = room.bytes;
    return at_least_zero(room) ? Cause::fragmentation : Cause::outside;
  }

  const ToldFailure& failure_;
  ToldExplanation told_;
};

/// An option that asks for what only events can show; null where there is none.
const char* beyond_a_text(const ExplainQuestion& question) {
  const DeviceShape& device = question.setup.device;
  if (question.at.kind != At::Kind::usual && question.at.kind != At::Kind::oom) return "--at";
  if (!question.phases.empty()) return "--phase";
  if (question.by_phase) return "--by-phase";
  if (question.growth) return "--growth";
  if (question.strategy) return "-s";
  if (device.capacity || device.endless) return "--capacity";
  if (device.reserve) return "--reserve";
  return question.stacks ? "memory by stack" : nullptr;
}

Bytes bytes_of(const std::optional<ToldBytes>& figure) { return figure ? figure->bytes : 0; }

}  // namespace

ToldExplanation explained_by_figures(const ToldFailure& failure, Cause& cause) {
  ToldJudge judge(failure);
  cause = judge.judge();
  return judge.take();
}

ExplainedDevice explained_text_of(const Recording& recording, const ExplainQuestion& question,
                                  ExplainListener* listener) {
  if (const char* const asked = beyond_a_text(question)) {
    throw UsageError(
        fmt::format("{}: is the text of a failure, without a history; {} is for recordings",
                    recording.path, asked));
  }
  const ToldFailure& failure = *recording.told;
  ExplainedDevice explained;
  explained.among_others = question.among_others;
  explained.trace.path = recording.path;
  explained.trace.format = recording.format;
  explained.trace.detail = recording.detail;
  explained.trace.gpu = static_cast<int>(failure.gpu.value_or(0));
  Explanation& e = explained.explanation;
  explained.told = explained_by_figures(failure, e.cause);
  e.moment = Explanation::Moment::oom;
  e.at_oom = failure.requested.has_value();
  e.requested = e.asked = bytes_of(failure.requested);
  e.retries = failure.retries.value_or(0);
  e.live_allocated = bytes_of(failure.live);
  e.live_requested = bytes_of(failure.live_requested);
  e.reserved = bytes_of(failure.reserved);
  e.free_inside = bytes_of(failure.free_inside);
  e.largest_free = bytes_of(failure.largest_free);
  if (listener != nullptr) {
    listener->on_explained(explained);
    listener->on_searched(explained);
  }
  return explained;
}

}  // namespace memreplay
