#include <algorithm>
#include <optional>
#include <vector>

#include "extensions/workloads/workload.hpp"

namespace memreplay {
namespace {

enum TrainingTag : std::uint32_t { kStep = 1, kWeights, kOptimizer, kGradient, kSaved, kScratch };

/// The stage of a pipeline that a process has, of a transformer in training.
struct TrainingShape {
  explicit TrainingShape(const WorkloadValues& values)
      : stages(values.whole("stages", 1, 1024)),
        stage(values.whole("stage", 0, stages - 1)),
        layers(std::max<std::uint64_t>(values.whole("layers", 1, 10'000) / stages, 1)),
        hidden(values.whole("hidden", 1, 1 << 20)),
        heads(values.whole("heads", 1, 4096)),
        sequence(values.whole("sequence", 1, 1 << 20)),
        batch(values.whole("batch", 1, 4096)),
        vocabulary(values.whole("vocabulary", 1, 1 << 24)),
        element(values.whole("bytes", 1, 8)),
        micro(values.whole("micro", 1, 100'000)),
        checkpoint(values.whole("checkpoint", 0, 10'000)),
        states(2 - values.choice("optimizer")),
        shorter(values.number("shorter", 0, 0.99)) {}

  bool is_first() const { return stage == 0; }
  bool is_last() const { return stage + 1 == stages; }

  std::uint64_t stages, stage, layers, hidden, heads, sequence, batch, vocabulary, element, micro;
  std::uint64_t checkpoint;  ///< every so many layers; 0: all is saved
  std::uint64_t states;      ///< the optimizer's, of four bytes a weight
  double shorter;
};

class TrainingStage {
 public:
  TrainingStage(const TrainingShape& shape, Draws& draws, WorkloadEvents& events)
      : shape_(shape), draws_(draws), events_(events) {}

  void begin();
  void step();

 private:
  /// What the layers of one micro-batch have saved for its backward pass.
  struct MicroBatch {
    std::vector<std::vector<Slot>> saved;  ///< by layer
  };

  std::vector<Bytes> saved_sizes() const;
  bool keeps(std::size_t layer) const {
    return shape_.checkpoint == 0 || layer % shape_.checkpoint == 0;
  }
  Bytes activation() const { return tokens_ * shape_.hidden * shape_.element; }
  void scratch(Bytes size) { events_.free(events_.allocate(size, kScratch)); }
  std::vector<Slot> forward_layer();
  MicroBatch forward();
  void backward(MicroBatch micro);
  void backward_group(MicroBatch& micro, std::size_t from, std::size_t to, Slot& gradient);
  void backward_layer(const std::vector<Slot>& saved, std::size_t layer, Slot& gradient);
  void free_all(const std::vector<Slot>& slots) {
    for (const Slot slot : slots) events_.free(slot);
  }
  void optimize();

  const TrainingShape& shape_;
  Draws& draws_;
  WorkloadEvents& events_;
  std::uint64_t length_ = 0;                  ///< length of the sequences in this step
  std::uint64_t tokens_ = 0;                  ///< tokens in a micro-batch
  std::vector<std::vector<Bytes>> weights_;   ///< by layer; the last one is of the embeddings
  std::vector<std::vector<Slot>> gradients_;  ///< likewise; none before the first backward pass
  bool has_states_ = false;
};

void TrainingStage::begin() {
  const Bytes square = shape_.hidden * shape_.hidden * shape_.element;
  const Bytes row = shape_.hidden * shape_.element;
  weights_.assign(shape_.layers, {3 * square, square, 4 * square, 4 * square, row, row});
  std::vector<Bytes> outer;
  const Bytes table = shape_.vocabulary * row;
  if (shape_.is_first()) outer.push_back(table);
  if (shape_.is_last()) outer.push_back(table);
  weights_.push_back(outer);
  gradients_.resize(weights_.size());
  for (const auto& layer : weights_) {
    for (const Bytes size : layer) events_.allocate(size, kWeights);
  }
}

/// The input, queries with keys and values, scores and their softmax, what attention gives, and
/// both sides of the activation function between them.
std::vector<Bytes> TrainingStage::saved_sizes() const {
  const Bytes one = activation();
  const Bytes scores = tokens_ * length_ * shape_.heads * shape_.element;
  return {one, 3 * one, scores, scores, one, 4 * one, 4 * one};
}

std::vector<Slot> TrainingStage::forward_layer() {
  std::vector<Slot> saved;
  for (const Bytes size : saved_sizes()) {
    saved.push_back(events_.allocate(size, kSaved));
    scratch(activation());
  }
  return saved;
}

/// A layer that is checkpointed keeps only its input; others in its group keep nothing.
TrainingStage::MicroBatch TrainingStage::forward() {
  MicroBatch micro;
  for (std::size_t layer = 0; layer < shape_.layers && !events_.full(); ++layer) {
    std::vector<Slot> saved = forward_layer();
    if (shape_.checkpoint > 0) {
      const std::size_t kept = keeps(layer) ? 1 : 0;
      for (std::size_t i = kept; i < saved.size(); ++i) events_.free(saved[i]);
      saved.resize(kept);
    }
    micro.saved.push_back(std::move(saved));
  }
  if (shape_.is_last()) scratch(tokens_ * shape_.vocabulary * shape_.element);
  return micro;
}

void TrainingStage::backward(MicroBatch micro) {
  Slot gradient = events_.allocate(activation(), kScratch);
  const std::size_t group = shape_.checkpoint == 0 ? micro.saved.size() : shape_.checkpoint;
  for (std::size_t to = micro.saved.size(); to > 0;) {
    const std::size_t from = (to - 1) / group * group;
    backward_group(micro, from, to, gradient);
    to = from;
  }
  events_.free(gradient);
}

/// A group of layers after a checkpoint is run forward again before it is run backward.
void TrainingStage::backward_group(MicroBatch& micro, std::size_t from, std::size_t to,
                                   Slot& gradient) {
  if (shape_.checkpoint > 0) {
    for (std::size_t layer = from; layer < to; ++layer) {
      const std::vector<Slot> again = forward_layer();
      micro.saved[layer].insert(micro.saved[layer].end(), again.begin(), again.end());
    }
  }
  for (std::size_t layer = to; layer-- > from;) {
    backward_layer(micro.saved[layer], layer, gradient);
  }
}

void TrainingStage::backward_layer(const std::vector<Slot>& saved, std::size_t layer,
                                   Slot& gradient) {
  for (std::size_t i = saved.size(); i-- > 0;) {
    const Slot next = events_.allocate(activation(), kScratch);
    events_.free(gradient);
    events_.free(saved[i]);
    gradient = next;
  }
  std::vector<Slot>& gradients = gradients_[layer];
  const bool is_first = gradients.empty();
  for (const Bytes size : weights_[layer]) {
    const Slot slot = events_.allocate(size, kGradient);
    if (is_first) gradients.push_back(slot);
    if (!is_first) events_.free(slot);  // added to what is there
  }
}

/// Its states come with the first step, gradients go with each.
void TrainingStage::optimize() {
  for (std::size_t layer = 0; layer < weights_.size(); ++layer) {
    for (const Bytes size : weights_[layer]) {
      const Bytes state = size / shape_.element * 4;
      for (std::uint64_t i = 0; i < shape_.states && !has_states_; ++i) {
        events_.allocate(state, kOptimizer);
      }
      if (shape_.states > 0) scratch(state);
    }
    free_all(gradients_[layer]);
    gradients_[layer].clear();
  }
  has_states_ = true;
}

/// One forward, one backward (PipeDream-Flush): the earlier the stage, the more micro-batches wait.
void TrainingStage::step() {
  events_.mark(kStep);
  const double share = 1 - shape_.shorter * draws_.share();
  length_ = static_cast<std::uint64_t>(static_cast<double>(shape_.sequence) * share);
  length_ = std::max<std::uint64_t>(length_, 1);
  tokens_ = length_ * shape_.batch;
  std::vector<MicroBatch> waiting;
  const std::uint64_t most = std::min(shape_.stages - shape_.stage, shape_.micro);
  for (std::uint64_t begun = 0, ended = 0; ended < shape_.micro && !events_.full();) {
    if (begun < shape_.micro && begun - ended < most) {
      waiting.push_back(forward());
      ++begun;
      continue;
    }
    backward(std::move(waiting.front()));
    waiting.erase(waiting.begin());
    ++ended;
  }
  optimize();
}

void run_training(const WorkloadValues& values, Draws& draws, WorkloadEvents& events) {
  const TrainingShape shape(values);
  TrainingStage stage(shape, draws, events);
  stage.begin();
  while (!events.full()) stage.step();
}

}  // namespace

WorkloadInfo training_workload() {
  return {
      .name = "training",
      .summary = "A transformer in training, step by step: one stage of a pipeline",
      .options =
          {{"layers", "N", "24", "Layers of the whole model; a stage has its part."},
           {"hidden", "N", "1024", "Width. A layer has weights of 12 times its square."},
           {"heads", "N", "16", "Attention heads, whose scores are kept whole."},
           {"sequence", "N", "1024", "Most tokens of a sequence."},
           {"shorter", "SHARE", "0.25",
            "The sequences of a step are shorter by up to this share, uniform."},
           {"batch", "N", "4", "Sequences of a micro-batch."},
           {"micro", "N", "1", "Micro-batches of a step."},
           {"vocabulary", "N", "50304", "Rows of the embedding and of the head."},
           {"bytes", "N", "2", "Bytes of a number; the optimizer's have 4."},
           {"checkpoint", "N", "0",
            "Only the input of every Nth layer is kept, the rest computed again; 0: all is kept."},
           {"optimizer", "adam|sgd|none", "adam",
            "Adam has two states of each weight, sgd (with momentum) one."},
           {"stages", "N", "1", "Stages of the pipeline (one forward, one backward)."},
           {"stage", "N", "0", "Which stage, from 0."}},
      .texts = {"", "step", "weights", "optimizer", "gradient", "saved", "scratch"},
      .run = run_training};
}

}  // namespace memreplay
