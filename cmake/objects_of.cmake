# Reuse of compiled objects by several builds. MERGANSER_OBJECTS_OF names a build of the same sources by the same compiler, and
# MERGANSER_TAKE the targets that are linked from there instead of being compiled again:
#   modules    archives of all modules whose files are the same in both: not comm, kernels and io, unless MERGANSER_MPI, _SHMEM and
#              _NETCDF are equal, nor graphs if one lacks a library of graph files that the other has
#   MODULE...  archives of these modules alone
#   apps       the command
#   tests      the programs of tests, which then run over modules of this build
# Without a sanitizer the flags must be equal too. With one, only targets that are compiled here are instrumented; of inline
# functions that both have, the instrumented ones are linked (merganser_watched_first).
set(MERGANSER_OBJECTS_OF "" CACHE PATH "Folder of a build whose objects are linked, those that MERGANSER_TAKE names; empty: none")
set(MERGANSER_TAKE "modules" CACHE STRING "What is taken from MERGANSER_OBJECTS_OF: modules, apps, tests, or names of modules")

set(merganser_modules_of_their_own comm kernels io)
if(MERGANSER_OBJECTS_OF)
  if(NOT EXISTS ${MERGANSER_OBJECTS_OF}/CMakeCache.txt)
    message(FATAL_ERROR "MERGANSER_OBJECTS_OF is ${MERGANSER_OBJECTS_OF}, where nothing is built; allowed: the folder of a build")
  endif()
  set(keys CMAKE_HOME_DIRECTORY CMAKE_CXX_COMPILER MERGANSER_COVERAGE MERGANSER_SIMULATED)
  set(flags CMAKE_BUILD_TYPE CMAKE_CXX_FLAGS MERGANSER_SANITIZE)
  set(libraries MERGANSER_MPI MERGANSER_SHMEM MERGANSER_NETCDF)
  set(optional MERGANSER_ZLIB MERGANSER_BZIP2 MERGANSER_LZMA MERGANSER_ZSTD MERGANSER_EXPAT)
  if(NOT MERGANSER_SANITIZE)
    list(APPEND keys ${flags})
  endif()
  load_cache(${MERGANSER_OBJECTS_OF} READ_WITH_PREFIX other_ ${keys} ${flags} ${libraries} ${optional})
  set(CMAKE_HOME_DIRECTORY ${CMAKE_SOURCE_DIR})
  foreach(key IN LISTS keys)
    set(here "${${key}}")
    set(there "${other_${key}}")
    if(key STREQUAL "CMAKE_CXX_COMPILER")  # c++ and g++ may be links to one
      file(REAL_PATH ${here} here)
      file(REAL_PATH ${there} there)
    endif()
    if(NOT here STREQUAL there)
      message(FATAL_ERROR "MERGANSER_OBJECTS_OF is ${MERGANSER_OBJECTS_OF}, where ${key} is \"${there}\"; allowed: a build "
                          "where it is \"${here}\", as here")
    endif()
  endforeach()
  if(MERGANSER_SANITIZE AND other_MERGANSER_SANITIZE)
    message(FATAL_ERROR "MERGANSER_OBJECTS_OF is ${MERGANSER_OBJECTS_OF}, where MERGANSER_SANITIZE is "
                        "\"${other_MERGANSER_SANITIZE}\"; allowed: a build without a sanitizer")
  endif()
  set(merganser_same_libraries ON)
  foreach(key IN LISTS libraries)
    if(NOT "${${key}}" STREQUAL "${other_${key}}")
      set(merganser_same_libraries OFF)
    endif()
  endforeach()
  if(merganser_same_libraries AND NOT MERGANSER_SANITIZE)
    set(merganser_modules_of_their_own "")
  endif()
  foreach(key IN LISTS optional)
    if(NOT "${${key}}" STREQUAL "${other_${key}}")
      list(APPEND merganser_modules_of_their_own graphs)
    endif()
  endforeach()
endif()

# merganser_takes(what variable): sets `variable` to ON if that target is taken from another build.
function(merganser_takes what variable)
  set(${variable} OFF PARENT_SCOPE)
  if(MERGANSER_OBJECTS_OF AND what IN_LIST MERGANSER_TAKE)
    set(${variable} ON PARENT_SCOPE)
  endif()
endfunction()

# merganser_taken_module(name variable): sets `variable` to the archive of another build that replaces a module; empty if it is
# built here.
function(merganser_taken_module name variable)
  set(${variable} "" PARENT_SCOPE)
  merganser_takes(modules all)
  merganser_takes(${name} one)
  if(name IN_LIST merganser_modules_of_their_own OR NOT (all OR one))
    return()
  endif()
  set(archive ${MERGANSER_OBJECTS_OF}/libmerganser_${name}.a)
  if(NOT EXISTS ${archive})
    message(FATAL_ERROR "MERGANSER_OBJECTS_OF is ${MERGANSER_OBJECTS_OF}, which has no libmerganser_${name}.a; allowed: a folder "
                        "in which the target merganser_modules is built")
  endif()
  set(${variable} ${archive} PARENT_SCOPE)
endfunction()

# merganser_check_libraries(): writes which libraries this build has found, for builds that take objects, and refuses to take
# modules that call them from a build that has found others.
function(merganser_check_libraries)
  set(here "MPI: ${MPI_C_LIBRARIES}; OpenSHMEM: ${OpenSHMEM_LIBRARY}; NetCDF: ${NetCDF_LIBRARY}")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/libraries.txt CONTENT "${here}" @ONLY)
  if(NOT TARGET merganser_comm_taken AND NOT TARGET merganser_kernels_taken AND NOT TARGET merganser_io_taken)
    return()
  endif()
  set(there "nothing that it tells")
  if(EXISTS ${MERGANSER_OBJECTS_OF}/libraries.txt)
    file(READ ${MERGANSER_OBJECTS_OF}/libraries.txt there)
  endif()
  if(NOT here STREQUAL there)
    message(FATAL_ERROR "MERGANSER_OBJECTS_OF is ${MERGANSER_OBJECTS_OF}, which has found ${there}; allowed: a build that has found "
                        "what is found here, ${here}, or one with another MERGANSER_MPI, MERGANSER_SHMEM or MERGANSER_NETCDF")
  endif()
endfunction()

# merganser_objects(target): writes the list of objects of a program to the build folder, for builds that take them.
function(merganser_objects target)
  get_property(several GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(several)  # one list would have to serve all configurations
    return()
  endif()
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/objects/${target} CONTENT "$<JOIN:$<TARGET_OBJECTS:${target}>,\n>\n")
endfunction()

# merganser_taken_program(target): adds a program from the objects of another build; the caller links the libraries.
function(merganser_taken_program target)
  set(list ${MERGANSER_OBJECTS_OF}/objects/${target})
  if(NOT EXISTS ${list})
    message(FATAL_ERROR "MERGANSER_OBJECTS_OF is ${MERGANSER_OBJECTS_OF}, which has no program ${target}; allowed: a folder in "
                        "which all is built")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} objects)
  add_executable(${target} ${objects})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  merganser_watched_first(${target})
endfunction()

# merganser_watched_first(target): links the modules that this build compiles before the objects of the program, since the linker
# takes the first of several definitions of an inline function.
function(merganser_watched_first target)
  get_property(modules GLOBAL PROPERTY MERGANSER_MODULES)
  set(archives "")
  foreach(module IN LISTS modules)
    get_target_property(type merganser_${module} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY" AND NOT TARGET merganser_${module}_taken)
      list(APPEND archives $<TARGET_FILE:merganser_${module}>)
    endif()
    target_link_libraries(${target} PRIVATE merganser_${module})
  endforeach()
  list(JOIN archives "," whole)
  target_link_options(${target} PRIVATE LINKER:--whole-archive,${whole},--no-whole-archive)
endfunction()
