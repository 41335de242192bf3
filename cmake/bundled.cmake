# Libraries bundled with a source distribution of the Python package, in third_party/, where tools/sdist puts them: Highway,
# xxhash.h and the headers of Boost.Math. They are compiled into libmerganser.so, so that a wheel has no dependency on them.
set(merganser_bundled ${PROJECT_SOURCE_DIR}/third_party)
if(NOT MERGANSER_PYTHON OR NOT EXISTS ${merganser_bundled}/highway/hwy/highway.h)
  return()
endif()
add_library(merganser_highway STATIC ${merganser_bundled}/highway/hwy/aligned_allocator.cc
            ${merganser_bundled}/highway/hwy/print.cc ${merganser_bundled}/highway/hwy/targets.cc)
add_library(hwy::hwy ALIAS merganser_highway)
target_include_directories(merganser_highway SYSTEM PUBLIC ${merganser_bundled}/highway)
# Its assertions hold __FILE__: without the folder, objects of two folders have the same bytes.
target_compile_options(merganser_highway PRIVATE -w -fmacro-prefix-map=${merganser_bundled}/=)
set_target_properties(merganser_highway PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD OFF)
set(XXHASH_INCLUDE_DIR ${merganser_bundled}/xxhash CACHE PATH "Folder of xxhash.h" FORCE)
set(BOOST_MATH_INCLUDE_DIR ${merganser_bundled}/boost CACHE PATH "Folder of boost/math" FORCE)
# Headers in folders of the system cause no warnings; those in third_party/ would cause this one.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/stats/distributions.cpp
                            PROPERTIES COMPILE_OPTIONS -Wno-zero-as-null-pointer-constant)
message(STATUS "Highway, xxHash and Boost: those in third_party/")
