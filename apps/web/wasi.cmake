# Toolchain: WebAssembly with the clang, the libc and the sources of libc++ that the package `ziglang`
# of the Python package index has. MEMREPLAY_ZIG names its folder.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(MEMREPLAY_ZIG "$ENV{MEMREPLAY_ZIG}" CACHE PATH "The folder of the package ziglang")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MEMREPLAY_ZIG)
set(zig ${MEMREPLAY_ZIG}/zig)
set(zig_lib ${MEMREPLAY_ZIG}/lib)

foreach(language C CXX ASM)
  set(CMAKE_${language}_COMPILER ${zig} clang)
  set(CMAKE_${language}_COMPILER_TARGET wasm32-wasip1)
endforeach()
set(CMAKE_CXX_COMPILER ${zig} clang --driver-mode=g++)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # there is no library to link with yet

set(flags "-nostdinc -fwasm-exceptions -mbulk-memory -msign-ext -mnontrapping-fptoint -mmultivalue")
string(APPEND flags " -D_WASI_EMULATED_MMAN -D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_GETPID -D_WASI_EMULATED_PROCESS_CLOCKS")
string(APPEND flags " -w")  # warnings are the business of a native build
set(c_headers "-isystem ${zig_lib}/include -isystem ${zig_lib}/libc/include/wasm-wasi-musl -isystem ${zig_lib}/libc/include/generic-musl")
set(CMAKE_C_FLAGS_INIT "${flags} ${c_headers}")
set(CMAKE_ASM_FLAGS_INIT "--target=wasm32-wasip1")
set(CMAKE_CXX_FLAGS_INIT "${flags} -nostdinc++ -include ${CMAKE_CURRENT_LIST_DIR}/libcxx_config.h -isystem ${zig_lib}/libcxx/include -isystem ${zig_lib}/libcxxabi/include ${c_headers}")

# libc and its start are compiled by `zig cc` when it links.
foreach(language C CXX)
  set(CMAKE_${language}_CREATE_STATIC_LIBRARY "<CMAKE_COMMAND> -E rm -f <TARGET>" "${zig} ar qcs <TARGET> <OBJECTS>")
  set(CMAKE_${language}_ARCHIVE_CREATE "${zig} ar qcs <TARGET> <OBJECTS>")
  set(CMAKE_${language}_ARCHIVE_APPEND "${zig} ar qs <TARGET> <OBJECTS>")
  set(CMAKE_${language}_ARCHIVE_FINISH "")
  set(CMAKE_${language}_LINK_EXECUTABLE
    "${zig} cc -target wasm32-wasi -mcpu=lime1+exception_handling -s -O2 <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
endforeach()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
