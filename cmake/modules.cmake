# Library targets of modules: one static library per module, which links only the modules that it may use.

# merganser_module(name USES module... [NOT_INSTALLED] [PIECES] [FILE_BY_FILE regex]): adds the library merganser_<name> (alias
# merganser::<name>) from src/<name>/**.cpp below the current folder: the root for the core, packages/<package> for a package. PIECES:
# compiles sixteen files at a time (unity build), which takes half the time or less where most of it is spent on headers. Files whose
# loops dominate the cost of a merge or a forest are compiled one by one, so that other files do not influence the optimiser: those
# whose path below src/<name> matches FILE_BY_FILE, and all of a module without PIECES.
include(objects_of)

function(merganser_module name)
  cmake_parse_arguments(arg "NOT_INSTALLED;PIECES" "FILE_BY_FILE" "USES" ${ARGN})
  set(root ${CMAKE_CURRENT_SOURCE_DIR})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${root}/src/${name}/*.cpp)
  if(name STREQUAL "comm")
    list(FILTER sources EXCLUDE REGEX "/comm/backends/")  # chosen in comm.cmake
  elseif(name STREQUAL "kernels")
    list(FILTER sources EXCLUDE REGEX "/kernels/families/")  # chosen in kernels.cmake
  endif()
  set(target merganser_${name})
  merganser_taken_module(${name} archive)
  if(sources AND archive)
    set(sources ${PROJECT_BINARY_DIR}/${name}_of_another_build.cpp)
    file(CONFIGURE OUTPUT ${sources} CONTENT "// libmerganser_${name}.a is that of ${archive}\n")
  endif()
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    set_target_properties(${target} PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
    target_include_directories(${target} PRIVATE ${root})
    if(arg_PIECES)
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
      if(arg_FILE_BY_FILE AND NOT CMAKE_UNITY_BUILD)  # a sanitizer's build compiles all of them in pieces
        set(single ${sources})
        list(FILTER single INCLUDE REGEX "/src/${name}/(${arg_FILE_BY_FILE})")
        set_source_files_properties(${single} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      endif()
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(merganser::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} ${scope} cxx_std_20)
  # Distances must have the same bits on every rank, so operations must not be contracted, in code of users that is inlined either.
  target_compile_options(${target} ${scope} $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${root}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  foreach(used IN LISTS arg_USES)
    target_link_libraries(${target} ${scope} merganser::${used})
  endforeach()
  if(archive)  # linked after the targets that use it and before those that it uses
    add_library(${target}_taken STATIC IMPORTED GLOBAL)
    set_target_properties(${target}_taken PROPERTIES IMPORTED_LOCATION ${archive})
    list(TRANSFORM arg_USES PREPEND merganser:: OUTPUT_VARIABLE used)
    target_link_libraries(${target}_taken INTERFACE ${used})
    target_link_libraries(${target} ${scope} $<BUILD_INTERFACE:${target}_taken>)
  endif()
  set_property(GLOBAL APPEND PROPERTY MERGANSER_MODULES ${name})
  set_property(GLOBAL APPEND PROPERTY MERGANSER_MODULES_OF_${MERGANSER_PACKAGE} ${name})
  if(NOT arg_NOT_INSTALLED)
    set_property(GLOBAL APPEND PROPERTY MERGANSER_INSTALLED_MODULES_${MERGANSER_PACKAGE} ${name})
  endif()
endfunction()

# merganser_without(module folder): removes the sources in one folder of a module from its library.
function(merganser_without module folder)
  if(TARGET merganser_${module}_taken)  # the other build has chosen its sources
    return()
  endif()
  get_target_property(sources merganser_${module} SOURCES)
  list(FILTER sources EXCLUDE REGEX "/src/${module}/${folder}/")
  set_property(TARGET merganser_${module} PROPERTY SOURCES ${sources})
endfunction()

# merganser_umbrella(): adds merganser::merganser, which links every installed module of the core; in a package
# merganser::<package>, which links every module of the package, unless a module of that name exists, which then uses the others.
function(merganser_umbrella)
  get_property(modules GLOBAL PROPERTY MERGANSER_INSTALLED_MODULES_${MERGANSER_PACKAGE})
  if(NOT modules OR MERGANSER_PACKAGE IN_LIST modules)
    return()
  endif()
  set(name merganser)
  set(target merganser_all)
  if(MERGANSER_PACKAGE)
    set(name ${MERGANSER_PACKAGE})
    set(target merganser_${name})
  endif()
  add_library(${target} INTERFACE)
  add_library(merganser::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  foreach(module IN LISTS modules)
    target_link_libraries(${target} INTERFACE merganser_${module})
  endforeach()
endfunction()

# merganser_module_archives(): adds the target merganser_modules, which builds the archives of all modules, and checks
# MERGANSER_TAKE.
function(merganser_module_archives)
  add_custom_target(merganser_modules)
  get_property(modules GLOBAL PROPERTY MERGANSER_MODULES)
  foreach(what IN LISTS MERGANSER_TAKE)
    if(NOT what IN_LIST modules AND NOT what MATCHES "^(modules|apps|tests)$")
      message(FATAL_ERROR "MERGANSER_TAKE has \"${what}\"; allowed: modules, apps, tests, or names of modules: ${modules}")
    endif()
  endforeach()
  foreach(module IN LISTS modules)
    get_target_property(type merganser_${module} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      add_dependencies(merganser_modules merganser_${module})
    endif()
  endforeach()
endfunction()

# merganser_link(module item...): links items to a module, privately; does nothing for a module without sources.
function(merganser_link module)
  get_target_property(type merganser_${module} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    target_link_libraries(merganser_${module} PRIVATE ${ARGN})
    if(TARGET merganser_${module}_taken)  # after the archive that calls them
      target_link_libraries(merganser_${module}_taken INTERFACE ${ARGN})
    endif()
  endif()
endfunction()

# merganser_needs(file name reason): sets `name` to the library that the first line of a file requires ("// requires: MPI"), and
# `reason` to the text for its absence, empty if it was found.
function(merganser_needs file needs reason)
  file(STRINGS ${file} line LIMIT_COUNT 1)
  if(NOT line MATCHES "^// requires: ([A-Za-z]+)$")
    message(FATAL_ERROR "${file}: the first line must be '// requires: MPI', 'OpenSHMEM' or 'nothing'")
  endif()
  set(library ${CMAKE_MATCH_1})
  set(missing "")
  if((library STREQUAL "MPI" AND NOT TARGET MPI::MPI_C) OR
     (library STREQUAL "OpenSHMEM" AND NOT TARGET OpenSHMEM::OpenSHMEM))
    set(missing "${merganser_no_${library}}")
    if(NOT missing)  # the core was installed without it
      set(missing "${library} not found at configure time")
    endif()
  endif()
  set(${needs} ${library} PARENT_SCOPE)
  set(${reason} "${missing}" PARENT_SCOPE)
endfunction()
