# merganser_add_fortran(folder): target merganser::fortran, the module merganser, from the sources in a folder. Where MPI has
# the module mpi_f08 for this compiler, communicators may be type(MPI_Comm).
macro(merganser_add_fortran folder)
  if(NOT MERGANSER_MPI STREQUAL "OFF" AND TARGET MPI::MPI_C AND NOT TARGET MPI::MPI_Fortran)
    find_package(MPI QUIET COMPONENTS Fortran)
    if(TARGET MPI::MPI_Fortran)  # what MPICH's wrapper adds is for Fortran; a target may have C++ beside it
      get_target_property(options MPI::MPI_Fortran INTERFACE_COMPILE_OPTIONS)
      if(options)
        set_target_properties(MPI::MPI_Fortran PROPERTIES INTERFACE_COMPILE_OPTIONS
                              "$<$<COMPILE_LANGUAGE:Fortran>:${options}>")
      endif()
    endif()
  endif()
  add_library(merganser_fortran STATIC EXCLUDE_FROM_ALL ${folder}/merganser_c.f90 ${folder}/merganser_transports.F90
              ${folder}/merganser_columns.f90 ${folder}/merganser_stars.f90 ${folder}/merganser_friends.f90
              ${folder}/merganser_steps.f90
              ${folder}/merganser.f90)
  add_library(merganser::fortran ALIAS merganser_fortran)
  set(merganser_fortran_modules ${CMAKE_CURRENT_BINARY_DIR}/merganser_fortran)
  set_target_properties(merganser_fortran PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD OFF
                        Fortran_MODULE_DIRECTORY ${merganser_fortran_modules})
  target_include_directories(merganser_fortran INTERFACE ${merganser_fortran_modules})
  target_link_libraries(merganser_fortran PUBLIC merganser::merganser)
  if(TARGET MPI::MPI_Fortran AND MPI_Fortran_HAVE_F08_MODULE)
    target_link_libraries(merganser_fortran PUBLIC MPI::MPI_Fortran)
    target_compile_definitions(merganser_fortran PRIVATE MERGANSER_MPI_F08)
  endif()
endmacro()
