# Runs COMMAND, which must end with 3 and say why.
execute_process(COMMAND ${COMMAND} OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE code TIMEOUT 50)
if(NOT code EQUAL 3 OR output MATCHES "never reached" OR NOT errors MATCHES "merganser: point 0 at .7, ")
  message(FATAL_ERROR "ended with ${code} and said:\n${output}${errors}")
endif()
