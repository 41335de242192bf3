# Run at every build: writes build_info.cpp anew if the commit, the compiler or the flags have changed.
find_package(Git QUIET)
set(GIT "")
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --short=10 HEAD WORKING_DIRECTORY ${SOURCE}
                  OUTPUT_VARIABLE GIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND ${GIT_EXECUTABLE} status --porcelain --untracked-files=no WORKING_DIRECTORY ${SOURCE}
                  OUTPUT_VARIABLE changed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(GIT AND changed)
    string(APPEND GIT "+")
  endif()
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
