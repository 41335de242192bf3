# Fortran module `merganser` over the C interface, if a compiler is found. It is installed as source, since module files of one
# compiler cannot be read by another; merganser-fortran.cmake builds it here and in the projects of users.
set(MERGANSER_FORTRAN AUTO CACHE STRING "Fortran, for the module merganser: AUTO, ON or OFF")
set(merganser_fortran_wanted ${MERGANSER_FORTRAN})
if(MERGANSER_FORTRAN STREQUAL "AUTO" AND MERGANSER_SANITIZE)
  set(merganser_fortran_wanted OFF)  # run-time libraries of the sanitizers of two compilers conflict
endif()
if(merganser_fortran_wanted STREQUAL "AUTO")
  include(CheckLanguage)
  check_language(Fortran)
  if(CMAKE_Fortran_COMPILER)
    set(merganser_fortran_wanted ON)
  else()
    set(merganser_fortran_wanted OFF)
  endif()
endif()
if(merganser_fortran_wanted)
  enable_language(Fortran)
  include(${PROJECT_SOURCE_DIR}/fortran/merganser-fortran.cmake)
  merganser_add_fortran(${PROJECT_SOURCE_DIR}/fortran)
endif()
file(GLOB merganser_fortran_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fortran/*.[fF]90)
install(FILES ${merganser_fortran_files} ${PROJECT_SOURCE_DIR}/fortran/merganser-fortran.cmake
        DESTINATION ${CMAKE_INSTALL_DATADIR}/merganser/fortran)
