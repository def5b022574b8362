# The files that come with the program, inside the library (support/share.hpp): the paper's experiments and numbers,
# texts that it fills in and writes (share/), and the page of reports where it is built. The assembler copies them as they are,
# which costs no time to compile.
file(GLOB_RECURSE embedded CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} experiments/*.toml experiments/*.csv
  share/*)
set(bytes "")
set(table "")
set(depends "")
set(index 0)
function(tyche_embed name path)
  # A page that could not be built (cmake/TycheShare.cmake) is left out.
  set(bytes "${bytes}#if __has_include(\"${path}\")\nTYCHE_BYTES(\"${index}\", \"${path}\")\n#endif\n" PARENT_SCOPE)
  set(table "${table}#if __has_include(\"${path}\")\n    TYCHE_FILE(${index}, \"${name}\"),\n#endif\n" PARENT_SCOPE)
  set(symbols "${symbols}extern const char tyche_embedded_${index}[], tyche_embedded_end_${index}[];\n" PARENT_SCOPE)
  math(EXPR index "${index} + 1")
  set(index ${index} PARENT_SCOPE)
endfunction()
foreach(file ${embedded})
  tyche_embed(${file} ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  list(APPEND depends ${CMAKE_CURRENT_SOURCE_DIR}/${file})
endforeach()
if(TARGET tyche_web)
  tyche_embed(report.html ${TYCHE_PAGE})
  # By the file, not by the target: the rest of the library does not wait for the page.
  if(CMAKE_GENERATOR MATCHES "Ninja")
    list(APPEND depends ${TYCHE_PAGE})
  else()
    add_dependencies(tyche tyche_web)
  endif()
endif()
set(embedded_source ${CMAKE_CURRENT_BINARY_DIR}/generated/support/embedded.cpp)
configure_file(cmake/embedded.cpp.in ${embedded_source} @ONLY)
set_source_files_properties(${embedded_source} PROPERTIES OBJECT_DEPENDS "${depends}")
target_sources(tyche PRIVATE ${embedded_source})
