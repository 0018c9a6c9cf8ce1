# The client library for C and C++ programs (libwhystop.so, libwhystop.a) and the extension for Python. Both are built from
# the few sources that need no libstdc++, so that they load into any process.

set(WHYSTOP_CLIENT_SOURCES
    src/base/clock.cc src/base/crc32c.cc
    src/wire/observation_encoder.cc src/wire/ring_file.cc src/wire/ring_writer.cc
    src/client/client.cc src/client/observe.cc src/client/tensor_stats.cc
    src/client/stats_baseline.cc src/client/stats_avx2.cc src/client/stats_avx512.cc)

add_library(whystop_client_objects OBJECT ${WHYSTOP_CLIENT_SOURCES})
target_include_directories(whystop_client_objects PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_compile_options(whystop_client_objects PRIVATE -fno-exceptions -fno-rtti -fno-threadsafe-statics
                       -fvisibility=hidden -fvisibility-inlines-hidden -ffunction-sections -fdata-sections
                       -fno-asynchronous-unwind-tables)

foreach(kind SHARED STATIC)
  string(TOLOWER libwhystop_${kind} target)
  add_library(${target} ${kind} $<TARGET_OBJECTS:whystop_client_objects>)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME whystop LINKER_LANGUAGE C
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR} ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
                             $<INSTALL_INTERFACE:include>)
endforeach()
set_target_properties(libwhystop_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                      EXPORT_NAME whystop)
set_target_properties(libwhystop_static PROPERTIES EXPORT_NAME whystop_static)
if(NOT WHYSTOP_SANITIZE)
  target_link_options(libwhystop_shared PRIVATE -Wl,--gc-sections -Wl,--no-undefined)
endif()

file(GLOB trainer_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/examples/cpp_trainer/*.cc)
add_executable(cpp_trainer ${trainer_sources})
target_link_libraries(cpp_trainer PRIVATE libwhystop_static)

# One extension for all Pythons from 3.8 on (the limited API). Without Python's headers the package falls back to its own
# writer, so their absence is no error.
find_package(Python3 COMPONENTS Interpreter Development.Module)
file(GLOB_RECURSE python_sources RELATIVE ${CMAKE_SOURCE_DIR}/python CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/*.py
     ${CMAKE_SOURCE_DIR}/python/*/py.typed)
foreach(file IN LISTS python_sources)
  configure_file(${CMAKE_SOURCE_DIR}/python/${file} ${CMAKE_BINARY_DIR}/python/${file} COPYONLY)
endforeach()
if(Python3_Development.Module_FOUND AND NOT WHYSTOP_SANITIZE)
  file(GLOB native_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/whystop_probe/core/*.c)
  add_library(whystop_native MODULE ${native_sources}
              $<TARGET_OBJECTS:whystop_client_objects>)
  target_compile_definitions(whystop_native PRIVATE Py_LIMITED_API=0x03080000)
  target_include_directories(whystop_native PRIVATE ${CMAKE_SOURCE_DIR}/include)
  target_include_directories(whystop_native SYSTEM PRIVATE ${Python3_INCLUDE_DIRS})
  # Its own ws_* functions stay its own, even beside a libwhystop.so of the program.
  file(WRITE ${CMAKE_BINARY_DIR}/generated/native.map "{ global: PyInit__native; local: *; };\n")
  target_link_options(whystop_native PRIVATE -Wl,--gc-sections
                      -Wl,--version-script=${CMAKE_BINARY_DIR}/generated/native.map)
  set_target_properties(whystop_native PROPERTIES PREFIX "" OUTPUT_NAME _native SUFFIX .abi3.so LINKER_LANGUAGE C
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python/whystop_probe/core C_VISIBILITY_PRESET hidden)
endif()

if(WHYSTOP_TESTS AND Python3_Interpreter_FOUND)
  foreach(part ring pulse governor feed)
    add_test(NAME python.${part} COMMAND ${Python3_EXECUTABLE} -m unittest whystop_probe.core.${part}_test
             WORKING_DIRECTORY ${CMAKE_BINARY_DIR}/python)
  endforeach()
endif()
