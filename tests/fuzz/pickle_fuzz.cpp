// Fuzz target of the pickle reader. With clang: -fsanitize=fuzzer,address -DMEMREPLAY_FUZZ_LIBRARY.
// Without, a program that runs the files it is given, so that it always builds.

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include "core/error.hpp"
#include "trace/torch/torch_pickle.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    memreplay::read_torch_pickle({"fuzz", {reinterpret_cast<const char*>(data), size}});
  } catch (const memreplay::InputError&) {
    // The only answer that bad input may get.
  }
  return 0;
}

#ifndef MEMREPLAY_FUZZ_LIBRARY
int main(int count, char** paths) {
  for (int i = 1; i < count; ++i) {
    std::ifstream file(paths[i], std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
}
#endif
