# What a program for WASI is linked with beside libc: libc++ and its parts, from the sources that the
# compiler brings, with exceptions.
set(llvm ${MEMREPLAY_ZIG}/lib)
file(GLOB libcxx_sources ${llvm}/libcxx/src/*.cpp ${llvm}/libcxx/src/filesystem/*.cpp ${llvm}/libcxx/src/ryu/*.cpp)
file(GLOB libcxxabi_sources ${llvm}/libcxxabi/src/*.cpp)
list(FILTER libcxxabi_sources EXCLUDE REGEX "cxa_noexception|stdlib_new_delete|cxa_thread_atexit")
list(FILTER libcxx_sources EXCLUDE REGEX "int128_builtins|strstream|libdispatch")

add_library(memreplay_runtime STATIC ${libcxx_sources} ${libcxxabi_sources}
  ${llvm}/libunwind/src/Unwind-wasm.c ${CMAKE_CURRENT_LIST_DIR}/exception_tag.s)
# WASI's libc is musl's, but has no copy_file_range.
set_source_files_properties(${llvm}/libcxx/src/filesystem/operations.cpp PROPERTIES
  COMPILE_DEFINITIONS _LIBCPP_HAS_MUSL_LIBC=0)
target_include_directories(memreplay_runtime PRIVATE
  ${llvm}/libcxx/src ${llvm}/libcxxabi/include ${llvm}/libcxxabi/src ${llvm}/libunwind/include ${llvm}/libcxx/libc)
target_compile_definitions(memreplay_runtime PRIVATE
  _LIBCPP_BUILDING_LIBRARY _LIBCXXABI_BUILDING_LIBRARY LIBCXX_BUILDING_LIBCXXABI _LIBUNWIND_HIDE_SYMBOLS NDEBUG)
target_compile_options(memreplay_runtime PRIVATE -w)
set_target_properties(memreplay_runtime PROPERTIES CXX_STANDARD 23)
