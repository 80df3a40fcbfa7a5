#include "analysis/page/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "analysis/explain/explained.hpp"
#include "analysis/page/placed_blocks.hpp"
#include "analysis/page/question.hpp"
#include "analysis/page/trace_picture.hpp"
#include "core/error.hpp"
#include "core/text.hpp"

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
  if (explained.model_check) {
    said.push_back(
        fmt::format("By the rules of PyTorch {}.", explained.model_check->torch_version));
  }
  const auto& capacity = setup.device.capacity;
  said.push_back(capacity
                     ? fmt::format("Replayed on a simulated device of {}.", human_size(*capacity))
                     : "Replayed on a simulated device without a limit (--capacity gives one).");
  return said;
}

/// Makes the pictures while the replays run.
class PageMaker final : public RunsWatcher {
 public:
  PageMaker(const PageQuestion& question, const Control& control)
      : question_(question), control_(control) {}

  bool needs_device_log() const override { return true; }

  void begin_trace(const Chosen& chosen, const Subject& subject) override {
    PageDevice& device = devices_.emplace_back();
    device.trace = picture_of(subject, window_of(subject.trace(), question_));
    ExplainQuestion explain = question_.explain;
    explain.setup = question_.replay.setup;
    device.explained = explained(chosen, subject, explain, control_);
    device.settings = settings_said(device.explained, explain.setup);
  }

  void begin_run(const Subject& subject, const Trial& trial, ObserverGroup& observers) override {
    observers.add(places_.emplace(subject.trace(), devices_.back().trace, trial.log()));
  }

  void end_run(const Trial&) override { devices_.back().placed.push_back(places_->finish()); }

  std::deque<PageDevice>& devices() { return devices_; }

 private:
  const PageQuestion& question_;
  const Control& control_;
  std::deque<PageDevice> devices_;
  std::optional<PlaceRecorder> places_;
};

}  // namespace

PageAnswer answer(const Inputs& inputs, std::span<const OpenDevice> devices,
                  const PageQuestion& question, const Control& control) {
  PageMaker maker(question, control);
  ReplayAnswer replayed = answer(inputs, devices, question.replay, control, &maker);
  PageAnswer page;
  page.interrupted = replayed.interrupted;
  for (std::size_t d = 0; d < maker.devices().size(); ++d) {
    PageDevice& device = page.devices.emplace_back(std::move(maker.devices()[d]));
    device.report = std::move(replayed.traces[d]);
  }
  return page;
}

}  // namespace memreplay
