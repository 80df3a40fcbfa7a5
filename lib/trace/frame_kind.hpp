#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memreplay {

struct Recording;

/// Whose code a frame of a stack is. The earlier ones say more of who asked for memory, Python's
/// before those of C++.
enum class FrameKind : std::uint8_t {
  own,            ///< the program's own, cells of notebooks included
  package,        ///< an installed package's
  generated,      ///< written by a program: kernels of torch.compile, "<string>"
  framework,      ///< PyTorch's own Python, and the interpreter's
  backward,       ///< C++: a function of the backward pass
  gradient_sums,  ///< C++: adds up the gradients that reach a function
  engine,         ///< C++: runs the backward pass
  native,         ///< other C++ with a name
  plumbing,       ///< C++ that says nothing of the caller: the allocator, what every tensor passes
};

inline bool is_python(FrameKind kind) { return kind <= FrameKind::framework; }

/// Told by the names of a file and a function, as recordings have them. Either separator of paths
/// will do, and any spelling.
FrameKind frame_kind(std::string_view function, std::string_view file);
/// By frame of a recording; each function of a file is looked at once.
std::vector<FrameKind> frame_kinds(const Recording& recording);

/// A file of PyTorch's optimizers.
inline bool is_of_optimizer(std::string_view file) {
  return file.find("torch/optim/") != std::string_view::npos;
}

/// "transformers": the installed package that a file belongs to; empty where it is in none.
std::string package_of(std::string_view file);

/// "at::_ops::mul::call(at::Tensor const&)" without its arguments.
std::string_view without_arguments(std::string_view function);

/// "MmBackward0" of "torch::autograd::generated::MmBackward0::apply(…)"; empty where the function
/// is none of the backward pass.
std::string_view backward_function(std::string_view function);

}  // namespace memreplay
