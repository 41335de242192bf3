# Says at the end of configuring what is built, and what is missing and how to get it.
function(merganser_say name target gain package)
  if(TARGET ${target})
    message(STATUS "  ${name}: found")
  else()
    message(STATUS "  ${name}: missing, so no ${gain} (Debian: ${package}; option ${ARGN})")
  endif()
endfunction()

message(STATUS "merganser ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE} ${MERGANSER_SANITIZE}")
message(STATUS "  model threads: always")
merganser_say(MPI MPI::MPI_C "models p2p, neighborhood, rma" "libopenmpi-dev openmpi-bin" "MERGANSER_MPI=${MERGANSER_MPI}")
merganser_say(OpenSHMEM OpenSHMEM::OpenSHMEM "model shmem" "libopenmpi-dev openmpi-bin"
              "MERGANSER_SHMEM=${MERGANSER_SHMEM}")
merganser_say(NetCDF NetCDF::NetCDF "parcel files" "libnetcdf-mpi-dev" "MERGANSER_NETCDF=${MERGANSER_NETCDF}")
merganser_say(zlib ZLIB::ZLIB "compressed graph files" "zlib1g-dev" "MERGANSER_ZLIB=${MERGANSER_ZLIB}")
merganser_say(Fortran merganser_fortran "module merganser" "gfortran" "MERGANSER_FORTRAN=${MERGANSER_FORTRAN}")
