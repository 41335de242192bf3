# What is installed for readers: man pages and the completion of shells, which tools/manual generates from the descriptions of options
# in the program, into the folders man/ and completion/ of the build; documents and examples.
set(MERGANSER_HOST_PROGRAM "" CACHE FILEPATH
    "A merganser that runs on this machine, for man pages and completion of a build for another processor; empty: they are left out")
mark_as_advanced(MERGANSER_HOST_PROGRAM)

# merganser_no_manual_because(reason): sets `reason` to the text why man pages cannot be generated; empty if they can.
function(merganser_no_manual_because reason)
  set(${reason} "" PARENT_SCOPE)
  if(MERGANSER_SANITIZE OR MERGANSER_COVERAGE OR MERGANSER_SIMULATED OR MERGANSER_OBJECTS_OF)
    set(${reason} "this build is not installed" PARENT_SCOPE)
  elseif(NOT Python3_Interpreter_FOUND)
    set(${reason} "python3 is missing (Debian: python3)" PARENT_SCOPE)
  elseif(CMAKE_CROSSCOMPILING AND NOT MERGANSER_HOST_PROGRAM)
    set(${reason} "the program is for another processor (option MERGANSER_HOST_PROGRAM: the same program for this one)" PARENT_SCOPE)
  endif()
endfunction()

# merganser_manual(): adds the target merganser_manual, which generates man pages and completion, and installs them.
function(merganser_manual)
  find_package(Python3 COMPONENTS Interpreter QUIET)
  merganser_no_manual_because(reason)
  if(reason)
    message(STATUS "  man pages and completion: left out, since ${reason}")
    return()
  endif()
  set(program $<TARGET_FILE:merganser>)
  if(CMAKE_CROSSCOMPILING)
    set(program ${MERGANSER_HOST_PROGRAM})
  endif()
  # The date of the pages is that of the commit, so that they are the same wherever they are made; SOURCE_DATE_EPOCH replaces it.
  set(date "")
  find_package(Git QUIET)
  if(GIT_FOUND AND NOT DEFINED ENV{SOURCE_DATE_EPOCH})
    execute_process(COMMAND ${GIT_EXECUTABLE} log -1 --format=%cs WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                    OUTPUT_VARIABLE day OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(day)
      set(date --date ${day})
    endif()
  endif()
  set(tools ${PROJECT_SOURCE_DIR}/tools/manual)
  file(GLOB generators CONFIGURE_DEPENDS ${tools}/*.py)
  set(stamp ${PROJECT_BINARY_DIR}/CMakeFiles/manual.stamp)
  add_custom_command(OUTPUT ${stamp}
    COMMAND ${Python3_EXECUTABLE} ${tools} ${program} ${PROJECT_BINARY_DIR} ${date}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${program} ${generators} COMMENT "Generating man pages and completion" VERBATIM)
  add_custom_target(merganser_manual ALL DEPENDS ${stamp})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/man)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
  set(completion ${PROJECT_BINARY_DIR}/completion)
  install(FILES ${completion}/merganser.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME merganser OPTIONAL)
  install(FILES ${completion}/_merganser DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions OPTIONAL)
  install(FILES ${completion}/merganser.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d OPTIONAL)
endfunction()

# merganser_install_documents(): installs documents and examples of the core and of the packages that are built, with the folders
# that they have in the sources, so that links between them hold.
function(merganser_install_documents)
  set(where ${CMAKE_INSTALL_DOCDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md
          ${PROJECT_SOURCE_DIR}/CHANGELOG-names.md ${PROJECT_SOURCE_DIR}/SECURITY.md ${PROJECT_SOURCE_DIR}/CODE_OF_CONDUCT.md
          ${PROJECT_SOURCE_DIR}/CITATION.cff DESTINATION ${where})
  install(FILES ${PROJECT_SOURCE_DIR}/packaging/README.md DESTINATION ${where}/packaging)
  install(FILES ${PROJECT_SOURCE_DIR}/tests/fuzz/README.md DESTINATION ${where}/tests/fuzz)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples DESTINATION ${where}
          PATTERN "*.tar.xz" EXCLUDE PATTERN "__pycache__" EXCLUDE)
  get_property(packages GLOBAL PROPERTY MERGANSER_PACKAGES)
  foreach(package IN LISTS packages)
    get_property(folder GLOBAL PROPERTY MERGANSER_PACKAGE_FOLDER_${package})
    install(FILES ${folder}/README.md DESTINATION ${where}/packages/${package} OPTIONAL)
    foreach(kind docs examples)
      if(IS_DIRECTORY ${folder}/${kind})
        install(DIRECTORY ${folder}/${kind} DESTINATION ${where}/packages/${package} PATTERN "__pycache__" EXCLUDE)
      endif()
    endforeach()
  endforeach()
  install(FILES ${PROJECT_SOURCE_DIR}/packages/README.md DESTINATION ${where}/packages OPTIONAL)
endfunction()
