# The Python package, for scikit-build-core (pyproject.toml): libmerganser.so without MPI, the extension merganser._core that
# is linked with it, and the types of what it holds (_core.pyi). Component python of the installation: the folder merganser.
if(NOT MERGANSER_PYTHON)
  return()
endif()
if(NOT TARGET merganser_shared)
  message(FATAL_ERROR "MERGANSER_PYTHON needs libmerganser.so: MERGANSER_SHARED=ON, on Linux, without sanitizers and coverage")
endif()

# SKBUILD_SABI_COMPONENT: scikit-build-core asks for the stable ABI, with Python 3.12 or later.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module ${SKBUILD_SABI_COMPONENT})
unset(nanobind_DIR CACHE)  # pip builds in a new environment each time
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_VARIABLE merganser_nanobind
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
find_package(nanobind CONFIG REQUIRED HINTS ${merganser_nanobind})

# Each library is one file beside the extension, since a wheel cannot contain symbolic links of versions. The build folder python/
# has the layout of the package, so that the same RUNPATH fits both.
set(merganser_python_libraries merganser_shared)
foreach(package graph topology)  # packages that the extension has bindings of
  if(NOT TARGET merganser_${package}_shared)
    message(FATAL_ERROR "MERGANSER_PYTHON needs the package ${package}; it is not among MERGANSER_PACKAGES")
  endif()
  list(APPEND merganser_python_libraries merganser_${package}_shared)
endforeach()
foreach(library IN LISTS merganser_python_libraries)
  set_property(TARGET ${library} PROPERTY VERSION)
  set_property(TARGET ${library} PROPERTY SOVERSION)
  set_property(TARGET ${library} PROPERTY LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python)
endforeach()

file(GLOB merganser_python_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/src/*.cpp)
nanobind_add_module(merganser_core STABLE_ABI NB_STATIC NOMINSIZE ${merganser_python_sources})
foreach(target nanobind-static nanobind-static-abi3)
  if(TARGET ${target})  # in one piece it takes a third of the time to compile
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  endif()
endforeach()
target_link_libraries(merganser_core PRIVATE ${merganser_python_libraries} Threads::Threads)
target_include_directories(merganser_core PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_definitions(merganser_core PRIVATE MERGANSER_VERSION="${PROJECT_VERSION}")
target_compile_options(merganser_core PRIVATE -Wno-pedantic)
set_target_properties(merganser_core PROPERTIES OUTPUT_NAME _core UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4
                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python)
merganser_runtime_path(merganser_core $ORIGIN)
nanobind_add_stub(merganser_core_types MODULE _core OUTPUT ${PROJECT_BINARY_DIR}/python/_core.pyi
                  PYTHON_PATH ${PROJECT_BINARY_DIR}/python ${PROJECT_SOURCE_DIR}/python DEPENDS merganser_core)
get_property(merganser_plugin_targets GLOBAL PROPERTY MERGANSER_PLUGIN_TARGETS)
add_custom_target(merganser_python DEPENDS merganser_core merganser_core_types ${merganser_plugin_targets})

install(TARGETS ${merganser_python_libraries} merganser_core LIBRARY DESTINATION merganser COMPONENT python)
if(merganser_plugin_targets)
  install(TARGETS ${merganser_plugin_targets} LIBRARY DESTINATION merganser/plugins COMPONENT python)
endif()
install(FILES ${PROJECT_BINARY_DIR}/python/_core.pyi DESTINATION merganser COMPONENT python)
