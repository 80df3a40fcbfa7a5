#include <algorithm>
#include <cmath>
#include <vector>

#include "extensions/workloads/workload.hpp"

namespace memreplay {
namespace {

enum InferenceTag : std::uint32_t { kModel = 1, kCache, kPrompt, kLogits };

struct ServerShape {
  explicit ServerShape(const WorkloadValues& values)
      : layers(values.whole("layers", 1, 10'000)),
        weights(values.size("weights")),
        token(values.size("token")),
        hidden(values.size("hidden")),
        vocabulary(values.size("logits")),
        batch(values.whole("batch", 1, 1'000'000)),
        shortest(values.whole("shortest", 1, 1 << 24)),
        longest(std::max(values.whole("longest", 1, 1 << 24), shortest)),
        answer(values.number("answer", 1, 1e7)),
        grow(values.whole("grow", 1, 1 << 24)),
        arrivals(values.number("arrivals", 0.0001, 1e6)) {}

  std::uint64_t layers;
  Bytes weights, token, hidden, vocabulary;
  std::uint64_t batch, shortest, longest;
  double answer;
  std::uint64_t grow;
  double arrivals;
};

/// A request that is being served.
struct ServedRequest {
  std::uint64_t tokens = 0;  ///< so far
  std::uint64_t ends_at = 0;
  std::uint64_t room = 0;    ///< tokens for which its caches have memory
  std::vector<Slot> caches;  ///< by layer
};

class BatchingServer {
 public:
  BatchingServer(const ServerShape& shape, Draws& draws, WorkloadEvents& events)
      : shape_(shape), draws_(draws), events_(events) {
    for (std::uint64_t i = 0; i < shape_.layers; ++i) events_.allocate(shape_.weights, kModel);
  }

  /// A token for every request that is served; those that came are admitted first.
  void step() {
    for (due_ += draws_.exponential(shape_.arrivals); due_ >= 1; --due_) {
      if (served_.size() < shape_.batch) admit();
    }
    if (served_.empty()) admit();
    const Slot logits = events_.allocate(served_.size() * shape_.vocabulary, kLogits);
    for (ServedRequest& request : served_) {
      if (++request.tokens > request.room) grow(request);
    }
    events_.free(logits);
    for (const ServedRequest& request : served_) {
      if (request.tokens < request.ends_at) continue;
      for (const Slot cache : request.caches) events_.free(cache);
    }
    std::erase_if(served_, [](const auto& request) { return request.tokens >= request.ends_at; });
  }

 private:
  void admit() {
    ServedRequest request;
    request.tokens = static_cast<std::uint64_t>(draws_.log_uniform(
        static_cast<double>(shape_.shortest), static_cast<double>(shape_.longest) + 1));
    request.ends_at =
        request.tokens + 1 + static_cast<std::uint64_t>(draws_.exponential(shape_.answer));
    const Slot prompt = events_.allocate(request.tokens * shape_.hidden, kPrompt);
    grow(request);
    events_.free(prompt);
    served_.push_back(std::move(request));
  }

  /// Each layer's cache is copied to a larger one, as by torch.cat.
  void grow(ServedRequest& request) {
    request.room = (request.tokens + shape_.grow - 1) / shape_.grow * shape_.grow;
    for (std::uint64_t layer = 0; layer < shape_.layers; ++layer) {
      const Slot larger = events_.allocate(request.room * shape_.token, kCache);
      if (layer < request.caches.size()) {
        events_.free(request.caches[layer]);
        request.caches[layer] = larger;
      } else {
        request.caches.push_back(larger);
      }
    }
  }

  const ServerShape& shape_;
  Draws& draws_;
  WorkloadEvents& events_;
  std::vector<ServedRequest> served_;
  double due_ = 0;  ///< requests
};

void run_inference(const WorkloadValues& values, Draws& draws, WorkloadEvents& events) {
  const ServerShape shape(values);
  BatchingServer server(shape, draws, events);
  while (!events.full()) server.step();
}

}  // namespace

WorkloadInfo inference_workload() {
  return {
      .name = "inference",
      .summary = "A language model that serves requests in continuous batches; their caches grow",
      .options = {{"layers", "N", "32", "Layers; each has weights, and a cache for every request."},
                  {"weights", "SIZE", "384MiB", "Weights of a layer."},
                  {"token", "SIZE", "4KiB", "Bytes of a layer's cache for each token."},
                  {"hidden", "SIZE", "8KiB", "Bytes for each token of a prompt while it is read."},
                  {"logits", "SIZE", "256KiB", "Bytes of each request at each step."},
                  {"batch", "N", "32", "Most requests served at once; others go elsewhere."},
                  {"arrivals", "X", "0.2",
                   "Average number of requests that arrive in a step; exponential."},
                  {"shortest", "N", "16", "Fewest tokens of a prompt; log-uniform."},
                  {"longest", "N", "4096", "Most tokens of a prompt."},
                  {"answer", "X", "200", "Average tokens of an answer; exponential."},
                  {"grow", "N", "16",
                   "A full cache is replaced by one with room for this many more tokens."}},
      .texts = {"", "weights", "cache", "prompt", "logits"},
      .run = run_inference};
}

}  // namespace memreplay
