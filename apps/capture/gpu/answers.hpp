#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "abi.hpp"
#include "machine.hpp"
#include "runtime.hpp"

namespace memreplay::gpu {

/// Small contents that are known although nothing is computed: what the program itself copied to a
/// device, until the next kernel, which might have changed it.

/// A copy between any two places; what a device does not know reads as the Fill of the settings,
/// and the program is told afterwards that it has read it.
void copy(void* to, const void* from, std::size_t size);
void set(void* to, int value, std::size_t size);
/// From here on nothing is known any more.
void a_kernel_ran();

/// What the person is told at the end of the recording.

/// The program looked at something that only a kernel could have computed.
void value_was_read(std::size_t size);
/// A workspace that the original library would have asked for, by a rule that is written down.
void workspace_was_modelled(const char* function, std::size_t size);
/// The real cuDNN of this version answered about a graph.
void cudnn_was_asked(const std::string& version, const std::string& graph);
/// It did not, and the model did.
void cudnn_was_not_asked(const std::string& why, const std::string& graph);
/// The program timed engines of a graph, to keep the fastest, with workspaces from the least to the
/// most so far.
void engines_were_timed(const void* graph, std::int64_t least, std::int64_t most);
/// An engine of cuDNN was executed: how long that took, if anybody asks.
void engine_was_executed(std::int64_t workspace);
/// A kernel was launched of which there is no code that the card runs; the oldest code is of this
/// architecture (75: 7.5).
void code_was_missing(int architecture);
/// Counts a request of the program; its number, from 1.
std::size_t request_was_made();
/// Request `number` of the program was refused because it was told to be.
void request_was_refused(std::size_t number, std::size_t size);

/// How the stand-ins of the maths libraries answer.

/// In bytes, by cudaDataType.
inline std::size_t size_of_type(int type) {
  switch (type) {
    case 1:  // CUDA_R_64F
    case 4:  // CUDA_C_32F
      return 8;
    case 5:  // CUDA_C_64F
      return 16;
    case 2:   // CUDA_R_16F
    case 14:  // CUDA_R_16BF
      return 2;
    default:
      return 4;
  }
}

/// For an object that nobody asks anything.
inline Handle some_handle() {
  static char nothing;
  return &nothing;
}

inline Status give_handle(Handle* to) {
  *to = some_handle();
  return kSuccess;
}

/// The handle of a library, another one each time: PyTorch keeps a workspace for each.
inline Status give_library(Handle* to) {
  static char libraries[1 << 16];
  static std::atomic<std::size_t> given = 0;
  *to = &libraries[given++ % sizeof libraries];
  return kSuccess;
}

template <class Number>
Status give(Number* to, std::type_identity_t<Number> value) {
  *to = value;
  return kSuccess;
}

/// A workspace of `count` elements, of which the person is told: the library's own size is nowhere
/// written down.
template <class Number>
Status give_modelled(const char* function, Number* to, std::size_t count,
                     std::size_t element_size = 1) {
  workspace_was_modelled(function, count * element_size);
  return give(to, static_cast<Number>(count));
}

/// Work that changes memory of a device.
inline Status computed() {
  work_was_launched();
  a_kernel_ran();
  return machine().load(CardLibrary::kernels);
}

}  // namespace memreplay::gpu
