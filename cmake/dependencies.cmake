# External libraries of the modules. MPI, OpenSHMEM, NetCDF and zlib are optional; summary.cmake reports missing ones.
# Those that the installed library needs again are found with merganser_find (package.cmake).
merganser_find(Threads REQUIRED)

# Highway: SIMD with dispatch at run time.
include(bundled)
if(NOT TARGET hwy::hwy)
  merganser_find(hwy 1.0 REQUIRED)
endif()

# Instruction sets that are disabled; results have the same bits without them. SSSE3: to compile for it would take a
# sixth more time for these files, and hardly any processor has it without SSE4. Vectors of SVE and RVV have no size that the compiler
# knows, so they cannot be members of structures or elements of arrays, which the loops of the flow, the scan of leaves and merges
# use to keep them in registers. Those loops use NEON, which every processor with SVE has. Files without such structures are
# compiled for SVE too (merganser_sve_files below), once for all vector lengths.
set(highway hwy::hwy)
if(TARGET merganser_highway)
  set(highway merganser_highway)  # hwy::hwy is another name of it
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)")
  target_compile_definitions(${highway} INTERFACE HWY_DISABLED_TARGETS=HWY_SSSE3)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm|riscv)")
  target_compile_definitions(${highway} INTERFACE
                             "HWY_DISABLED_TARGETS=(HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128|HWY_RVV)")
endif()

# xxHash, for digests. Header only, so that users of the library do not need it.
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED DOC "Folder of xxhash.h (Debian: libxxhash-dev)")
mark_as_advanced(XXHASH_INCLUDE_DIR)

# Boost.Math, for quantiles of distributions. Header only, so that users of the library do not need it.
find_path(BOOST_MATH_INCLUDE_DIR boost/math/distributions/students_t.hpp REQUIRED
          DOC "Folder of boost/math (Debian: libboost-dev)")
mark_as_advanced(BOOST_MATH_INCLUDE_DIR)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/stats/distributions.cpp
                            PROPERTIES INCLUDE_DIRECTORIES "${BOOST_MATH_INCLUDE_DIR}" SKIP_UNITY_BUILD_INCLUSION ON)

merganser_link(comm Threads::Threads)
foreach(module base cluster links nearest parcels)
  merganser_link(${module} hwy::hwy)
endforeach()
# These files are included once for each instruction set (Highway), or define the hidden members of a class, so they are compiled
# alone.
foreach(file cluster/chunk_lists cluster/crowded_vectors cluster/friends_scan links/iterative links/scan links/single_pass nearest/block_search nearest/box_tree nearest/cell_keys nearest/filter_lists nearest/key_lists nearest/leaf_scan nearest/pair_scan nearest/point_tree nearest/several_search parcels/merge_batch)
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
merganser_check_libraries()
