# Finds OpenSHMEM: target OpenSHMEM::OpenSHMEM. If OPENSHMEM_HOME, of CMake or the environment, names the folder of an installation
# (bin/oshcc, include/shmem.h, lib/libsma.so), only that is searched; else OpenSHMEM_ROOT, OpenSHMEM_INCLUDE_DIR and
# OpenSHMEM_LIBRARY, or the wrapper oshcc on PATH determine the installation.
set(OPENSHMEM_HOME "$ENV{OPENSHMEM_HOME}" CACHE PATH "Folder of an OpenSHMEM library that is to be used")
if(OPENSHMEM_HOME)
  find_program(OpenSHMEM_C_COMPILER NAMES oshcc PATHS ${OPENSHMEM_HOME}/bin NO_DEFAULT_PATH)
  find_path(OpenSHMEM_INCLUDE_DIR shmem.h PATHS ${OPENSHMEM_HOME}/include NO_DEFAULT_PATH)
  find_library(OpenSHMEM_LIBRARY NAMES sma oshmem osss-ucx PATHS ${OPENSHMEM_HOME}/lib ${OPENSHMEM_HOME}/lib64 NO_DEFAULT_PATH)
endif()
find_program(OpenSHMEM_C_COMPILER NAMES oshcc)
if(OpenSHMEM_C_COMPILER AND NOT OpenSHMEM_INCLUDE_DIR AND NOT OPENSHMEM_HOME)
  execute_process(COMMAND ${OpenSHMEM_C_COMPILER} --showme:incdirs OUTPUT_VARIABLE OpenSHMEM_INCLUDE_HINTS
                  ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${OpenSHMEM_C_COMPILER} --showme:libdirs OUTPUT_VARIABLE OpenSHMEM_LIBRARY_HINTS
                  ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(OpenSHMEM_INCLUDE_HINTS)
  separate_arguments(OpenSHMEM_LIBRARY_HINTS)
endif()
if(NOT OPENSHMEM_HOME)
  find_path(OpenSHMEM_INCLUDE_DIR shmem.h HINTS ${OpenSHMEM_INCLUDE_HINTS} PATH_SUFFIXES openmpi/include)
  find_library(OpenSHMEM_LIBRARY NAMES oshmem sma HINTS ${OpenSHMEM_LIBRARY_HINTS} PATH_SUFFIXES openmpi/lib)
endif()

# liboshmem is a part of Open MPI and links its libmpi, so it cannot be used beside another MPI.
set(OpenSHMEM_OF_ANOTHER_MPI "")
if(merganser_mpi_family AND NOT merganser_mpi_family STREQUAL "Open MPI" AND OpenSHMEM_LIBRARY MATCHES "liboshmem")
  set(OpenSHMEM_OF_ANOTHER_MPI "${OpenSHMEM_LIBRARY} belongs to Open MPI, the MPI here is ${merganser_mpi_family}")
  unset(OpenSHMEM_LIBRARY CACHE)
  set(OpenSHMEM_LIBRARY "")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenSHMEM REQUIRED_VARS OpenSHMEM_LIBRARY OpenSHMEM_INCLUDE_DIR
                                  REASON_FAILURE_MESSAGE "${OpenSHMEM_OF_ANOTHER_MPI}")
if(OpenSHMEM_FOUND AND NOT TARGET OpenSHMEM::OpenSHMEM)
  add_library(OpenSHMEM::OpenSHMEM UNKNOWN IMPORTED)
  set_target_properties(OpenSHMEM::OpenSHMEM PROPERTIES
    IMPORTED_LOCATION ${OpenSHMEM_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${OpenSHMEM_INCLUDE_DIR})
endif()
mark_as_advanced(OpenSHMEM_C_COMPILER OpenSHMEM_INCLUDE_DIR OpenSHMEM_LIBRARY)
