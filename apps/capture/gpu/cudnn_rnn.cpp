#include <algorithm>
#include <numeric>

#include "answers.hpp"
#include "cudnn.hpp"

// cuDNN's recurrent networks. The weights lie packed: for one pseudo-layer (a layer in one
// direction) after the other the matrices of its inputs, of its state, of its projection; then all
// biases.
using namespace memreplay::gpu;
using namespace memreplay::gpu::cudnn;

namespace {

constexpr std::size_t kOfADirection = 8 << 20;
constexpr std::size_t kWide = 256;  ///< a state that no multiprocessor holds
constexpr std::size_t kBesideWhatIsKept = 256;

struct Sequences {        // cudnnRNNDataDescriptor_t
  std::size_t steps = 0;  ///< all sequences together
};

struct Network {  // cudnnRNNDescriptor_t
  int cell = 0;   // cudnnRNNMode_t: ReLU, tanh, LSTM, GRU
  int bias = 0;   // cudnnRNNBiasMode_t: none, of the input, both, of the state
  int directions = 1;
  bool input_has_matrix = true;
  int type = 0;
  std::size_t input = 0, hidden = 0, projected = 0, layers = 0;
  bool drops = false;

  bool is_lstm() const { return cell == 2; }
  std::size_t gates() const { return is_lstm() ? 4 : cell == 3 ? 3 : 1; }
  bool projects() const { return is_lstm() && projected < hidden; }
  std::size_t pseudo_layers() const { return layers * static_cast<std::size_t>(directions); }
  std::size_t input_of(std::size_t pseudo_layer) const {
    const bool first = pseudo_layer < static_cast<std::size_t>(directions);
    if (!first) return projected * static_cast<std::size_t>(directions);
    return input_has_matrix ? input : 0;
  }
  std::size_t matrices_of(std::size_t pseudo_layer) const {
    return gates() * hidden * (input_of(pseudo_layer) + projected) +
           (projects() ? hidden * projected : 0);
  }
  std::size_t biases_of_one() const {
    return gates() * hidden * (bias == 0 ? 0 : bias == 2 ? 2 : 1);
  }
  std::size_t matrices_before(std::size_t pseudo_layer) const {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < pseudo_layer; ++i) sum += matrices_of(i);
    return sum;
  }
};

/// A part of the weights, in elements from their beginning; without columns there is none.
struct Part {
  std::size_t offset = 0, rows = 0, columns = 0;
};

/// Numbers of matrices: those of the input for each gate, those of the state, the projection.
Part matrix_of(const Network& network, std::size_t pseudo_layer, std::size_t number) {
  const std::size_t begin = network.matrices_before(pseudo_layer);
  const std::size_t gates = network.gates();
  const std::size_t input = network.input_of(pseudo_layer);
  const std::size_t behind_input = begin + gates * network.hidden * input;
  if (number < gates) return {begin + number * network.hidden * input, network.hidden, input};
  if (number < 2 * gates) {
    const std::size_t size = network.hidden * network.projected;
    return {behind_input + (number - gates) * size, network.hidden, network.projected};
  }
  if (!network.projects()) return {};
  return {behind_input + gates * network.hidden * network.projected, network.projected,
          network.hidden};
}

Part bias_of(const Network& network, std::size_t pseudo_layer, std::size_t number) {
  const std::size_t gates = network.gates();
  if (network.bias == 3) {  // the state has one, the input none
    if (number < gates) return {};
    number -= gates;
  }
  if (number * network.hidden >= network.biases_of_one()) return {};
  return {network.matrices_before(network.pseudo_layers()) +
              pseudo_layer * network.biases_of_one() + number * network.hidden,
          network.hidden, 1};
}

/// A caller that does not want to know it has no tensor for it.
void give_part(const Network& network, const Part& part, const void* weights, Handle tensor,
               void** address) {
  if (!tensor || !address) return;
  Tensor& described = at<Tensor>(tensor);
  described = {};
  described.type = network.type;
  *address = nullptr;
  if (part.columns == 0) return;
  described.rank = 3;
  described.sizes = {1, static_cast<int>(part.rows), static_cast<int>(part.columns)};
  described.strides = {static_cast<int>(part.rows * part.columns), static_cast<int>(part.columns),
                       1};
  *address = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(weights) +
                                     part.offset * element_size(network.type));
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cudnnCreateRNNDescriptor(Handle* network) { return create<Network>(network); }
Status cudnnDestroyRNNDescriptor(Handle network) { return destroy<Network>(network); }

Status cudnnSetRNNDescriptor_v8(Handle network, int, int cell, int bias, int direction,
                                int input_mode, int type, int, int, std::int32_t input,
                                std::int32_t hidden, std::int32_t projected, std::int32_t layers,
                                Handle dropout, std::uint32_t) {
  const auto count = [](std::int32_t number) { return static_cast<std::size_t>(number); };
  if (input < 0 || hidden < 0 || projected < 0 || layers < 0) return kBadParameter;
  at<Network>(network) = {.cell = cell,
                          .bias = bias,
                          .directions = direction + 1,
                          .input_has_matrix = input_mode == 0,
                          .type = type,
                          .input = count(input),
                          .hidden = count(hidden),
                          .projected = count(projected == 0 ? hidden : projected),
                          .layers = count(layers),
                          .drops = dropout && at<Dropout>(dropout).rate > 0};
  return kSuccess;
}

Status cudnnCreateRNNDataDescriptor(Handle* sequences) { return create<Sequences>(sequences); }
Status cudnnDestroyRNNDataDescriptor(Handle sequences) { return destroy<Sequences>(sequences); }

Status cudnnSetRNNDataDescriptor(Handle sequences, int, int, int, int batch, int,
                                 const int* lengths, void*) {
  at<Sequences>(sequences).steps =
      std::accumulate(lengths, lengths + std::max(batch, 0), std::size_t{0});
  return kSuccess;
}

Status cudnnGetRNNWeightSpaceSize(Handle, Handle handle, std::size_t* size) {
  const Network& network = at<Network>(handle);
  const std::size_t elements = network.matrices_before(network.pseudo_layers()) +
                               network.pseudo_layers() * network.biases_of_one();
  return give(size, elements * element_size(network.type));
}

Status cudnnGetRNNWeightParams(Handle, Handle handle, std::int32_t pseudo_layer, std::size_t,
                               const void* weights, std::int32_t number, Handle matrix,
                               void** matrix_address, Handle bias, void** bias_address) {
  const Network& network = at<Network>(handle);
  const auto layer = static_cast<std::size_t>(pseudo_layer);
  const auto of = static_cast<std::size_t>(number);
  if (pseudo_layer < 0 || number < 0 || layer >= network.pseudo_layers()) return kBadParameter;
  give_part(network, matrix_of(network, layer, of), weights, matrix, matrix_address);
  give_part(network, bias_of(network, layer, of), weights, bias, bias_address);
  return kSuccess;
}

/// What is kept for the backward pass is what cuDNN 9.19 said on an H100 of 845 networks: of every
/// layer and step the gates, an inner state and the outputs that go on, with a bit of dropout for
/// each. The workspace is a model after the same networks, half of which are within a third of it.
Status cudnnGetRNNTempSpaceSizes(Handle, Handle handle, int forward_mode, Handle sequences,
                                 std::size_t* workspace, std::size_t* reserve) {
  const Network& network = at<Network>(handle);
  const std::size_t steps = at<Sequences>(sequences).steps;
  const auto directions = static_cast<std::size_t>(network.directions);
  const std::size_t element = element_size(network.type);
  const std::size_t gates = network.gates();
  std::size_t weights = 0;
  cudnnGetRNNWeightSpaceSize(nullptr, handle, &weights);
  const bool stays_on_chip = network.hidden < kWide && element >= 4;
  const std::size_t of_a_step = (stays_on_chip ? 9 * gates / 2 : gates + 2) * network.hidden;
  give_modelled("cudnnRNNForward", workspace,
                directions * (kOfADirection + steps * of_a_step * element) + weights);
  if (!reserve) return kSuccess;
  if (forward_mode == 0) return give(reserve, 0);  // inference keeps nothing
  const std::size_t inner = gates == 3 ? 3 : gates == 4 ? 1 : 0;
  const std::size_t going_on = (network.pseudo_layers() - directions) * network.hidden;
  const std::size_t both = network.projects() ? network.hidden + network.projected : 0;
  const std::size_t kept =
      steps * element *
      (network.pseudo_layers() * ((gates + inner) * network.hidden + both) + going_on);
  const std::size_t dropped = network.drops ? steps * going_on * directions / 8 : 0;
  return give_modelled("cudnnRNNForward (reserve)", reserve, kept + dropped + kBesideWhatIsKept);
}

}  // extern "C"
#pragma GCC visibility pop
