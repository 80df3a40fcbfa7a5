#pragma once

#include <fmt/format.h>

// Before version 10 each file that formats into a string compiles {fmt} again (clang: other names).
#if !defined(FMT_HEADER_ONLY) && FMT_VERSION < 100000 && !defined(__clang__)
extern template void fmt::detail::vformat_to<char>(
    fmt::detail::buffer<char>&, fmt::string_view, fmt::basic_format_args<fmt::buffer_context<char>>,
    fmt::detail::locale_ref);
#endif
