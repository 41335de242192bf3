# Builds that cannot run their program, or are not installed, leave man pages out and say why: cmake -DSOURCE=... -P
include(${SOURCE}/cmake/manual.cmake)

# expect(words): the reason contains the words; empty: there is none.
function(expect words)
  merganser_no_manual_because(reason)
  string(FIND "${reason}" "${words}" at)
  if((words STREQUAL "" AND NOT reason STREQUAL "") OR at EQUAL -1)
    message(FATAL_ERROR "the reason is \"${reason}\", not \"${words}\"")
  endif()
endfunction()

set(Python3_Interpreter_FOUND TRUE)
expect("")
set(CMAKE_CROSSCOMPILING TRUE)
expect("MERGANSER_HOST_PROGRAM")
set(MERGANSER_HOST_PROGRAM /usr/bin/merganser)
expect("")
set(MERGANSER_SANITIZE address)
expect("not installed")
set(MERGANSER_SANITIZE "")
set(Python3_Interpreter_FOUND FALSE)
expect("python3 is missing")
