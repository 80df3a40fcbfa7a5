#include "work.hpp"

#include <utility>

namespace stand_in {

void Work::remove_stream(CUstream stream) {
  finish(stream);
  streams_.erase(stream);
}

void Work::add(CUstream stream, std::function<void()> task) {
  streams_[stream].push_back({++tasks_, std::move(task), nullptr});
}

std::shared_ptr<Moment> Work::mark(CUstream stream) {
  auto moment = std::make_shared<Moment>();
  moment->stream = stream;
  add(stream, [this, moment] {
    moment->reached = true;
    moment->time_ns = time_ns;
  });
  return moment;
}

void Work::wait_for(CUstream stream, std::shared_ptr<Moment> moment) {
  streams_[stream].push_back({++tasks_, [] {}, std::move(moment)});
}

bool Work::is_ready(const Task& task) { return task.after == nullptr || task.after->reached; }

// A moment lies in the past of whoever waits for it, so this ends.
void Work::do_next(CUstream stream) {
  Task task = std::move(streams_[stream].front());
  streams_[stream].pop_front();
  if (task.after != nullptr) reach(*task.after);
  task.run();
}

void Work::reach(const Moment& moment) {
  while (!moment.reached) do_next(moment.stream);
}

void Work::finish(CUstream stream) {
  while (!streams_[stream].empty()) do_next(stream);
}

// In rounds, so that what streams do without waiting for one another gets mixed up.
void Work::finish_all() {
  for (;;) {
    std::map<std::uint64_t, CUstream, std::greater<>> round;
    for (const auto& [stream, tasks] : streams_) {
      if (!tasks.empty() && is_ready(tasks.front())) round[tasks.front().number] = stream;
    }
    if (round.empty()) return;
    for (const auto& [number, stream] : round) do_next(stream);
  }
}

}  // namespace stand_in
