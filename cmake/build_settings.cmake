# Compiler settings of all targets of this tree. None of them is exported to projects that use the installed library.
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(MERGANSER_CCACHE ccache)
  if(MERGANSER_CCACHE)
    set(CMAKE_C_COMPILER_LAUNCHER ${MERGANSER_CCACHE})
    # Without these settings ccache does not cache files that are compiled with precompiled headers.
    set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${MERGANSER_CCACHE})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
    endif()
  endif()
endif()

add_compile_options(-Wall -Wextra -Wpedantic $<$<COMPILE_LANGUAGE:CXX>:-Wno-missing-field-initializers>
                    $<$<COMPILE_LANGUAGE:CXX>:-Wzero-as-null-pointer-constant>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)  # false alarms for "text" + std::string
endif()
if(MERGANSER_WERROR)
  add_compile_options(-Werror)
endif()

# Options for files with many small blocks (vectorised loops and tests): without the checks of use after scope the compiler needs a
# quarter less time for tests, two thirds less for vectorised loops.
set(merganser_blocks_not_watched "")
if(MERGANSER_SANITIZE STREQUAL "address")
  set(merganser_blocks_not_watched -fno-sanitize-address-use-after-scope)
  # The checks that are switched off double the time to compile; the address sanitizer detects null pointers and lifetimes too.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=null,alignment,pointer-overflow,object-size,vptr
                      -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(MERGANSER_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
elseif(MERGANSER_SANITIZE MATCHES "^fuzzer(-fast)?$")
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "MERGANSER_SANITIZE is \"${MERGANSER_SANITIZE}\" with ${CMAKE_CXX_COMPILER_ID}; allowed: with Clang, which has libFuzzer")
  endif()
  # float-cast-overflow: conversions of numbers out of the range of an integer type are undefined, but not part of "undefined".
  add_compile_options(-fsanitize=fuzzer-no-link,undefined,float-cast-overflow -fno-sanitize=vptr,function)
  if(MERGANSER_SANITIZE STREQUAL "fuzzer")
    add_compile_options(-fsanitize=address -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=address,undefined)
  else()
    # Without the address sanitizer; the standard library checks indices instead, which is cheap. Checks of every pointer are
    # switched off; the remaining ones trap without a message, and a run of the build "fuzzer" on the same input explains the error.
    add_compile_options(-fno-sanitize=null,alignment,pointer-overflow,object-size -fsanitize-trap=all)
    add_compile_definitions(_GLIBCXX_ASSERTIONS)
  endif()
elseif(MERGANSER_SANITIZE)
  message(FATAL_ERROR "MERGANSER_SANITIZE is \"${MERGANSER_SANITIZE}\"; allowed: empty, address, thread, fuzzer, fuzzer-fast")
endif()

if(MERGANSER_COVERAGE)
  # Counters are atomic, since threads share them; paths are absolute, whatever the folder in which the compiler was started.
  add_compile_options(--coverage -fprofile-update=prefer-atomic -fprofile-abs-path)
  add_link_options(--coverage)
endif()
