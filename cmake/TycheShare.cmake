# What comes with the program is inside it (cmake/TycheEmbed.cmake). Experiments are installed beside the documentation too,
# to begin one's own from.
file(GLOB experiments CONFIGURE_DEPENDS experiments/*.toml)
install(FILES ${experiments} DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

# The page: TypeScript bundled by esbuild into one template. Without Node, or where npm cannot fetch packages, the rest is
# built all the same and `tyche report` says what is missing; TYCHE_WITH_WEB=ON makes that an error, OFF leaves it out.
set(TYCHE_PAGE ${CMAKE_BINARY_DIR}/share/tyche/report.html)
set(TYCHE_WITH_WEB AUTO CACHE STRING "Build the report's page: AUTO (where Node is), ON or OFF")
set_property(CACHE TYCHE_WITH_WEB PROPERTY STRINGS AUTO ON OFF)
find_program(TYCHE_NODE NAMES node nodejs)
find_program(TYCHE_NPM npm)
if(TYCHE_WITH_WEB STREQUAL "ON" AND NOT (TYCHE_NODE AND TYCHE_NPM))
  message(FATAL_ERROR "TYCHE_WITH_WEB is ON, but node or npm is missing (Debian: apt-get install nodejs npm)")
endif()
if(NOT TYCHE_WITH_WEB STREQUAL "OFF" AND TYCHE_NODE AND TYCHE_NPM)
  file(GLOB web_sources CONFIGURE_DEPENDS web/src/*.ts web/src/*.css web/src/*.html web/package.json web/package-lock.json
    web/build.mjs web/tsconfig.json)
  add_custom_command(OUTPUT ${TYCHE_PAGE}
    COMMAND ${CMAKE_COMMAND} -E env TYCHE_WITH_WEB=${TYCHE_WITH_WEB}
      ${CMAKE_CURRENT_SOURCE_DIR}/script/web ${TYCHE_PAGE}
    DEPENDS ${web_sources} script/web
    COMMENT "Building the report's page" VERBATIM)
  add_custom_target(tyche_web ALL DEPENDS ${TYCHE_PAGE})
elseif(NOT TYCHE_WITH_WEB STREQUAL "OFF")
  message(STATUS "tyche: node or npm not found, the report's page is not built (Debian: apt-get install nodejs npm)")
endif()
