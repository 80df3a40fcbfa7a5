#pragma once

#include "trace/pickle/pickle_value.hpp"
#include "trace/reader.hpp"
#include "trace/value_writer.hpp"

namespace memreplay {

/// Hands the snapshot `root`, made without early conversion, to `writer`; objects that stand in
/// several places are recalled. Throws InputError where it is no snapshot, or is nested or repeated
/// beyond all measure. O(values written).
void write_plain(const Input& input, PickleStore& store, const PickleValue& root,
                 ValueWriter& writer);

}  // namespace memreplay
