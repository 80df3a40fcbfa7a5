#include <algorithm>

#include "answers.hpp"

using namespace memreplay::gpu;

namespace {

/// Lengths whose prime factors are at most 127 are computed by Cooley and Tukey's method, others by
/// Bluestein's: cuFFT's documentation, "Accuracy and Performance".
bool is_smooth(long long length) {
  for (long long factor = 2; factor <= 127; ++factor)
    while (length > 1 && length % factor == 0) length /= factor;
  return length <= 1;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cufftCreate(int* plan) { return give(plan, 1); }

/// By a model between the bounds in cuFFT's documentation, "Fourier Transform Setup": at least as
/// many complex elements as the batch has, in the worst case eight times as many.
Status cufftXtMakePlanMany(int, int rank, const long long* lengths, const long long*, long long,
                           long long, int, const long long*, long long, long long, int,
                           long long batch, std::size_t* size, int execution_type) {
  auto elements = static_cast<std::size_t>(batch);
  for (int i = 0; i < rank; ++i) elements *= static_cast<std::size_t>(lengths[i]);
  if (!std::all_of(lengths, lengths + rank, is_smooth)) elements *= 8;
  return give_modelled("cufftXtMakePlanMany", size, elements * size_of_type(execution_type));
}

Status cufftXtExec(int, const void*, void*, int) { return computed(); }

}  // extern "C"
#pragma GCC visibility pop
