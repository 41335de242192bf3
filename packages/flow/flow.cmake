merganser_link(flow hwy::hwy)

# Fourier transforms, beside our own. KISS FFT is compiled in where its header is. FFTW is under the GPL, and
# a program that links it is too: it is used only where that was asked for.
set(MERGANSER_KISSFFT AUTO CACHE STRING "KISS FFT, for the Fourier transforms of flows: AUTO, ON or OFF")
option(MERGANSER_FFTW "FFTW (GPL), for the Fourier transforms of flows; what links it is under the GPL" OFF)

if(NOT MERGANSER_KISSFFT STREQUAL "OFF")
  find_path(KISSFFT_INCLUDE_DIR kissfft.hh PATH_SUFFIXES kissfft DOC "Folder of kissfft.hh (Debian: libkissfft-dev)")
  mark_as_advanced(KISSFFT_INCLUDE_DIR)
  if(NOT KISSFFT_INCLUDE_DIR AND MERGANSER_KISSFFT STREQUAL "ON")
    message(FATAL_ERROR "MERGANSER_KISSFFT is ON, but kissfft.hh was not found (Debian: libkissfft-dev)")
  endif()
endif()
if(KISSFFT_INCLUDE_DIR AND NOT MERGANSER_KISSFFT STREQUAL "OFF")
  merganser_without(flow fft/without_kiss)
  set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/src/flow/fft/kiss/kiss.cpp
                              PROPERTIES INCLUDE_DIRECTORIES "${KISSFFT_INCLUDE_DIR}" SKIP_UNITY_BUILD_INCLUSION ON)
else()
  merganser_without(flow fft/kiss)
endif()

if(MERGANSER_FFTW)
  find_path(FFTW_INCLUDE_DIR fftw3.h DOC "Folder of fftw3.h (Debian: libfftw3-dev)")
  find_library(FFTW_LIBRARY fftw3 DOC "FFTW in double precision (Debian: libfftw3-dev)")
  mark_as_advanced(FFTW_INCLUDE_DIR FFTW_LIBRARY)
  if(NOT FFTW_INCLUDE_DIR OR NOT FFTW_LIBRARY)
    message(FATAL_ERROR "MERGANSER_FFTW is ON, but FFTW was not found (Debian: libfftw3-dev)")
  endif()
  merganser_without(flow fft/without_fftw)
  merganser_link(flow ${FFTW_LIBRARY})
  if(NOT FFTW_INCLUDE_DIR IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/src/flow/fft/fftw/fftw.cpp
                                PROPERTIES INCLUDE_DIRECTORIES "${FFTW_INCLUDE_DIR}")
  endif()
else()
  merganser_without(flow fft/fftw)
endif()

# These files include themselves once for each kind of vectors. GCC makes default constructors of structures of vectors outside of the
# part of a file that Highway has compiled for NEON, "+crypto", and cannot call them there unless all of the file is.
set(merganser_flow_vectors ${merganser_blocks_not_watched})
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^aarch64" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND merganser_flow_vectors -march=armv8-a+crypto)
endif()
foreach(file correction_kernels fft/lanes fft/rows columns_kernel line_kernels placement_kernels scatter_kernels transfer_kernels)
  set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/src/flow/${file}.cpp
                              PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS "${merganser_flow_vectors}")
endforeach()
