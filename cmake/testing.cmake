# Registration of tests with ctest: programs of tests by module, runs with threads and under the launcher, time limits and order.

# merganser_add_test(module/name [RANKS 1 2 3 4 7] [LABELS fast] [TIMEOUT seconds] [LIBS target...] [NO_PLAIN] [ALONE])
#
# Adds name.cpp of the current folder to the program of its module, tests/test_<module>, and registers `test_<module> name`: once as
# a plain process (not with NO_PLAIN), where ranks are threads, and with RANKS under the launcher for every number N of ranks, over
# every model of processes. One launch, the test module/processes.N, runs all files of the module that have N in RANKS: starting
# processes, and ending MPI and OpenSHMEM, takes longer than most files. It tests every second model, on 2, 3 and 7 ranks the others than on
# 1 and 4, and module/processes.N.rest, labelled long, the remaining ones; on 2 ranks all of them where the module is communication
# itself or the merge step (comm, kernels, links, announce, cluster). ALONE: in a program of its own, tests/test_module_name, since it
# replaces a function of the whole program.
find_package(GTest REQUIRED)
find_path(RAPIDCHECK_INCLUDE_DIR rapidcheck.h)
find_library(RAPIDCHECK_LIBRARY rapidcheck)
mark_as_advanced(RAPIDCHECK_INCLUDE_DIR RAPIDCHECK_LIBRARY)

# Time limits, in seconds, after which ctest ends a test that hangs: far more than any test takes alone, since a machine with other
# load is slower by an unknown factor. MERGANSER_TEST_PATIENCE in the environment multiplies them, here and in the tests that wait
# for a program (tests/support/patience.hpp).
set(merganser_patience 1)
if("$ENV{MERGANSER_TEST_PATIENCE}" MATCHES "^[1-9][0-9]*$")
  set(merganser_patience $ENV{MERGANSER_TEST_PATIENCE})
elseif(NOT "$ENV{MERGANSER_TEST_PATIENCE}" STREQUAL "")
  message(FATAL_ERROR "MERGANSER_TEST_PATIENCE is \"$ENV{MERGANSER_TEST_PATIENCE}\"; allowed: a whole number from 1")
endif()
math(EXPR merganser_limit "300 * ${merganser_patience}")
math(EXPR merganser_long_limit "900 * ${merganser_patience}")

# Most of the time to compile tests is spent on headers that all tests of a module include, so twelve files are compiled at a time.
# Two files of a module must then not define the same name: rename one, or move a common definition to a header beside them.
option(MERGANSER_TESTS_TOGETHER "Compile tests twelve files at a time: half of the work for all, more of it for a change of one" ON)

set(merganser_sources ${PROJECT_SOURCE_DIR})  # root of the tree, where the data of tests is
if(MERGANSER_DEVELOPMENT)
  get_filename_component(merganser_sources ${PROJECT_SOURCE_DIR}/../.. ABSOLUTE)
endif()
add_library(merganser_test_support STATIC
  ${MERGANSER_ROOT}/tests/support/main.cpp ${MERGANSER_ROOT}/tests/support/ranks.cpp ${MERGANSER_ROOT}/tests/support/folders.cpp)
set_source_files_properties(${MERGANSER_ROOT}/tests/support/folders.cpp PROPERTIES
  COMPILE_DEFINITIONS MERGANSER_SOURCE_DIR="${merganser_sources}")
target_include_directories(merganser_test_support PUBLIC ${MERGANSER_ROOT})
target_compile_options(merganser_test_support PRIVATE ${merganser_blocks_not_watched})
target_link_libraries(merganser_test_support PUBLIC merganser::comm GTest::gtest)
# The compiler spends half of its time for a test on these headers.
target_precompile_headers(merganser_test_support PRIVATE <gtest/gtest.h> <algorithm> <functional> <memory> <random>
  <string> <vector> <merganser/comm/runtime.hpp>)
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
if(NOT DEFINED MERGANSER_LAUNCHER_ENVIRONMENT)  # installed with the component development
  merganser_launcher_environment(MERGANSER_LAUNCHER_ENVIRONMENT)
endif()

# merganser_order(name labels...): sets the COST of a test, by which ctest -j starts tests in descending order: fast tests first,
# and of tests with equal labels those of one process before those under the launcher.
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

# merganser_launched_test(name ranks COMMAND ... [LABELS ...] [TIMEOUT seconds] [ENVIRONMENT ...]): registers a command that the
# launcher starts on a number of ranks; does nothing without a launcher.
function(merganser_launched_test name ranks)
  cmake_parse_arguments(arg "" "TIMEOUT" "LABELS;COMMAND;ENVIRONMENT" ${ARGN})
  if(NOT MERGANSER_LAUNCHER)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT ${merganser_limit})
  endif()
  add_test(NAME ${name} COMMAND ${MERGANSER_LAUNCHER} ${ranks} ${MPIEXEC_PREFLAGS} ${arg_COMMAND})
  set(models MERGANSER_TEST_MODELS=processes)
  if(arg_ENVIRONMENT MATCHES "MERGANSER_TEST_MODELS=")
    set(models "")
  endif()
  # `./x test` runs two tests for each core, so this leaves a core to each rank, as far as there are so many: a rank that yields while
  # it waits would lose its core to another test for milliseconds.
  math(EXPR processors "2 * ${ranks}")
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} PROCESSORS ${processors}
    ENVIRONMENT "${MERGANSER_LAUNCHER_ENVIRONMENT};${models};${arg_ENVIRONMENT}")
  merganser_order(${name} ${arg_LABELS})
endfunction()

function(merganser_add_test path)
  cmake_parse_arguments(arg "NO_PLAIN;ALONE" "TIMEOUT" "RANKS;LABELS;LIBS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT ${merganser_limit})
  endif()
  get_filename_component(module ${path} DIRECTORY)
  get_filename_component(name ${path} NAME)
  set(target test_${module})
  if(arg_ALONE)
    set(target test_${module}_${name})
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
    if(TARGET merganser::${module})
      target_link_libraries(${target} PRIVATE merganser::${module})
    endif()
    target_link_libraries(${target} PRIVATE merganser_test_support)
    get_filename_component(root ${CMAKE_CURRENT_SOURCE_DIR}/../.. ABSOLUTE)
    target_include_directories(${target} PRIVATE ${root})
    if(NOT taken)
      target_precompile_headers(${target} REUSE_FROM merganser_test_support)
      target_compile_options(${target} PRIVATE ${merganser_blocks_not_watched})
    endif()
  endif()
  if(NOT taken)
    target_sources(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp)
  endif()
  target_link_libraries(${target} PRIVATE ${arg_LIBS})
  list(JOIN arg_RANKS " " ranks)
  if(MERGANSER_SANITIZE AND arg_RANKS)
    set(ranks "1 2 4")  # ranks that share a core under a sanitizer are slow
  endif()
  if(NOT arg_NO_PLAIN)
    add_test(NAME ${path} COMMAND ${target} ${name})
    set_tests_properties(${path} PROPERTIES LABELS "${module};${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
      ENVIRONMENT "MERGANSER_TEST_RANKS=${ranks}")
    merganser_order(${path} ${arg_LABELS})
  endif()
  foreach(n IN LISTS arg_RANKS)
    get_property(files GLOBAL PROPERTY MERGANSER_LAUNCHED_${target}_${n})
    set_property(GLOBAL APPEND PROPERTY MERGANSER_LAUNCHED_${target}_${n} ${name})
    if(NOT files)  # the first of its folder; when the folder ends, all are known
      set(arguments ${module} ${target} ${n})
      if(arg_ALONE)
        set(arguments ${path} ${target} ${n})
      endif()
      list(JOIN arguments " " arguments)
      cmake_language(EVAL CODE "cmake_language(DEFER CALL merganser_launch_files ${arguments})")
    endif()
  endforeach()
endfunction()

# merganser_launch_files(prefix target ranks): registers prefix/processes.N, or prefix.N for a file that is ALONE: one launch of
# the program of a module on N ranks, with all of its files that are to run on as many. It has every second model of processes, and a second
# launch, with .rest at its end, the others; some modules have all of them on 2 ranks (merganser_add_test).
function(merganser_launch_files prefix target n)
  get_property(files GLOBAL PROPERTY MERGANSER_LAUNCHED_${target}_${n})
  set(name ${prefix}/processes.${n})
  if(prefix MATCHES "/")
    set(name ${prefix}.${n})
  endif()
  string(REGEX REPLACE "/.*" "" module ${prefix})
  set(half 0)
  set(rest 1)
  if(n EQUAL 2 OR n EQUAL 3 OR n EQUAL 7)
    set(half 1)
    set(rest 0)
  endif()
  set(command COMMAND $<TARGET_FILE:${target}> ${files} TIMEOUT ${merganser_long_limit})
  if(n EQUAL 2 AND module MATCHES "^(comm|kernels|links|announce|cluster)$")
    merganser_launched_test(${name} ${n} ${command} LABELS ${module} fast processes)
    return()
  endif()
  merganser_launched_test(${name} ${n} ${command} LABELS ${module} fast processes ENVIRONMENT MERGANSER_TEST_MODELS=processes/${half})
  merganser_launched_test(${name}.rest ${n} ${command} LABELS ${module} long processes
                          ENVIRONMENT MERGANSER_TEST_MODELS=processes/${rest})
endfunction()

# merganser_refused_test(module/name): adds a test that calls which must not compile do not. name.cpp of the current folder is
# compiled twice (cmake/refused.cmake), to be parsed only: once with MERGANSER_ACCEPTED, where all of it must be right, and once
# without, where what stands below each line `// refused: TEXT`, up to the next one or an empty line, must be refused with TEXT, and
# nothing else. Templates must have other arguments in every such case, since a compiler refuses each once.
function(merganser_refused_test path)
  get_filename_component(module ${path} DIRECTORY)
  get_filename_component(name ${path} NAME)
  string(REPLACE " " "|" flags "${CMAKE_CXX_FLAGS}")
  get_filename_component(root ${CMAKE_CURRENT_SOURCE_DIR}/../.. ABSOLUTE)
  set(folders $<TARGET_PROPERTY:merganser::${module},INTERFACE_INCLUDE_DIRECTORIES>)
  add_test(NAME ${path} COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp
    "-DCOMMAND=${CMAKE_CXX_COMPILER}|${flags}|-std=c++20|-Wall|-Wextra|-Wpedantic|-Werror"
    "-DFOLDERS=$<JOIN:${folders},|>|${root}" -P ${MERGANSER_ROOT}/cmake/refused.cmake)
  set_tests_properties(${path} PROPERTIES LABELS "${module};fast" TIMEOUT ${merganser_limit})
  merganser_order(${path} fast)
endfunction()

# merganser_program_of_tests(): adds the library merganser_test_program, by which tests run the command.
function(merganser_program_of_tests)
  if(TARGET merganser_test_program)
    return()
  endif()
  add_library(merganser_test_program STATIC ${MERGANSER_ROOT}/tests/apps/program.cpp)
  target_include_directories(merganser_test_program PUBLIC ${MERGANSER_ROOT})
  target_compile_definitions(merganser_test_program PRIVATE MERGANSER_COMMAND="$<TARGET_FILE:merganser>")
  target_link_libraries(merganser_test_program PUBLIC merganser::comm)
  add_dependencies(merganser_test_program merganser)
endfunction()

# merganser_add_program_tests(package test... [TWO test...]): adds tests of the verbs of a package; those in TWO use two cores.
function(merganser_add_program_tests package)
  cmake_parse_arguments(arg "" "" "TWO" ${ARGN})
  merganser_program_of_tests()
  foreach(test IN LISTS arg_UNPARSED_ARGUMENTS arg_TWO)
    merganser_add_test(${package}_apps/${test} LABELS fast)
  endforeach()
  target_sources(test_${package}_apps PRIVATE ${MERGANSER_ROOT}/tests/apps/no_commands.cpp)
  target_link_libraries(test_${package}_apps PRIVATE merganser_test_program merganser::${package}_app)
  foreach(test IN LISTS arg_TWO)
    set_tests_properties(${package}_apps/${test} PROPERTIES PROCESSORS 2)
  endforeach()
endfunction()

# merganser_symbols_test(name list headers module): adds a test that the C functions in the archive of a module are those of a list.
find_package(Python3 COMPONENTS Interpreter QUIET)
function(merganser_symbols_test name list headers module)
  if(NOT Python3_Interpreter_FOUND OR NOT CMAKE_NM OR MERGANSER_SANITIZE)
    return()
  endif()
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} ${MERGANSER_ROOT}/tests/capi/symbols_test.py ${list} ${headers}
    $<TARGET_FILE:merganser_${module}> ${CMAKE_NM})
  set_tests_properties(${name} PROPERTIES LABELS "capi;fast" TIMEOUT ${merganser_limit})
  merganser_order(${name} fast)
endfunction()

set(MERGANSER_TEST_FOLDERS "" CACHE STRING "Folders of tests to build: \"comm;links\"; empty: all")

# merganser_test_folders(folder binary name...): adds those of the named folders below `folder` that have a CMakeLists.txt and are
# selected by MERGANSER_TEST_FOLDERS; `binary` is their build folder.
function(merganser_test_folders folder binary)
  foreach(name IN LISTS ARGN)
    if(EXISTS ${folder}/${name}/CMakeLists.txt AND (NOT MERGANSER_TEST_FOLDERS OR name IN_LIST MERGANSER_TEST_FOLDERS))
      add_subdirectory(${folder}/${name} ${binary}/${name})
    endif()
  endforeach()
endfunction()

# merganser_package_tests(package): adds all folders of tests of a package, those of verbs only if the command is built.
function(merganser_package_tests package)
  get_property(folder GLOBAL PROPERTY MERGANSER_PACKAGE_FOLDER_${package})
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${folder}/tests ${folder}/tests/*/CMakeLists.txt)
  list(TRANSFORM files REPLACE "/CMakeLists.txt$" "")
  if(NOT MERGANSER_APPS)
    list(FILTER files EXCLUDE REGEX "(_apps|^simulate)$")
  endif()
  merganser_test_folders(${folder}/tests ${CMAKE_CURRENT_BINARY_DIR} ${files})
endfunction()
