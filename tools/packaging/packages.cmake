# What `cpack` makes: a tarball and a Debian package. tools/package calls it with all that makes them
# the same, byte for byte, wherever they are made.
install(FILES README.md CHANGELOG.md DESTINATION share/doc/memreplay COMPONENT documents)
set(copyright ${CMAKE_SOURCE_DIR}/LICENSE)
if(MEMREPLAY_PORTABLE)
  # What is linked in wants its licence beside it.
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(copyright ${CMAKE_BINARY_DIR}/documents/copyright)
  add_custom_command(OUTPUT ${copyright}
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/sbom --licences > ${copyright}
    DEPENDS ${CMAKE_SOURCE_DIR}/tools/sbom ${CMAKE_SOURCE_DIR}/LICENSE VERBATIM)
  add_custom_target(copyright ALL DEPENDS ${copyright})
endif()
install(FILES ${copyright} DESTINATION share/doc/memreplay RENAME copyright COMPONENT documents)

set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_VENDOR "memreplay developers")
set(CPACK_PACKAGE_CONTACT "memreplay developers <developers@memreplay.invalid>")
string(TOLOWER "${PROJECT_NAME}-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}"
  CPACK_PACKAGE_FILE_NAME)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/before_packing.cmake)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "Says why a program ran out of GPU memory, which allocator setting helps, and
how small a device would do: from a memory snapshot of PyTorch, without a GPU.")
include(CPack)
