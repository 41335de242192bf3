# Library libmerganser-loopback, which LD_PRELOAD loads into launchers to restrict their listening sockets to this host. It is
# linked without the C++ library. Not built with a sanitizer, whose run-time library every such program would have to load first.
if(NOT MERGANSER_SIMULATED AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT MERGANSER_SANITIZE)
  add_library(merganser_loopback SHARED ${PROJECT_SOURCE_DIR}/src/loopback/loopback.cpp)
  set_target_properties(merganser_loopback PROPERTIES OUTPUT_NAME merganser-loopback LINKER_LANGUAGE C CXX_VISIBILITY_PRESET hidden
                        UNITY_BUILD OFF)
  target_compile_features(merganser_loopback PRIVATE cxx_std_20)
  target_compile_options(merganser_loopback PRIVATE -fno-exceptions -fno-rtti)
  merganser_runtime_path(merganser_loopback)
  install(TARGETS merganser_loopback LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/merganser)
endif()
