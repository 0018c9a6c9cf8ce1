# What `make install`, the Debian package and the wheel hold, and how C and C++ programs find the client library.
include(CMakePackageConfigHelpers)

if(SKBUILD)  # A wheel: scripts and data go to the prefix of the environment that it is installed into.
  set(bin ${SKBUILD_SCRIPTS_DIR})
  set(prefix ${SKBUILD_DATA_DIR}/)
else()
  set(bin bin)
  set(prefix "")
endif()

install(TARGETS whystop DESTINATION ${bin})
# Completion and the manual page are written by the program itself, from its command line's one declaration.
set(shown ${CMAKE_BINARY_DIR}/shown)
add_custom_command(TARGET whystop POST_BUILD VERBATIM
  COMMAND ${CMAKE_COMMAND} -E make_directory ${shown}
  COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0  # Of no interest here, and refused in some containers.
          sh -c "\"$1\" completion bash > \"$2/whystop\" && \"$1\" completion zsh > \"$2/_whystop\" && \"$1\" completion fish > \"$2/whystop.fish\" && \"$1\" man-page > \"$2/whystop.1\""
          sh $<TARGET_FILE:whystop> ${shown})
install(FILES ${shown}/whystop DESTINATION ${prefix}share/bash-completion/completions)
install(FILES ${shown}/_whystop DESTINATION ${prefix}share/zsh/site-functions)
install(FILES ${shown}/whystop.fish DESTINATION ${prefix}share/fish/vendor_completions.d)
install(FILES ${shown}/whystop.1 DESTINATION ${prefix}share/man/man1)
install(DIRECTORY ${CMAKE_BINARY_DIR}/python/ DESTINATION ${prefix}share/whystop/python
        PATTERN "__pycache__" EXCLUDE PATTERN "*_test.py" EXCLUDE)
install(FILES src/record/recording.proto docs/verdict.schema.json DESTINATION ${prefix}share/whystop)
install(DIRECTORY include/whystop DESTINATION ${prefix}include)
install(TARGETS libwhystop_shared libwhystop_static EXPORT whystopTargets DESTINATION ${prefix}lib)

# find_package(whystop) gives the targets whystop::whystop and whystop::whystop_static.
install(EXPORT whystopTargets NAMESPACE whystop:: DESTINATION ${prefix}lib/cmake/whystop)
file(WRITE ${CMAKE_BINARY_DIR}/generated/whystopConfig.cmake
     "include(\${CMAKE_CURRENT_LIST_DIR}/whystopTargets.cmake)\n")
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/whystopConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/whystopConfig.cmake ${CMAKE_BINARY_DIR}/generated/whystopConfigVersion.cmake
        DESTINATION ${prefix}lib/cmake/whystop)
configure_file(${CMAKE_SOURCE_DIR}/cmake/whystop.pc.in ${CMAKE_BINARY_DIR}/generated/whystop.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/generated/whystop.pc DESTINATION ${prefix}lib/pkgconfig)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "the whystop authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Says why a training run stopped, and whether it was learning")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
