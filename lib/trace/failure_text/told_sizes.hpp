#pragma once

#include <optional>
#include <string_view>

#include "core/told_failure.hpp"

/// Figures in a text that may be cut anywhere: one that touches an end of it may have lost digits,
/// and counts as none.
namespace memreplay {

/// The size that begins at `at`: "5.9KiB", "122.00 MiB", "0 bytes", "7 B". Unset for anything
/// else.
std::optional<ToldBytes> told_size_at(std::string_view text, std::size_t at);
/// The size right after the first `phrase`, "Tried to allocate ".
std::optional<ToldBytes> told_size_behind(std::string_view text, std::string_view phrase);
/// The size that ends right before the first `phrase`, " is free".
std::optional<ToldBytes> told_size_before(std::string_view text, std::string_view phrase);
/// The whole number after the first `phrase` and blanks.
std::optional<std::uint64_t> told_count_behind(std::string_view text, std::string_view phrase);

/// Unset where one of the two is.
std::optional<ToldBytes> told_sum(const std::optional<ToldBytes>& a,
                                  const std::optional<ToldBytes>& b);
std::optional<ToldBytes> told_difference(const std::optional<ToldBytes>& a,
                                         const std::optional<ToldBytes>& b);

}  // namespace memreplay
