# Consistency of MPI libraries. Two MPIs in one process have equal symbols but different handles, so headers, launcher and libraries
# must belong to one family ("Open MPI" or "MPICH"); those of another are refused.

# merganser_family_of_header(folders result): sets `result` to "Open MPI", "MPICH" or empty, by the mpi.h in these folders.
function(merganser_family_of_header folders result)
  set(${result} "" PARENT_SCOPE)
  foreach(folder IN LISTS folders)
    if(EXISTS ${folder}/mpi.h)
      file(STRINGS ${folder}/mpi.h lines REGEX "define (OMPI_MAJOR_VERSION|MPICH_VERSION|I_MPI_VERSION)")
      if(lines MATCHES "OMPI_MAJOR_VERSION")
        set(${result} "Open MPI" PARENT_SCOPE)
      elseif(lines)
        set(${result} "MPICH" PARENT_SCOPE)
      endif()
      return()
    endif()
  endforeach()
endfunction()

# merganser_family_of_launcher(program result): sets `result` to "Open MPI", "MPICH" or empty, by the output of program --version;
# it is empty for srun and other launchers that belong to no MPI.
function(merganser_family_of_launcher program result)
  set(${result} "" PARENT_SCOPE)
  execute_process(COMMAND ${program} --version OUTPUT_VARIABLE text ERROR_VARIABLE text TIMEOUT 20 RESULT_VARIABLE code)
  if(text MATCHES "Open MPI|OpenRTE|PRRTE|prrte")
    set(${result} "Open MPI" PARENT_SCOPE)
  elseif(text MATCHES "HYDRA|Intel\\(R\\) MPI|MPICH")
    set(${result} "MPICH" PARENT_SCOPE)
  endif()
endfunction()

# merganser_family_of_library(file result): sets `result` to "Open MPI", "MPICH" or empty, by the libraries that a shared library
# needs.
function(merganser_family_of_library file result)
  set(${result} "" PARENT_SCOPE)
  if(NOT CMAKE_READELF)
    return()
  endif()
  execute_process(COMMAND ${CMAKE_READELF} -d ${file} OUTPUT_VARIABLE text ERROR_QUIET)
  if(text MATCHES "NEEDED[^\n]*(libmpi\\.so\\.40|_openmpi\\.so)")
    set(${result} "Open MPI" PARENT_SCOPE)
  elseif(text MATCHES "NEEDED[^\n]*(libmpi\\.so\\.12|libmpich\\.so|_mpich\\.so)")
    set(${result} "MPICH" PARENT_SCOPE)
  endif()
endfunction()

# merganser_check_launcher(): fails if the launcher belongs to another MPI than the headers; each process would then be a job of its
# own.
function(merganser_check_launcher)
  if(NOT merganser_mpi_family OR NOT MPIEXEC_EXECUTABLE)
    return()
  endif()
  merganser_family_of_launcher(${MPIEXEC_EXECUTABLE} launcher)
  if(launcher AND NOT launcher STREQUAL merganser_mpi_family)
    if(merganser_mpi_family STREQUAL "MPICH")
      set(names mpiexec.mpich mpiexec.hydra)
    else()
      set(names mpiexec.openmpi mpirun.openmpi)
    endif()
    get_filename_component(beside "${MPI_C_COMPILER}" DIRECTORY)
    find_program(merganser_right_launcher NAMES ${names} HINTS ${beside} NO_CACHE)
    if(merganser_right_launcher)
      set(there " Here: ${merganser_right_launcher}.")
    endif()
    message(FATAL_ERROR "MPI is ${merganser_mpi_family} (${MPI_C_INCLUDE_DIRS}), but the launcher ${MPIEXEC_EXECUTABLE} is "
      "${launcher}'s; allowed: one of the same library. Give MPIEXEC_EXECUTABLE, or for Debian's MPICH "
      "MPI_EXECUTABLE_SUFFIX=.mpich, in a build folder of its own (cmake --preset mpich).${there}")
  endif()
endfunction()

# merganser_refuse_another_mpi(family): for the installed config file, after MPI was found: the package is not found if MPI belongs
# to another family than the one that the archives were compiled with.
macro(merganser_refuse_another_mpi family)
  merganser_family_of_header("${MPI_C_INCLUDE_DIRS}" merganser_found_family)
  if(merganser_found_family AND NOT merganser_found_family STREQUAL "${family}")
    set(merganser_FOUND FALSE)
    set(merganser_NOT_FOUND_MESSAGE "merganser was compiled with ${family}, but MPI here is ${merganser_found_family} \
(${MPI_C_INCLUDE_DIRS}); allowed: one of the same family (MPI_EXECUTABLE_SUFFIX, MPI_HOME)")
    return()
  endif()
endmacro()

# merganser_mpi_of_users(hints check): sets the lines of the installed config file before and after its search for MPI: the first
# make it find the MPI of this build, unless the project selects another, the second check the family.
function(merganser_mpi_of_users hints check)
  set(${hints} "" PARENT_SCOPE)
  set(${check} "" PARENT_SCOPE)
  get_property(family GLOBAL PROPERTY MERGANSER_MPI_FAMILY)
  if(NOT family)
    return()
  endif()
  set(lines "")
  foreach(name MPI_EXECUTABLE_SUFFIX MPI_HOME)
    if(${name})
      string(APPEND lines "  set(${name} \"${${name}}\")\n")
    endif()
  endforeach()
  if(lines)
    string(JOIN "\n" lines "# The MPI that the archives were compiled with."
      "if(NOT TARGET MPI::MPI_C AND NOT MPI_EXECUTABLE_SUFFIX AND NOT MPI_HOME)" "${lines}endif()\n")
    set(${hints} "${lines}" PARENT_SCOPE)
  endif()
  string(JOIN "\n" lines "include(\${CMAKE_CURRENT_LIST_DIR}/mpi_family.cmake)" "merganser_refuse_another_mpi(\"${family}\")\n")
  set(${check} "${lines}" PARENT_SCOPE)
endfunction()
