#include "cudnn.hpp"

#include <algorithm>

#include "answers.hpp"
#include "runtime.hpp"
#include "settings.hpp"

// cuDNN: its handle and the descriptors that programs ask for what they told them.
using namespace memreplay::gpu;
using namespace memreplay::gpu::cudnn;

namespace {

struct Library {
  Stream stream = nullptr;
};

Status describe(Tensor& tensor, int type, int rank, const int* sizes, const int* strides) {
  if (rank < 0 || rank > Tensor::kMostSizes) return kBadParameter;
  tensor.type = type;
  tensor.rank = rank;
  std::copy_n(sizes, rank, tensor.sizes.begin());
  if (strides) std::copy_n(strides, rank, tensor.strides.begin());
  return kSuccess;
}

}  // namespace

std::size_t memreplay::gpu::cudnn::element_size(int type) {
  switch (type) {
    case 0:
    case 4:
    case 5:
    case 7:
    case 19:
      return 4;
    case 1:
    case 10:
    case 20:
      return 8;
    case 2:
    case 9:
      return 2;
    case 8:
      return 32;
    default:
      return 1;
  }
}

#pragma GCC visibility push(default)
extern "C" {

std::size_t cudnnGetVersion() { return static_cast<std::size_t>(cudnn_version()); }

std::size_t cudnnGetCudartVersion() {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  return static_cast<std::size_t>(version);
}

/// Major, minor and patch, by their numbers in libraryPropertyType.
Status cudnnGetProperty(int property, int* value) {
  const int version = cudnn_version();
  const int parts[] = {version / 10000, version / 100 % 100, version % 100};
  if (property < 0 || property > 2) return kBadParameter;
  return give(value, parts[property]);
}

const char* cudnnGetErrorString(Status) { return "CUDNN_STATUS of the virtual GPU"; }
void cudnnGetLastErrorString(char* text, std::size_t room) {
  if (room > 0) *text = '\0';
}

Status cudnnCreate(Handle* library) {
  create<Library>(library);
  return machine().load(CardLibrary::cudnn);
}
Status cudnnDestroy(Handle library) { return destroy<Library>(library); }

Status cudnnSetStream(Handle library, Stream stream) {
  at<Library>(library).stream = stream;
  return kSuccess;
}

Status cudnnGetStream(Handle library, Stream* stream) {
  return give(stream, at<Library>(library).stream);
}

Status cudnnCreateTensorDescriptor(Handle* tensor) { return create<Tensor>(tensor); }
Status cudnnDestroyTensorDescriptor(Handle tensor) { return destroy<Tensor>(tensor); }
Status cudnnCreateFilterDescriptor(Handle* filter) { return create<Tensor>(filter); }
Status cudnnDestroyFilterDescriptor(Handle filter) { return destroy<Tensor>(filter); }

Status cudnnSetTensorNdDescriptor(Handle tensor, int type, int rank, const int* sizes,
                                  const int* strides) {
  return describe(at<Tensor>(tensor), type, rank, sizes, strides);
}

Status cudnnGetTensorNdDescriptor(Handle handle, int room, int* type, int* rank, int* sizes,
                                  int* strides) {
  const Tensor& tensor = at<Tensor>(handle);
  const int count = std::min(room, tensor.rank);
  std::copy_n(tensor.sizes.begin(), count, sizes);
  std::copy_n(tensor.strides.begin(), count, strides);
  *type = tensor.type;
  return give(rank, tensor.rank);
}

Status cudnnSetFilterNdDescriptor(Handle filter, int type, int format, int rank, const int* sizes) {
  at<Tensor>(filter).format = format;
  return describe(at<Tensor>(filter), type, rank, sizes, nullptr);
}

Status cudnnGetFilterNdDescriptor(Handle handle, int room, int* type, int* format, int* rank,
                                  int* sizes) {
  const Tensor& filter = at<Tensor>(handle);
  std::copy_n(filter.sizes.begin(), std::min(room, filter.rank), sizes);
  *type = filter.type;
  *format = filter.format;
  return give(rank, filter.rank);
}

Status cudnnCreateActivationDescriptor(Handle* activation) { return give_handle(activation); }
Status cudnnCreateConvolutionDescriptor(Handle* convolution) { return give_handle(convolution); }
Status cudnnCreatePoolingDescriptor(Handle* pooling) { return give_handle(pooling); }
Status cudnnCreateSpatialTransformerDescriptor(Handle* transformer) {
  return give_handle(transformer);
}

Status cudnnCreateDropoutDescriptor(Handle* dropout) { return create<Dropout>(dropout); }
Status cudnnDestroyDropoutDescriptor(Handle dropout) { return destroy<Dropout>(dropout); }

Status cudnnSetDropoutDescriptor(Handle dropout, Handle, float rate, void*, std::size_t,
                                 unsigned long long) {
  at<Dropout>(dropout).rate = rate;
  return kSuccess;
}

Status cudnnRestoreDropoutDescriptor(Handle dropout, Handle handle, float rate, void* states,
                                     std::size_t size, unsigned long long seed) {
  return cudnnSetDropoutDescriptor(dropout, handle, rate, states, size, seed);
}

/// By a model: a generator of 48 bytes, cuRAND's usual one, for each of 1024 threads on every
/// multiprocessor.
Status cudnnDropoutGetStatesSize(Handle, std::size_t* size) {
  constexpr std::size_t kGenerator = 48;
  constexpr std::size_t kThreads = 1024;
  return give_modelled(
      "cudnnDropoutGetStatesSize", size,
      static_cast<std::size_t>(settings().multiprocessors) * kThreads * kGenerator);
}

}  // extern "C"
#pragma GCC visibility pop

// cuDNN without graphs: an algorithm for each convolution, batch normalisation, CTC.

namespace {

struct AlgorithmResult {  // cudnnConvolutionFwdAlgoPerf_t and its two brothers
  int algorithm;
  Status status;
  float milliseconds;
  std::size_t memory;
  int determinism;
  int math;
  int reserved[3];
};

// The algorithms that compute without a workspace and always the same: the implicit product of
// matrices, and its numbers among the backward algorithms.
constexpr int kForward = 0;
constexpr int kBackward = 1;

Status give_algorithm(int algorithm, int room, int* count, AlgorithmResult* results) {
  *count = std::min(room, 1);
  if (room > 0) *results = {.algorithm = algorithm, .determinism = 1};
  return kSuccess;
}

struct Alignment {  // cudnnCTCLossDescriptor_t
  int longest_label = 0;
};

/// By a model: the forward and the backward variables of Graves et al., Connectionist Temporal
/// Classification, in single precision: one for each symbol and each blank, at each time.
Status give_alignment_workspace(const char* function, Handle probabilities, int longest_label,
                                std::size_t* size) {
  const Tensor& tensor = at<Tensor>(probabilities);  // times, batch, alphabet
  const std::size_t states = 2 * static_cast<std::size_t>(longest_label) + 1;
  const std::size_t places =
      static_cast<std::size_t>(tensor.sizes[0]) * static_cast<std::size_t>(tensor.sizes[1]);
  return give_modelled(function, size, 2 * places * states * sizeof(float));
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cudnnGetConvolutionForwardAlgorithm_v7(Handle, Handle, Handle, Handle, Handle, int room,
                                              int* count, AlgorithmResult* results) {
  return give_algorithm(kForward, room, count, results);
}
Status cudnnGetConvolutionBackwardDataAlgorithm_v7(Handle, Handle, Handle, Handle, Handle, int room,
                                                   int* count, AlgorithmResult* results) {
  return give_algorithm(kBackward, room, count, results);
}
Status cudnnGetConvolutionBackwardFilterAlgorithm_v7(Handle, Handle, Handle, Handle, Handle,
                                                     int room, int* count,
                                                     AlgorithmResult* results) {
  return give_algorithm(kBackward, room, count, results);
}

Status cudnnFindConvolutionForwardAlgorithmEx(Handle, Handle, const void*, Handle, const void*,
                                              Handle, Handle, void*, int room, int* count,
                                              AlgorithmResult* results, void*, std::size_t) {
  return give_algorithm(kForward, room, count, results);
}
Status cudnnFindConvolutionBackwardDataAlgorithmEx(Handle, Handle, const void*, Handle, const void*,
                                                   Handle, Handle, void*, int room, int* count,
                                                   AlgorithmResult* results, void*, std::size_t) {
  return give_algorithm(kBackward, room, count, results);
}
Status cudnnFindConvolutionBackwardFilterAlgorithmEx(Handle, Handle, const void*, Handle,
                                                     const void*, Handle, Handle, void*, int room,
                                                     int* count, AlgorithmResult* results, void*,
                                                     std::size_t) {
  return give_algorithm(kBackward, room, count, results);
}

Status cudnnGetConvolutionForwardWorkspaceSize(Handle, Handle, Handle, Handle, Handle, int,
                                               std::size_t* size) {
  return give_modelled("cudnnConvolutionForward", size, 0);
}
Status cudnnGetConvolutionBackwardDataWorkspaceSize(Handle, Handle, Handle, Handle, Handle, int,
                                                    std::size_t* size) {
  return give_modelled("cudnnConvolutionBackwardData", size, 0);
}
Status cudnnGetConvolutionBackwardFilterWorkspaceSize(Handle, Handle, Handle, Handle, Handle, int,
                                                      std::size_t* size) {
  return give_modelled("cudnnConvolutionBackwardFilter", size, 0);
}

Status cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(Handle, int, int, Handle, Handle,
                                                                Handle, Handle, Handle,
                                                                std::size_t* size) {
  return give_modelled("cudnnBatchNormalizationForwardTrainingEx", size, 0);
}
Status cudnnGetBatchNormalizationBackwardExWorkspaceSize(Handle, int, int, Handle, Handle, Handle,
                                                         Handle, Handle, Handle, Handle,
                                                         std::size_t* size) {
  return give_modelled("cudnnBatchNormalizationBackwardEx", size, 0);
}
Status cudnnGetBatchNormalizationTrainingExReserveSpaceSize(Handle, int, int, Handle, Handle,
                                                            std::size_t* size) {
  return give_modelled("cudnnBatchNormalizationTrainingEx (reserve)", size, 0);
}

Status cudnnCreateCTCLossDescriptor(Handle* alignment) { return create<Alignment>(alignment); }
Status cudnnDestroyCTCLossDescriptor(Handle alignment) { return destroy<Alignment>(alignment); }
Status cudnnSetCTCLossDescriptor_v8(Handle alignment, int, int, int, int longest_label) {
  at<Alignment>(alignment).longest_label = longest_label;
  return kSuccess;
}
Status cudnnSetCTCLossDescriptor_v9(Handle alignment, int type, int normalisation, int gradient,
                                    int longest_label) {
  return cudnnSetCTCLossDescriptor_v8(alignment, type, normalisation, gradient, longest_label);
}

Status cudnnGetCTCLossWorkspaceSize(Handle, Handle probabilities, Handle, const int*,
                                    const int* label_lengths, const int*, int, Handle,
                                    std::size_t* size) {
  const int batch = at<Tensor>(probabilities).sizes[1];
  const int longest = batch > 0 ? *std::max_element(label_lengths, label_lengths + batch) : 0;
  return give_alignment_workspace("cudnnCTCLoss", probabilities, longest, size);
}
Status cudnnGetCTCLossWorkspaceSize_v8(Handle, int, Handle alignment, Handle probabilities, Handle,
                                       std::size_t* size) {
  return give_alignment_workspace("cudnnCTCLoss_v8", probabilities,
                                  at<Alignment>(alignment).longest_label, size);
}

}  // extern "C"
#pragma GCC visibility pop
