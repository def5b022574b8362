# cmake -DGIT=git -DSOURCE=folder -DOUT=commit.cpp -P commit.cmake: writes the definitions of cli/commit.hpp.
set(commit unknown)
set(date "")
if(GIT)
  # Only where the source is the repository, not a folder of somebody else's.
  execute_process(COMMAND ${GIT} rev-parse --show-prefix WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0 AND prefix STREQUAL "")
    execute_process(COMMAND ${GIT} log -1 --format=%h=%cs WORKING_DIRECTORY ${SOURCE}
      OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(found MATCHES "^([0-9a-f]+)=([0-9-]+)$")
      set(commit ${CMAKE_MATCH_1})
      set(date ${CMAKE_MATCH_2})
    endif()
  endif()
endif()
file(WRITE ${OUT} "// Written by cmake/commit.cmake.
#include \"cli/commit.hpp\"
namespace tyche::cli {
const char* const kCommit = \"${commit}\";
const char* const kCommitDate = \"${date}\";
}  // namespace tyche::cli
")
