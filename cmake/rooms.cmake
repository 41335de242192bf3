# merganser_room(name USES room... [NOT_INSTALLED] [PIECES]): library target merganser_<name> (alias merganser::<name>) from
# src/<name>/**.cpp. PIECES: compiled sixteen files at a time, which halves the time where headers are most of it; the rooms
# whose loops are the cost of a merge or a forest are compiled file by file, so that no neighbour moves the optimiser.
#
# MERGANSER_ROOMS_OF: the archives of rooms that a build of the same sources, compiler and flags has are taken, and not
# compiled again. Not those of comm, kernels and io, whose files are others where MPI or NetCDF is not there.
set(MERGANSER_ROOMS_OF "" CACHE PATH "Folder of a build whose rooms go into libmerganser.so; empty: all are compiled")
set(merganser_rooms_of_their_own comm kernels io)
if(MERGANSER_ROOMS_OF)
  set(keys CMAKE_HOME_DIRECTORY CMAKE_CXX_COMPILER CMAKE_BUILD_TYPE CMAKE_CXX_FLAGS MERGANSER_SANITIZE MERGANSER_COVERAGE
           MERGANSER_SIMULATED MERGANSER_ZLIB)
  load_cache(${MERGANSER_ROOMS_OF} READ_WITH_PREFIX other_ ${keys})
  set(CMAKE_HOME_DIRECTORY ${CMAKE_SOURCE_DIR})
  foreach(key IN LISTS keys)
    set(here "${${key}}")
    set(there "${other_${key}}")
    if(key STREQUAL "CMAKE_CXX_COMPILER")  # c++ and g++ may be links to one
      file(REAL_PATH ${here} here)
      file(REAL_PATH ${there} there)
    endif()
    if(NOT here STREQUAL there)
      message(FATAL_ERROR "MERGANSER_ROOMS_OF is ${MERGANSER_ROOMS_OF}, where ${key} is \"${there}\"; allowed: a build where "
                          "it is \"${here}\", as here")
    endif()
  endforeach()
endif()

function(merganser_room name)
  cmake_parse_arguments(arg "NOT_INSTALLED;PIECES" "" "USES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  if(name STREQUAL "comm")
    list(FILTER sources EXCLUDE REGEX "/comm/backends/")  # chosen in comm.cmake
  elseif(name STREQUAL "kernels")
    list(FILTER sources EXCLUDE REGEX "/kernels/families/")  # chosen in kernels.cmake
  endif()
  set(target merganser_${name})
  set(archive "")
  if(sources AND MERGANSER_ROOMS_OF AND NOT name IN_LIST merganser_rooms_of_their_own AND NOT arg_NOT_INSTALLED)
    set(archive ${MERGANSER_ROOMS_OF}/libmerganser_${name}.a)
    if(NOT EXISTS ${archive})
      message(FATAL_ERROR "MERGANSER_ROOMS_OF is ${MERGANSER_ROOMS_OF}, which has no libmerganser_${name}.a; allowed: a folder "
                          "in which the target merganser_rooms is built")
    endif()
    set(sources ${PROJECT_BINARY_DIR}/${name}_of_another_build.cpp)
    file(CONFIGURE OUTPUT ${sources} CONTENT "// libmerganser_${name}.a is that of ${archive}\n")
  endif()
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON MERGANSER_ARCHIVE "${archive}")
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    if(arg_PIECES)
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(merganser::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} ${scope} cxx_std_20)
  # The canonical arithmetic must not be contracted into fused operations, in inline functions of users neither.
  target_compile_options(${target} ${scope} $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  foreach(used IN LISTS arg_USES)
    target_link_libraries(${target} ${scope} merganser_${used})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY MERGANSER_ROOMS ${name})
  if(NOT arg_NOT_INSTALLED)
    set_property(GLOBAL APPEND PROPERTY MERGANSER_INSTALLED_ROOMS ${name})
  endif()
endfunction()

# merganser_without(room folder): leaves the sources of one folder out.
function(merganser_without room folder)
  get_target_property(sources merganser_${room} SOURCES)
  list(FILTER sources EXCLUDE REGEX "/src/${room}/${folder}/")
  set_property(TARGET merganser_${room} PROPERTY SOURCES ${sources})
endfunction()

# merganser::merganser links every room that is installed; the target merganser_rooms builds their archives.
function(merganser_umbrella)
  get_property(rooms GLOBAL PROPERTY MERGANSER_INSTALLED_ROOMS)
  add_library(merganser_all INTERFACE)
  add_library(merganser::merganser ALIAS merganser_all)
  set_target_properties(merganser_all PROPERTIES EXPORT_NAME merganser)
  foreach(room IN LISTS rooms)
    target_link_libraries(merganser_all INTERFACE merganser_${room})
  endforeach()
  add_custom_target(merganser_rooms)
  foreach(room IN LISTS rooms)
    get_target_property(type merganser_${room} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      add_dependencies(merganser_rooms merganser_${room})
    endif()
  endforeach()
endfunction()
