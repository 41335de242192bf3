# Libraries that only some graph files need: those of compressions, and expat for GraphML. Without one, reading such a file throws.

# merganser_optional_library(option package target folder debian): finds a library and links it to the module graphs, unless
# MERGANSER_<option> is OFF; without it, the sources in src/graphs/<folder> give way to those in the folder without_... beside it.
macro(merganser_optional_library option package target folder debian)
  if(NOT MERGANSER_${option} STREQUAL "OFF")
    merganser_find(${package} QUIET)
    if(NOT TARGET ${target} AND MERGANSER_${option} STREQUAL "ON")
      message(FATAL_ERROR "MERGANSER_${option} is ON, but ${package} was not found (Debian: ${debian})")
    endif()
  endif()
  string(REGEX REPLACE "([^/]+)$" "without_\\1" merganser_absent ${folder})
  if(TARGET ${target} AND NOT MERGANSER_${option} STREQUAL "OFF")
    set_target_properties(${target} PROPERTIES IMPORTED_GLOBAL TRUE)  # tests and other packages ask for it
    merganser_without(graphs ${merganser_absent})
    merganser_link(graphs ${target})
  else()
    merganser_without(graphs ${folder})
  endif()
endmacro()
merganser_optional_library(ZLIB ZLIB ZLIB::ZLIB unpack/zlib zlib1g-dev)
merganser_optional_library(BZIP2 BZip2 BZip2::BZip2 unpack/bzip2 libbz2-dev)
merganser_optional_library(LZMA LibLZMA LibLZMA::LibLZMA unpack/lzma liblzma-dev)
merganser_optional_library(ZSTD zstd zstd::libzstd_shared unpack/zstd libzstd-dev)
merganser_optional_library(EXPAT EXPAT EXPAT::EXPAT xml/expat libexpat1-dev)
