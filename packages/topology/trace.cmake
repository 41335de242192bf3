# A library that is loaded into other programs by LD_PRELOAD and counts what they move between ranks. It is linked with neither
# MPI nor OpenSHMEM, so that it can be loaded into any program, nor with the C++ library.
set(sources ${CMAKE_CURRENT_SOURCE_DIR}/src/trace/record.cpp ${CMAKE_CURRENT_SOURCE_DIR}/src/trace/handle_table.cpp)
file(GLOB wrappers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/trace/mpi_*.cpp
     ${CMAKE_CURRENT_SOURCE_DIR}/src/trace/shmem_*.cpp)
set(found FALSE)
foreach(file IN LISTS wrappers)
  merganser_needs(${file} needs reason)
  if(NOT reason)
    list(APPEND sources ${file})
    set(found TRUE)
  endif()
endforeach()

# With a sanitizer the library would need its run-time library first in every program.
if(found AND NOT MERGANSER_SIMULATED AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT MERGANSER_SANITIZE)
  add_library(merganser_trace SHARED ${sources})
  set_target_properties(merganser_trace PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} OUTPUT_NAME merganser-trace LINKER_LANGUAGE C CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON UNITY_BUILD OFF)
  target_include_directories(merganser_trace PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_features(merganser_trace PRIVATE cxx_std_20)
  target_compile_options(merganser_trace PRIVATE -fno-exceptions -fno-rtti -fno-threadsafe-statics)
  target_compile_definitions(merganser_trace PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  if(TARGET MPI::MPI_C)
    target_include_directories(merganser_trace SYSTEM PRIVATE ${MPI_C_INCLUDE_DIRS})
  endif()
  target_link_libraries(merganser_trace PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  merganser_runtime_path(merganser_trace)
  install(TARGETS merganser_trace LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/merganser)
endif()
