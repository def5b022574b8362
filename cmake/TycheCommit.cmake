# The commit that `tyche --version` names, in a file of its own (cli/commit.hpp): a new commit compiles that file and links
# the program, nothing else. Git's log of HEAD changes with every commit and checkout; outside git it is "unknown".
set(commit_source ${CMAKE_CURRENT_BINARY_DIR}/generated/cli/commit.cpp)
set(commit_depends ${CMAKE_CURRENT_SOURCE_DIR}/cmake/commit.cmake)
find_package(Git QUIET)
foreach(name logs/HEAD HEAD)
  execute_process(COMMAND "${GIT_EXECUTABLE}" rev-parse --git-path ${name} WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  if(status EQUAL 0 AND EXISTS "${path}")
    list(APPEND commit_depends ${path})
    break()
  endif()
endforeach()
add_custom_command(OUTPUT ${commit_source}
  COMMAND ${CMAKE_COMMAND} -DGIT=${GIT_EXECUTABLE} -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR} -DOUT=${commit_source}
    -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/commit.cmake
  DEPENDS ${commit_depends} COMMENT "" VERBATIM)
# Not a source of the program itself, all of which would then wait for the library as the command above would.
add_library(tyche_commit OBJECT ${commit_source})
tyche_target(tyche_commit)
target_include_directories(tyche_commit PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
target_sources(tyche_cli PRIVATE $<TARGET_OBJECTS:tyche_commit>)
