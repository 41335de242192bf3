# merganser_add_test(room/name [RANKS 1 2 3 4 7] [LABELS fast] [TIMEOUT seconds] [LIBS target...] [NO_PLAIN] [ALONE])
#
# Adds tests/room/name.cpp to the program of its room, tests/test_room, and registers it: `test_room name`, once as a plain
# process (not with NO_PLAIN), where its ranks are threads, and with RANKS once more under the launcher for every number of
# ranks, over every model of processes. ALONE: in a program of its own, tests/test_room_name, since it replaces what is one for
# a whole program.
find_package(GTest REQUIRED)
find_path(RAPIDCHECK_INCLUDE_DIR rapidcheck.h)
find_library(RAPIDCHECK_LIBRARY rapidcheck)
mark_as_advanced(RAPIDCHECK_INCLUDE_DIR RAPIDCHECK_LIBRARY)

# After how many seconds ctest ends a test that hangs: far more than any takes alone, since a machine on which others work too
# is slower by a factor that nobody knows. MERGANSER_TEST_PATIENCE in the environment multiplies them, here and in the tests
# that wait for a program (tests/support/patience.hpp).
set(merganser_patience 1)
if("$ENV{MERGANSER_TEST_PATIENCE}" MATCHES "^[1-9][0-9]*$")
  set(merganser_patience $ENV{MERGANSER_TEST_PATIENCE})
elseif(NOT "$ENV{MERGANSER_TEST_PATIENCE}" STREQUAL "")
  message(FATAL_ERROR "MERGANSER_TEST_PATIENCE is \"$ENV{MERGANSER_TEST_PATIENCE}\"; allowed: a whole number from 1")
endif()
math(EXPR merganser_limit "300 * ${merganser_patience}")
math(EXPR merganser_long_limit "900 * ${merganser_patience}")

# Most of the work is in what all tests of a room include. Names of a file that another one has, too, are found so: say what
# differs, or move what does not into a header beside them.
option(MERGANSER_TESTS_TOGETHER "Compile tests twelve files at a time: half of the work for all, more of it for a change of one" ON)

add_library(merganser_test_support STATIC
  ${PROJECT_SOURCE_DIR}/tests/support/main.cpp ${PROJECT_SOURCE_DIR}/tests/support/ranks.cpp)
target_include_directories(merganser_test_support PUBLIC ${PROJECT_SOURCE_DIR})
target_compile_definitions(merganser_test_support PUBLIC MERGANSER_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_compile_options(merganser_test_support PRIVATE ${merganser_blocks_not_watched})
target_link_libraries(merganser_test_support PUBLIC merganser_comm GTest::gtest)
# Half of what the compiler does for a test is to read these.
target_precompile_headers(merganser_test_support PRIVATE <gtest/gtest.h> <algorithm> <functional> <memory> <random>
  <string> <vector> ${PROJECT_SOURCE_DIR}/include/merganser/comm/runtime.hpp)
if(RAPIDCHECK_LIBRARY AND RAPIDCHECK_INCLUDE_DIR)
  target_include_directories(merganser_test_support SYSTEM PUBLIC ${RAPIDCHECK_INCLUDE_DIR})
  target_link_libraries(merganser_test_support PUBLIC ${RAPIDCHECK_LIBRARY})
endif()

set(MERGANSER_LAUNCHER "")
if(TARGET MPI::MPI_C)
  set(MERGANSER_LAUNCHER ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG})
elseif(TARGET OpenSHMEM::OpenSHMEM)
  find_program(OpenSHMEM_LAUNCHER NAMES mpirun mpiexec.hydra oshrun shmemrun)  # what Sandia's oshrun calls, too
  if(OpenSHMEM_LAUNCHER)
    set(MERGANSER_LAUNCHER ${OpenSHMEM_LAUNCHER} -n)
  endif()
endif()
# For tests that mpirun starts: what launcher_settings() of the library gives, read where it stands.
file(STRINGS ${PROJECT_SOURCE_DIR}/src/comm/launcher.cpp settings REGEX "push_back\\({\"[A-Za-z_]+\", \"[^\"]+\",")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/comm/launcher.cpp)
list(TRANSFORM settings REPLACE "^[^\"]*\"([^\"]+)\", \"([^\"]+)\".*$" "\\1=\\2"
     OUTPUT_VARIABLE MERGANSER_LAUNCHER_ENVIRONMENT)

# merganser_order(name labels...): ctest -j starts tests by descending COST; fast ones first, those of one process before.
function(merganser_order name)
  set(cost 100)
  if("fast" IN_LIST ARGN)
    set(cost 300)
  endif()
  if("processes" IN_LIST ARGN)
    math(EXPR cost "${cost} - 50")
  endif()
  set_tests_properties(${name} PROPERTIES COST ${cost})
endfunction()

# merganser_launched_test(name ranks command...): registers a command under the launcher.
function(merganser_launched_test name ranks)
  cmake_parse_arguments(arg "" "TIMEOUT" "LABELS;COMMAND;ENVIRONMENT" ${ARGN})
  if(NOT MERGANSER_LAUNCHER)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT ${merganser_limit})
  endif()
  add_test(NAME ${name} COMMAND ${MERGANSER_LAUNCHER} ${ranks} ${MPIEXEC_PREFLAGS} ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} PROCESSORS ${ranks}
    ENVIRONMENT "${MERGANSER_LAUNCHER_ENVIRONMENT};MERGANSER_TEST_MODELS=processes;${arg_ENVIRONMENT}")
  merganser_order(${name} ${arg_LABELS})
endfunction()

function(merganser_add_test path)
  cmake_parse_arguments(arg "NO_PLAIN;ALONE" "TIMEOUT" "RANKS;LABELS;LIBS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT ${merganser_limit})
  endif()
  get_filename_component(room ${path} DIRECTORY)
  get_filename_component(name ${path} NAME)
  set(target test_${room})
  if(arg_ALONE)
    set(target test_${room}_${name})
  endif()
  merganser_takes(tests taken)
  if(NOT TARGET ${target})
    if(taken)
      merganser_taken_program(${target})
    else()
      add_executable(${target})
      merganser_objects(${target})
    endif()
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests
      UNITY_BUILD ${MERGANSER_TESTS_TOGETHER} UNITY_BUILD_BATCH_SIZE 12)
    if(TARGET merganser::${room})
      target_link_libraries(${target} PRIVATE merganser_${room})
    endif()
    target_link_libraries(${target} PRIVATE merganser_test_support)
    if(NOT taken)
      target_precompile_headers(${target} REUSE_FROM merganser_test_support)
      target_compile_options(${target} PRIVATE ${merganser_blocks_not_watched})
    endif()
  endif()
  if(NOT taken)
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests/${path}.cpp)
  endif()
  target_link_libraries(${target} PRIVATE ${arg_LIBS})
  list(JOIN arg_RANKS " " ranks)
  if(MERGANSER_SANITIZE AND arg_RANKS)
    set(ranks "1 2 4")  # ranks that share a core under a sanitizer are slow
  endif()
  if(NOT arg_NO_PLAIN)
    add_test(NAME ${path} COMMAND ${target} ${name})
    set_tests_properties(${path} PROPERTIES LABELS "${room};${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
      ENVIRONMENT "MERGANSER_TEST_RANKS=${ranks}")
    merganser_order(${path} ${arg_LABELS})
  endif()
  foreach(n IN LISTS arg_RANKS)
    merganser_launched_test(${path}.${n} ${n} COMMAND $<TARGET_FILE:${target}> ${name} TIMEOUT ${arg_TIMEOUT}
                            LABELS ${room} ${arg_LABELS} processes)
  endforeach()
endfunction()
