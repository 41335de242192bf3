# test_digests: the kernels on one rank with every kind of vectors. It needs no test library, so that it can be built for
# processors for which there is none (preset arm64).
add_executable(test_digests EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/digests.cpp)
target_include_directories(test_digests PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(test_digests PRIVATE merganser_cluster)
if(TARGET merganser_msf)
  target_sources(test_digests PRIVATE ${PROJECT_SOURCE_DIR}/packages/graph/tests/digests.cpp)
  target_compile_definitions(test_digests PRIVATE MERGANSER_DIGESTS_OF_GRAPHS)
  target_link_libraries(test_digests PRIVATE merganser_msf)
endif()
set_target_properties(test_digests PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
