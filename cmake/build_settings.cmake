# How everything in this tree is compiled. Nothing here reaches a project that uses the installed library.
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
    # Without these it would not keep what is compiled with precompiled headers.
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

# For code whose blocks are many and small, vectors' and tests': to watch the end of each takes the compiler a quarter of its time
# for tests, two thirds for vectors.
set(merganser_blocks_not_watched "")
if(MERGANSER_SANITIZE STREQUAL "address")
  set(merganser_blocks_not_watched -fno-sanitize-address-use-after-scope)
  # What is left out doubles the time to compile; null pointers and lifetimes are the address sanitizer's too.
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
  # Also numbers that a conversion to integers does not hold, which are undefined but no part of "undefined".
  add_compile_options(-fsanitize=fuzzer-no-link,undefined,float-cast-overflow -fno-sanitize=vptr,function)
  if(MERGANSER_SANITIZE STREQUAL "fuzzer")
    add_compile_options(-fsanitize=address -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=address,undefined)
  else()
    # Without the address sanitizer, and what is cheap in its place: indices are checked by the standard library. What is left
    # out are checks of every pointer; those that stay trap without a word, the other build then tells what it was.
    add_compile_options(-fno-sanitize=null,alignment,pointer-overflow,object-size -fsanitize-trap=all)
    add_compile_definitions(_GLIBCXX_ASSERTIONS)
  endif()
elseif(MERGANSER_SANITIZE)
  message(FATAL_ERROR "MERGANSER_SANITIZE is \"${MERGANSER_SANITIZE}\"; allowed: empty, address, thread, fuzzer, fuzzer-fast")
endif()

if(MERGANSER_COVERAGE)
  # Counts of threads must add up; paths must not depend on where the compiler was started.
  add_compile_options(--coverage -fprofile-update=prefer-atomic -fprofile-abs-path)
  add_link_options(--coverage)
endif()
