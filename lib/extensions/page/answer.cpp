#include "extensions/page/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <future>
#include <mutex>
#include <utility>

#include "core/error.hpp"
#include "core/text.hpp"
#include "extensions/page/trace_picture.hpp"
#include "questions/explain/explained.hpp"

namespace memreplay {
namespace {

/// More than these would make the page larger than people send.
constexpr std::uint64_t kMostEvents = 1'200'000;

EventWindow window_of(const Trace& trace, const PageQuestion& question) {
  if (!question.from && !question.to) return window_of_interest(trace, kMostEvents);
  const EventWindow window{
      question.from.value_or(0),
      std::min<std::uint64_t>(question.to.value_or(trace.size()), trace.size())};
  if (window.from < window.to) return window;
  throw UsageError(fmt::format("--from {} --to {}: no event lies there; the recording has {}",
                               window.from, window.to, trace.size()));
}

std::vector<std::string> settings_said(const ExplainedDevice& explained, const Setup& setup) {
  std::vector<std::string> said;
  const TraceSummary& trace = explained.trace;
  said.push_back(trace.settings ? fmt::format("Recorded under {}.", trace.settings->empty()
                                                                        ? "the default settings"
                                                                        : *trace.settings)
                                : "The recording does not state its settings.");
  if (explained.model_check && !explained.model_check->release.empty()) {
    said.push_back(fmt::format("By the rules of PyTorch {}.", explained.model_check->release));
  }
  const auto& capacity = setup.capacity;
  said.push_back(capacity
                     ? fmt::format("Replayed on a simulated device of {}.", human_size(*capacity))
                     : "Replayed on a simulated device without a limit (--capacity gives one).");
  return said;
}

/// Shorter ones are explained before another thread has begun.
constexpr std::uint64_t kEventsOfALongTrace = 100'000;

/// Makes the pictures while the replays run; beside them, what is pictured is explained.
class PageMaker final : public Watcher {
 public:
  PageMaker(const PageQuestion& question, const Control& control)
      : question_(question), control_(control) {}

  bool needs_device_log() const override { return true; }

  void begin_trace(const Chosen& chosen, const Subject& subject) {
    finish_trace();
    PageDevice& device = devices_.emplace_back();
    device.trace = picture_of(subject, window_of(subject.trace(), question_));
    const bool is_long = subject.trace().size() >= kEventsOfALongTrace;
    explanation_ =
        std::async(is_long ? std::launch::async | std::launch::deferred : std::launch::deferred,
                   [this, chosen, subject] {
                     ExplainQuestion explain = question_.explain;
                     explain.setup = question_.replay.setup;
                     return explained(chosen, subject, explain, control_);
                   });
  }

  void on_run(const Subject& subject, const Trial& trial, WatcherGroup& also) override {
    also.add(places_.emplace(subject.trace(), devices_.back().trace, trial.log()));
  }

  void on_run_end(const Trial&) override { devices_.back().placed.push_back(places_->finish()); }

  std::deque<PageDevice>& finish() {
    finish_trace();
    return devices_;
  }

 private:
  void finish_trace() {
    if (!explanation_.valid()) return;
    PageDevice& device = devices_.back();
    device.explained = explanation_.get();
    device.settings = settings_said(device.explained, question_.replay.setup);
  }

  const PageQuestion& question_;
  const Control& control_;
  std::deque<PageDevice> devices_;
  std::optional<PlaceRecorder> places_;
  std::future<ExplainedDevice> explanation_;  ///< the last device's
};

}  // namespace

PageAnswer answer(const Inputs& inputs, std::span<const OpenDevice> devices,
                  const PageQuestion& question, const Control& control,
                  const std::function<void(const Subject&)>& before_all) {
  std::mutex showing;
  Control shared = control;
  shared.progress = [&](const std::string& what, double share) {
    const std::lock_guard lock(showing);
    control.show(what, share);
  };
  PageMaker maker(question, shared);
  bool is_first = before_all != nullptr;
  const auto begin_trace = [&](const auto& chosen, const auto& subject) {
    if (std::exchange(is_first, false)) before_all(subject);
    maker.begin_trace(chosen, subject);
  };
  ReplayAnswer replayed = answer(inputs, devices, question.replay, shared,
                                 {.begin_trace = begin_trace, .watcher = &maker});
  PageAnswer page;
  std::deque<PageDevice>& made = maker.finish();
  page.interrupted = replayed.interrupted || shared.stopped();
  page.worst = worst_of(replayed.traces);
  for (std::size_t d = 0; d < made.size(); ++d) {
    PageDevice& device = page.devices.emplace_back(std::move(made[d]));
    device.report = std::move(replayed.traces[d]);
  }
  return page;
}

}  // namespace memreplay
