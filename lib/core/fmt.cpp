// {fmt}, compiled once (see CMakeLists.txt).
#include <fmt/format-inl.h>

template fmt::detail::thousands_sep_result<char> fmt::detail::thousands_sep_impl(locale_ref);
template char fmt::detail::decimal_point_impl(locale_ref);
#if FMT_VERSION < 100000  // see fmt_once.hpp; later ones have it
template void fmt::detail::vformat_to<char>(buffer<char>&, string_view,
                                            basic_format_args<buffer_context<char>>, locale_ref);
#endif
