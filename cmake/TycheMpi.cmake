# MPI (optional): trials spread over ranks (src/support/ranks.cpp). Only its C interface is used.
option(TYCHE_WITH_MPI "Spread trials over MPI ranks where MPI is installed" ON)
set(TYCHE_MPI_FOUND FALSE)
if(TYCHE_WITH_MPI)
  enable_language(C) # FindMPI looks for the C interface through a C compiler
  find_package(MPI QUIET COMPONENTS C)
  if(MPI_C_FOUND)
    set(TYCHE_MPI_FOUND TRUE)
  else()
    message(STATUS "tyche: MPI not found, trials run in one process (Debian: apt-get install libopenmpi-dev openmpi-bin)")
  endif()
endif()
