# Runs COMMAND, which must end with 3 and say why.
set(limit 50)
if("$ENV{MERGANSER_TEST_PATIENCE}" MATCHES "^[1-9][0-9]*$")
  math(EXPR limit "50 * $ENV{MERGANSER_TEST_PATIENCE}")
endif()
execute_process(COMMAND ${COMMAND} OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE code TIMEOUT ${limit})
if(NOT code EQUAL 3 OR output MATCHES "never reached" OR NOT errors MATCHES "merganser: point 1 at .7, ")
  message(FATAL_ERROR "ended with ${code} and said:\n${output}${errors}")
endif()
