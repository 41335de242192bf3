# Compressed graph files. Without zlib reading one throws.
if(NOT MERGANSER_ZLIB STREQUAL "OFF")
  merganser_find(ZLIB QUIET)
  if(NOT ZLIB_FOUND AND MERGANSER_ZLIB STREQUAL "ON")
    message(FATAL_ERROR "MERGANSER_ZLIB is ON, but zlib was not found (Debian: zlib1g-dev)")
  endif()
endif()
if(TARGET ZLIB::ZLIB)
  set_target_properties(ZLIB::ZLIB PROPERTIES IMPORTED_GLOBAL TRUE)  # tests and other packages ask for it
  merganser_without(graphs without_zlib)
  merganser_link(graphs ZLIB::ZLIB)
else()
  merganser_without(graphs zlib)
endif()
