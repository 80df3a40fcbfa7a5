#include <algorithm>

#include "answers.hpp"
#include "cudnn.hpp"

// cuDNN without graphs: an algorithm for each convolution, batch normalisation, CTC.
using namespace memreplay::gpu;
using namespace memreplay::gpu::cudnn;

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
