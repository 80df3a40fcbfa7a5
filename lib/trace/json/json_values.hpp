#pragma once

#include <cstddef>

#include "trace/pickle/pickle_value.hpp"
#include "trace/reader.hpp"

namespace memreplay {

/// The values of a JSON document, as a pickle would have made them: pool ids are tuples, and equal
/// lists of frames are one object. Throws InputError.
PickleValue read_json_values(const Input& input, PickleStore& store);

/// What nlohmann's parser refuses there, by the number of its error.
[[noreturn]] void refuse_json(const Input& input, std::size_t byte, int error);

}  // namespace memreplay
