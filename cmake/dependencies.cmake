# What the modules need from outside. MPI, OpenSHMEM, NetCDF and zlib are optional; what is missing is said.
# Packages that the installed library needs again are found with merganser_find (package.cmake).
merganser_find(Threads REQUIRED)

# Vectors with dispatch at run time.
include(bundled)
if(NOT TARGET hwy::hwy)
  merganser_find(hwy 1.0 REQUIRED)
endif()

# Kinds of vectors that are left out, the same bits being had without them. Vectors of SVE and RVV have no size that the compiler
# knows, so they cannot be members of structures or elements of arrays, by which the kernels of the flow, the scan of leaves and
# merges keep them in registers: NEON, which every processor with SVE has, serves these. Files without such vectors are compiled
# for SVE too (merganser_sve_files below), once for all lengths.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm|riscv)")
  set(highway hwy::hwy)
  if(TARGET merganser_highway)
    set(highway merganser_highway)  # hwy::hwy is another name of it
  endif()
  target_compile_definitions(${highway} INTERFACE
                             "HWY_DISABLED_TARGETS=(HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128|HWY_RVV)")
endif()

# Digests; compiled in, so that nothing of it is needed later.
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED DOC "Folder of xxhash.h (Debian: libxxhash-dev)")
mark_as_advanced(XXHASH_INCLUDE_DIR)

# Quantiles of distributions; compiled in too.
find_path(BOOST_MATH_INCLUDE_DIR boost/math/distributions/students_t.hpp REQUIRED
          DOC "Folder of boost/math (Debian: libboost-dev)")
mark_as_advanced(BOOST_MATH_INCLUDE_DIR)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/stats/distributions.cpp
                            PROPERTIES INCLUDE_DIRECTORIES "${BOOST_MATH_INCLUDE_DIR}" SKIP_UNITY_BUILD_INCLUSION ON)

merganser_link(comm Threads::Threads)
foreach(module base links nearest parcels)
  merganser_link(${module} hwy::hwy)
endforeach()
# These files include themselves once for each kind of vectors, or hide what a class in a header holds.
foreach(file links/iterative links/scan links/single_pass nearest/block_search nearest/cell_keys nearest/leaf_scan nearest/pair_scan parcels/merge_batch)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/${file}.cpp
                              PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS "${merganser_blocks_not_watched}")
endforeach()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^aarch64")
  set(merganser_sve_files base/vectors links/scan nearest/block_search nearest/cell_keys nearest/pair_scan)
  list(TRANSFORM merganser_sve_files REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/src/\\1.cpp")
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/base/vectors.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set_property(SOURCE ${merganser_sve_files} APPEND PROPERTY COMPILE_OPTIONS -UHWY_DISABLED_TARGETS
               "-DHWY_DISABLED_TARGETS=(HWY_SVE2|HWY_SVE_256|HWY_SVE2_128)")
endif()
include(comm)
include(kernels)
include(loopback)
include(netcdf)
