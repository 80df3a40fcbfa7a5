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
  return machine().load(LoadedLibrary::cudnn);
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
