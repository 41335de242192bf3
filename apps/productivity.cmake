# Run when a counted file has changed: writes productivity.cpp with what tools/productivity.py counts in this source tree.
set(COUNTED "")
if(PYTHON)
  execute_process(COMMAND ${PYTHON} ${SOURCE}/tools/productivity.py --json ${SOURCE}
                  OUTPUT_VARIABLE COUNTED OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE code)
  if(code)
    message(FATAL_ERROR "tools/productivity.py ended with ${code}")
  endif()
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
