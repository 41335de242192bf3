# merganser::shared: all installed rooms as one libmerganser.so, linked from the objects of the archives, so that nothing is
# compiled twice. What it shows is said by a version script: names of merganser and the C functions mg_..., with the version
# MERGANSER_<major>.<minor>; the rest stays inside. While the version is 0.x every minor version has a name (SONAME) of its own.
function(merganser_shared_library)
  get_property(rooms GLOBAL PROPERTY MERGANSER_INSTALLED_ROOMS)
  set(objects "")
  set(archives "")
  set(outside "")
  foreach(room IN LISTS rooms)
    get_target_property(type merganser_${room} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      if(TARGET merganser_${room}_taken)
        get_target_property(archive merganser_${room}_taken IMPORTED_LOCATION)
        list(APPEND archives ${archive})
      else()
        list(APPEND objects $<TARGET_OBJECTS:merganser_${room}>)
      endif()
      get_target_property(linked merganser_${room} LINK_LIBRARIES)
      list(FILTER linked EXCLUDE REGEX "^merganser_|_taken>$|NOTFOUND$")
      list(APPEND outside ${linked})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES outside)
  set(version ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  set(script ${PROJECT_BINARY_DIR}/merganser.map)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/merganser.map.in ${script} @ONLY)

  add_library(merganser_shared SHARED ${objects})
  add_library(merganser::shared ALIAS merganser_shared)
  set_target_properties(merganser_shared PROPERTIES EXPORT_NAME shared OUTPUT_NAME merganser LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION} SOVERSION ${version} LINK_DEPENDS "${script};${archives}")
  if(archives)
    list(JOIN archives "," whole)
    target_link_options(merganser_shared PRIVATE LINKER:--whole-archive,${whole},--no-whole-archive)
  endif()
  target_link_libraries(merganser_shared PRIVATE ${outside})
  target_link_options(merganser_shared PRIVATE LINKER:--version-script=${script} LINKER:-Bsymbolic-functions
                      LINKER:--no-undefined)
  target_compile_features(merganser_shared INTERFACE cxx_std_20)
  target_compile_options(merganser_shared INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
  target_include_directories(merganser_shared INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_property(GLOBAL PROPERTY MERGANSER_SHARED_TARGET merganser_shared)
endfunction()

# Version scripts are the GNU linker's. A sanitizer or coverage would be in programs twice.
if(MERGANSER_SHARED AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT MERGANSER_SANITIZE AND NOT MERGANSER_COVERAGE)
  merganser_shared_library()
endif()
