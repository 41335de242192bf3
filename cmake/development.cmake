# Component `development` of the installation: all that packages which are built alone need of the core.

# merganser_launcher_environment(result): environment variables NAME=VALUE for tests that mpirun starts, the same as
# launcher_settings() of the library returns, parsed from its source.
function(merganser_launcher_environment result)
  set(file ${PROJECT_SOURCE_DIR}/src/comm/launcher.cpp)
  file(STRINGS ${file} settings REGEX "push_back\\({\"[A-Za-z_]+\", \"[^\"]+\",")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  list(TRANSFORM settings REPLACE "^[^\"]*\"([^\"]+)\", \"([^\"]+)\".*$" "\\1=\\2")
  set(${result} ${settings} PARENT_SCOPE)
endfunction()

# merganser_install_development(): installs the CMake functions by which the core is built, headers and archives of the command, and
# the common parts of tests.
function(merganser_install_development)
  set(where ${CMAKE_INSTALL_DATADIR}/merganser/development)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/modules.cmake ${PROJECT_SOURCE_DIR}/cmake/objects_of.cmake
          ${PROJECT_SOURCE_DIR}/cmake/package.cmake ${PROJECT_SOURCE_DIR}/cmake/packages.cmake
          ${PROJECT_SOURCE_DIR}/cmake/program.cmake ${PROJECT_SOURCE_DIR}/cmake/shared.cmake
          ${PROJECT_SOURCE_DIR}/cmake/testing.cmake ${PROJECT_SOURCE_DIR}/cmake/refused.cmake
          ${PROJECT_SOURCE_DIR}/cmake/runtime_path.cmake
          ${PROJECT_SOURCE_DIR}/cmake/build_settings.cmake ${PROJECT_SOURCE_DIR}/cmake/merganser.pc.in
          ${PROJECT_SOURCE_DIR}/cmake/merganser.map.in DESTINATION ${where}/cmake)
  install(FILES ${PROJECT_SOURCE_DIR}/apps/merganser.cpp ${PROJECT_SOURCE_DIR}/apps/commands.cpp.in DESTINATION ${where}/apps)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/tests/support DESTINATION ${where}/tests)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/tests DESTINATION ${where} FILES_MATCHING PATTERN "*.hpp" PATTERN fuzz EXCLUDE)
  # The one private header that common parts of tests need: tests/house/house_rules_test.py.
  install(FILES ${PROJECT_SOURCE_DIR}/src/base/system_root.hpp DESTINATION ${where}/src/base)
  install(FILES ${PROJECT_SOURCE_DIR}/tests/apps/program.cpp ${PROJECT_SOURCE_DIR}/tests/apps/no_commands.cpp
          DESTINATION ${where}/tests/apps)
  install(FILES ${PROJECT_SOURCE_DIR}/tests/capi/symbols_test.py DESTINATION ${where}/tests/capi)
  merganser_install_app_libraries("")
  merganser_launcher_environment(MERGANSER_LAUNCHER_ENVIRONMENT)
  get_property(MERGANSER_COMMANDS GLOBAL PROPERTY MERGANSER_COMMANDS_core)
  get_property(MERGANSER_TITLE GLOBAL PROPERTY MERGANSER_PACKAGE_TITLE_core)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/merganser-development.cmake.in ${PROJECT_BINARY_DIR}/merganser-development.cmake @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/merganser-development.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/merganser)
endfunction()
