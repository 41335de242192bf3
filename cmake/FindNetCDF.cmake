# Finds NetCDF with NetCDF-4 support: target NetCDF::NetCDF. Component `parallel` requires a library that opens files
# collectively over MPI; Debian installs the headers of that one in <libdir>/netcdf/mpi/include, which neither its
# pkg-config nor its CMake file names. Component `serial`, or none, accepts any library.
include(FindPackageHandleStandardArgs)

unset(_netcdf_aside)  # left by an earlier search for the parallel library
set(_netcdf_names netcdf)
set(_netcdf_header netcdf.h)
if("parallel" IN_LIST NetCDF_FIND_COMPONENTS)
  set(_netcdf_names netcdf_mpi netcdf)
  set(_netcdf_header netcdf_par.h)
endif()
find_library(NetCDF_LIBRARY NAMES ${_netcdf_names} HINTS ENV NETCDF_ROOT PATH_SUFFIXES lib)
get_filename_component(_netcdf_libdir "${NetCDF_LIBRARY}" DIRECTORY)
if("parallel" IN_LIST NetCDF_FIND_COMPONENTS)
  set(_netcdf_aside ${_netcdf_libdir}/netcdf/mpi/include)
endif()
find_path(NetCDF_INCLUDE_DIR NAMES ${_netcdf_header}
          HINTS ${_netcdf_aside} ${_netcdf_libdir}/../include ENV NETCDF_ROOT PATH_SUFFIXES include)

set(NetCDF_serial_FOUND TRUE)
set(NetCDF_parallel_FOUND FALSE)
if(NetCDF_INCLUDE_DIR AND EXISTS ${NetCDF_INCLUDE_DIR}/netcdf_meta.h)
  file(STRINGS ${NetCDF_INCLUDE_DIR}/netcdf_meta.h _netcdf_meta REGEX "define +NC_(HAS_PARALLEL4|VERSION) ")
  if(_netcdf_meta MATCHES "NC_HAS_PARALLEL4 +1")
    set(NetCDF_parallel_FOUND TRUE)
  endif()
  if(_netcdf_meta MATCHES "NC_VERSION +\"([^\"]+)\"")
    set(NetCDF_VERSION ${CMAKE_MATCH_1})
  endif()
endif()
find_package_handle_standard_args(NetCDF REQUIRED_VARS NetCDF_LIBRARY NetCDF_INCLUDE_DIR
                                  VERSION_VAR NetCDF_VERSION HANDLE_COMPONENTS)
if(NetCDF_FOUND AND NOT TARGET NetCDF::NetCDF)
  add_library(NetCDF::NetCDF UNKNOWN IMPORTED)
  set_target_properties(NetCDF::NetCDF PROPERTIES IMPORTED_LOCATION ${NetCDF_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${NetCDF_INCLUDE_DIR})
endif()
mark_as_advanced(NetCDF_LIBRARY NetCDF_INCLUDE_DIR)
