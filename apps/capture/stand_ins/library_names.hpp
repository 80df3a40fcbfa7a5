#pragma once

#include <optional>
#include <string_view>

namespace memreplay {

/// "libcudart" of "libcudart.so.13", and of "libcudart-d0da41ae.so.11.0" and
/// "libcudart.e8e8b82a.so.12", as packages rename what they bring along.
std::string_view stem_of(std::string_view soname);

bool is_nvidia_library(std::string_view stem);

/// The stem of the NVIDIA library whose functions are named so.
std::optional<std::string_view> nvidia_library_of(std::string_view function);

}  // namespace memreplay
