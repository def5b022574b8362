# tyche_<version>_amd64.deb by `cpack -G DEB` in a build tree whose prefix is /usr (script/package makes one): the program,
# both libraries, headers, CMake package, manual pages and completions. dpkg-shlibdeps says what it depends on.
install(FILES cmake/package/copyright CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tyche)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The tyche maintainers <maintainers@tyche.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "graph neural networks with random node initialisation")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Trains graph neural networks whose nodes start from random features, marks or
colours, runs the Weisfeiler-Leman tests that bound what they can tell apart,
makes data sets with certificates, and repeats the tables and figures of the
paper that introduced the idea.
.
Holds the program, the C library (tyche.h), the C++ library with its CMake
package, manual pages and completions for bash, zsh and fish.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# What programs that link the C++ library need when they are built.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, cmake, libbliss-dev, libcadical-dev, libexpat1-dev, libfmt-dev, libgmp-dev, \
libhwy-dev, libtomlplusplus-dev, nlohmann-json3-dev, zlib1g-dev")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
include(CPack)
