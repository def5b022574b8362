# libtyche_c.so: the C interface (include/tyche.h) over the whole library, of which it shows nothing else.
file(GLOB TYCHE_C_SOURCES CONFIGURE_DEPENDS src/capi/*.cpp)
add_library(tyche_c SHARED ${TYCHE_C_SOURCES})
add_library(tyche::tyche_c ALIAS tyche_c)
tyche_target(tyche_c)
tyche_inner(tyche_c)
tyche_cold(tyche_c)
tyche_precompile_cold(tyche_c)
tyche_group(tyche_c capi 14 ${TYCHE_C_SOURCES})
target_include_directories(tyche_c PUBLIC
  $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(tyche_c PRIVATE $<BUILD_INTERFACE:tyche>)
set(exports ${CMAKE_CURRENT_SOURCE_DIR}/cmake/tyche_c.map)
# Archives are hidden as a whole: what of CaDiCaL and libstdc++ is linked in must not meet another copy in a process.
target_link_options(tyche_c PRIVATE -Wl,--version-script=${exports} -Wl,--exclude-libs,ALL -Wl,--no-undefined-version
  -Wl,--as-needed)
tyche_portable(tyche_c)
if(NOT TYCHE_SANITIZE)
  target_link_options(tyche_c PRIVATE -Wl,-z,defs)
endif()
set_target_properties(tyche_c PROPERTIES SOVERSION 1 VERSION ${PROJECT_VERSION} LINK_DEPENDS ${exports})
install(TARGETS tyche_c EXPORT tycheTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/tyche.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
