#include "metamorphic/tried.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "extensions/workloads/workload.hpp"
#include "metrics/metrics.hpp"
#include "replay/random_recording.hpp"
#include "run/devices.hpp"
#include "strategy/registered.hpp"
#include "trace/reader.hpp"
#include "trace/reader_samples.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSeeds = 100;

/// Gives the events what formats can say of them beside what is replayed.
void say_more(Recording& recording) {
  Trace& trace = recording.traces.front();
  recording.texts.insert(recording.texts.end(), {"here", "there"});
  std::vector<std::uint64_t> id_of(trace.slot_count);
  for (std::size_t event = 0; event < trace.size(); ++event) {
    const Slot slot = trace.slots[event];
    if (trace.ops[event] == Op::allocate) id_of[slot] = 4096 + 512 * event;
    trace.ids.push_back(slot == kNoSlot ? 0 : id_of[slot]);
    trace.times_us.push_back(static_cast<std::int64_t>(10 + 3 * event));
    trace.threads.push_back(static_cast<std::uint32_t>(event % 3));
    trace.tags.push_back(is_request(trace.ops[event]) ? static_cast<std::uint32_t>(event % 3) : 0);
  }
}

std::string text_of(const MetricValue& value) {
  return std::visit(
      []<typename T>(const T& number) {
        if constexpr (std::is_same_v<T, std::monostate>)
          return std::string("none");
        else
          return fmt::format("{}", number);
      },
      value);
}

std::string in_a_name(std::string_view text) {
  std::string name(text);
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

TriedTrace bundled_trace(const std::string& file) {
  return {in_a_name(file), [file] { return read_recording(MEMREPLAY_TRACES "/" + file); }};
}

TriedTrace workload_trace(const WorkloadInfo& info) {
  return {"workload_" + in_a_name(info.name), [&info] {
            EventColumns events;
            Recording recording = generate(std::string(info.name), WorkloadOptions{.events = 1500},
                                           [&](const EventColumns& some) { append(some, events); });
            static_cast<EventColumns&>(recording.traces.front()) = std::move(events);
            return recording;
          }};
}

}  // namespace

TriedTrace random_trace(std::uint64_t seed) {
  return {fmt::format("seed_{}", seed), [seed] {
            Recording recording = random_recording({.seed = seed,
                                                    .events = 200 + static_cast<int>(seed % 5) * 60,
                                                    .largest_log2 = seed % 4 == 0 ? 26 : 21,
                                                    .streams = 1 + static_cast<int>(seed % 4),
                                                    .pools = seed % 3 == 0 ? 2 : 1,
                                                    .rare = seed % 2 == 0 ? 0U : 3U,
                                                    .leaves_frees_open = seed % 5 == 0});
            if (seed % 2 == 1) say_more(recording);
            return recording;
          }};
}

std::vector<TriedTrace> sample() {
  std::vector<TriedTrace> traces = {random_trace(1), random_trace(3), random_trace(4)};
  for (const char* file :
       {"bfc-oom.csv", "torch/little_to_collect.pickle", "torch/warm_ring.pickle"}) {
    traces.push_back(bundled_trace(file));
  }
  return traces;
}

std::vector<TriedTrace> every_trace() {
  std::set<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(MEMREPLAY_TRACES)) {
    const std::string path = entry.path().string();
    if (!entry.is_regular_file() || path.ends_with(".md") || !seems_a_recording(path)) continue;
    files.insert(fs::relative(path, MEMREPLAY_TRACES).string());
  }
  std::vector<TriedTrace> traces;
  for (const std::string& file : files) traces.push_back(bundled_trace(file));
  for (const ReaderSample& sample : reader_samples()) {
    if (read_recording("sample", sample.golden(), {}).traces.empty()) continue;
    traces.push_back({fmt::format("sample_{}_{}", traces.size(), in_a_name(sample.format)),
                      [&sample] { return read_recording("sample", sample.golden(), {}); }});
  }
  for (const WorkloadInfo& workload : workloads()) traces.push_back(workload_trace(workload));
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) traces.push_back(random_trace(seed));
  return traces;
}

Inputs inputs_of(const std::vector<const Recording*>& recordings,
                 const std::vector<std::string>& edits) {
  InputOptions options;
  for (std::size_t i = 0; i < recordings.size(); ++i) options.paths.push_back(std::to_string(i));
  options.read.at_hand = [&](const std::string& path) {
    return std::optional(*recordings[std::stoul(path)]);
  };
  options.edits = edits;
  return Inputs(options);
}

std::vector<StrategySpec> strategies_for(const Recording& recording) {
  std::vector<StrategySpec> specs;
  for (const StrategyInfo& info : strategies()) {
    if (!info.needs_device.empty() || (info.name == "recorded" && !is_torch(recording))) continue;
    specs.push_back(parse_strategy(example_of(info)));
  }
  return specs;
}

ReplayAnswer replayed(const Inputs& inputs, const std::vector<StrategySpec>& strategies,
                      const Setup& setup) {
  return answer(inputs, open_devices(setup), {.strategies = strategies, .setup = setup}, {});
}

ReplayAnswer replayed(const Recording& recording, const Setup& setup) {
  return replayed(inputs_of(recording), strategies_for(recording), setup);
}

void expect_same(const Run& now, const Run& before) {
  std::string differences;
  for (const Metric& metric : metrics()) {
    if (metric.of == nullptr || metric.unit == Metric::Unit::seconds) continue;
    const MetricValue a = metric.of(now.metrics), b = metric.of(before.metrics);
    if (a != b) differences += fmt::format("; {} {}, not {}", metric.key, text_of(a), text_of(b));
  }
  EXPECT_EQ(differences, "") << "-s " << now.strategy;
}

void expect_same(const ReplayAnswer& now, const ReplayAnswer& before) {
  ASSERT_EQ(now.traces.size(), before.traces.size());
  for (std::size_t i = 0; i < now.traces.size(); ++i) {
    ASSERT_EQ(now.traces[i].runs.size(), before.traces[i].runs.size());
    for (std::size_t run = 0; run < now.traces[i].runs.size(); ++run) {
      expect_same(now.traces[i].runs[run], before.traces[i].runs[run]);
    }
  }
}

}  // namespace memreplay
