# Run by cpack on the files of one package, before it is written.
if(CPACK_GENERATOR STREQUAL DEB)
  # Where Debian's zsh looks for what packages bring, and the changelog that each package there has.
  set(share ${CPACK_TEMPORARY_DIRECTORY}/usr/share)
  file(RENAME ${share}/zsh/site-functions ${share}/zsh/vendor-completions)
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(WRITE ${share}/doc/memreplay/changelog
    "memreplay (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n  * What changed: CHANGELOG.md.\n\n"
    " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  execute_process(COMMAND gzip -9n ${share}/doc/memreplay/changelog COMMAND_ERROR_IS_FATAL ANY)
endif()
# As old as the commit, so that the same commit gives the same package.
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(COMMAND find ${CPACK_TEMPORARY_DIRECTORY}
    -exec touch --no-dereference --date=@$ENV{SOURCE_DATE_EPOCH} {} + COMMAND_ERROR_IS_FATAL ANY)
endif()
