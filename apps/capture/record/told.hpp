#pragma once

#include <filesystem>

#include "record/answer.hpp"

namespace memreplay {

/// What a recorded process told at its end (python/sitecustomize.py). Throws InputError.
RecordedProcess told_in(const std::filesystem::path& file);

}  // namespace memreplay
