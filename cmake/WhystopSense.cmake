# What the sensors need beside their layer: a stand-in for NVIDIA's library in build/fake_nvml.

if(WHYSTOP_TESTS)
  add_library(fake_nvml SHARED ${CMAKE_SOURCE_DIR}/tests/fake_nvml/fake_nvml.c)
  set_target_properties(fake_nvml PROPERTIES OUTPUT_NAME nvidia-ml SOVERSION 1
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fake_nvml)
  if(TARGET sense_test)
    add_dependencies(sense_test fake_nvml)
  endif()
endif()

