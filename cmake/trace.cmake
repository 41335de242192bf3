# Libraries that are loaded into other programs by LD_PRELOAD. The tracing one counts what they move between ranks, the other
# one keeps what they listen on to this host. They are linked with neither MPI nor OpenSHMEM, so that they can be loaded into any
# program, nor with the C++ library.
set(sources ${PROJECT_SOURCE_DIR}/src/trace/record.cpp ${PROJECT_SOURCE_DIR}/src/trace/handle_table.cpp)
file(GLOB wrappers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/trace/mpi_*.cpp
     ${PROJECT_SOURCE_DIR}/src/trace/shmem_*.cpp)
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
    OUTPUT_NAME merganser-trace LINKER_LANGUAGE C CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON UNITY_BUILD OFF)
  target_include_directories(merganser_trace PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_features(merganser_trace PRIVATE cxx_std_20)
  target_compile_options(merganser_trace PRIVATE -fno-exceptions -fno-rtti -fno-threadsafe-statics)
  target_compile_definitions(merganser_trace PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  if(TARGET MPI::MPI_C)
    target_include_directories(merganser_trace SYSTEM PRIVATE ${MPI_C_INCLUDE_DIRS})
  endif()
  target_link_libraries(merganser_trace PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  add_library(merganser_loopback SHARED ${PROJECT_SOURCE_DIR}/src/trace/loopback.cpp)
  set_target_properties(merganser_loopback PROPERTIES OUTPUT_NAME merganser-loopback LINKER_LANGUAGE C CXX_VISIBILITY_PRESET hidden
                        UNITY_BUILD OFF)
  target_compile_features(merganser_loopback PRIVATE cxx_std_20)
  target_compile_options(merganser_loopback PRIVATE -fno-exceptions -fno-rtti)
  merganser_runtime_path(merganser_trace)
  merganser_runtime_path(merganser_loopback)
  install(TARGETS merganser_trace merganser_loopback LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/merganser)
endif()
