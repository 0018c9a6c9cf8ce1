# A layer is a folder of src/: its sources make one static library, its *_test.cc one test program.
# Folders are globbed, so a new file, detector or cause needs no edit here.

function(whystop_layer_sources folder out_sources)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*.cc
       ${CMAKE_SOURCE_DIR}/src/${folder}/*.c)
  list(FILTER found EXCLUDE REGEX "_test\\.cc$")
  set(${out_sources} ${found} PARENT_SCOPE)
endfunction()

# Replaces the C++ sources of a target, named by a list, by batches of them (tools/make_batches.py), made anew when one of
# them changes. Two batches more than it takes today leave room for names that begin to clash between two runs of cmake.
function(whystop_batch target list)
  if(NOT WHYSTOP_BATCHES)
    return()
  endif()
  set(sources ${${list}})
  set(others ${sources})
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  list(FILTER others EXCLUDE REGEX "\\.cc$")
  set(tool ${CMAKE_SOURCE_DIR}/tools/make_batches.py)
  set(prefix ${CMAKE_BINARY_DIR}/generated/batches/${target}_)
  execute_process(COMMAND ${Python3_EXECUTABLE} ${tool} ${CMAKE_SOURCE_DIR}/src ${prefix} 0 ${sources}
                  OUTPUT_VARIABLE count OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  math(EXPR last "${count} + 1")
  foreach(index RANGE ${last})
    list(APPEND batches ${prefix}${index}.cc)
  endforeach()
  math(EXPR count "${count} + 2")
  add_custom_command(OUTPUT ${batches}
    COMMAND ${Python3_EXECUTABLE} ${tool} ${CMAKE_SOURCE_DIR}/src ${prefix} ${count} ${sources}
    DEPENDS ${tool} ${sources} VERBATIM)
  set(${list} ${batches} ${others} PARENT_SCOPE)
endfunction()

# A release is compiled with -O2, and what is COLD with -O1, in a third less time; the sanitizers' builds with -O0, in half the
# time, and what is BUSY with -O1: there the tests would take what the compiler saves.
function(whystop_optimise target cold busy)
  if(cold)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  elseif(busy)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Debug>:-O1>)
  endif()
endfunction()

function(whystop_layer folder)
  cmake_parse_arguments(ARG "COLD;BUSY" "" "DEPENDS;LIBRARIES" ${ARGN})
  whystop_layer_sources(${folder} sources)
  set(target whystop_${folder})
  if(sources)
    whystop_batch(${target} sources)
    add_library(${target} STATIC ${sources})
    whystop_optimise(${target} ${ARG_COLD} ${ARG_BUSY})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  list(TRANSFORM ARG_DEPENDS PREPEND whystop_)
  target_link_libraries(${target} ${scope} ${ARG_DEPENDS} ${ARG_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY WHYSTOP_LAYERS ${folder})
endfunction()

# Until glibc 2.34 threads and dlopen were in libraries of their own, so these are asked for as well.
function(whystop_lower_glibc name)
  target_sources(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src/portable/old_glibc.c)
  target_link_options(${name} PRIVATE -Wl,--wrap=__libc_start_main
                      -Wl,--push-state,--no-as-needed,-l:libpthread.so.0,-l:libdl.so.2,--pop-state)
  add_custom_command(TARGET ${name} POST_BUILD VERBATIM
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/lower_glibc.py $<TARGET_FILE:${name}> ${WHYSTOP_OLD_GLIBC})
endfunction()

function(whystop_program name)
  cmake_parse_arguments(ARG "COLD" "FOLDER" "DEPENDS" ${ARGN})
  whystop_layer_sources(${ARG_FOLDER} sources)
  if(NOT sources)
    return()
  endif()
  whystop_batch(${name} sources)
  add_executable(${name} ${sources})
  whystop_optimise(${name} ${ARG_COLD} FALSE)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  list(TRANSFORM ARG_DEPENDS PREPEND whystop_)
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS})
  if(NOT WHYSTOP_SANITIZE)
    target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
  if(WHYSTOP_OLD_GLIBC)
    whystop_lower_glibc(${name})
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
endfunction()

function(whystop_tests)
  include(GoogleTest)
  get_property(layers GLOBAL PROPERTY WHYSTOP_LAYERS)
  foreach(folder IN LISTS layers)
    file(GLOB_RECURSE tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*_test.cc)
    if(tests)
      whystop_batch(${folder}_test tests)
      add_executable(${folder}_test ${tests})
      target_link_libraries(${folder}_test PRIVATE whystop_${folder} GTest::gtest_main)
      target_compile_definitions(${folder}_test PRIVATE
        WHYSTOP_SOURCE_DIR="${CMAKE_SOURCE_DIR}" WHYSTOP_BINARY_DIR="${CMAKE_BINARY_DIR}")
      gtest_discover_tests(${folder}_test TEST_PREFIX "${folder}." DISCOVERY_TIMEOUT 60)
    endif()
  endforeach()
  foreach(name tidy tidy_test make_batches_test)
    add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/${name}.py)
  endforeach()
  add_test(NAME lab_report_test COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/lab/report_test.py)
endfunction()

# fuzz/<name>_fuzz.cc makes one libFuzzer program; see fuzz/README.md.
function(whystop_fuzzers)
  file(GLOB targets CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/fuzz/*_fuzz.cc)
  # The layers that read bytes of others, or that make the verdict, and no more: under sanitizers every file costs seconds.
  set(readers whystop_import whystop_stream whystop_text whystop_record whystop_wire whystop_sense)
  set(judges whystop_diagnose whystop_report)
  foreach(source IN LISTS targets)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
    target_compile_definitions(${name} PRIVATE WHYSTOP_VERDICT_SCHEMA="${CMAKE_SOURCE_DIR}/docs/verdict.schema.json")
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    if(name STREQUAL verdict_fuzz)
      target_link_libraries(${name} PRIVATE ${judges})
      target_compile_options(${name} PRIVATE -fno-sanitize=pointer-overflow)  # RapidJSON's validator adds to null pointers.
    else()
      target_link_libraries(${name} PRIVATE ${readers})
    endif()
    list(APPEND names ${name})
  endforeach()
  add_custom_target(fuzzers DEPENDS ${names})
endfunction()

# Adds the Markdown pages of a layer's folders to its library (tools/embed_pages.py).
function(whystop_embed_pages folder)
  file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*/*.md)
  set(generated ${CMAKE_BINARY_DIR}/generated/${folder}_pages.cc)
  add_custom_command(OUTPUT ${generated}
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/embed_pages.py ${CMAKE_SOURCE_DIR}/src/${folder} ${generated}
    DEPENDS ${CMAKE_SOURCE_DIR}/tools/embed_pages.py ${pages} VERBATIM)
  target_sources(whystop_${folder} PRIVATE ${generated})
endfunction()

# Compiles the declarations of the causes of bad learning into the layer (tools/embed_causes.py).
function(whystop_embed_causes folder)
  file(GLOB declarations CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*/*.cause)
  set(generated ${CMAKE_BINARY_DIR}/generated/${folder}_declarations.cc)
  add_custom_command(OUTPUT ${generated}
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/embed_causes.py ${CMAKE_SOURCE_DIR}/src/${folder} ${generated}
    DEPENDS ${CMAKE_SOURCE_DIR}/tools/embed_causes.py ${declarations} VERBATIM)
  target_sources(whystop_${folder} PRIVATE ${generated})
endfunction()

# tests/<folder>/<name>.cc makes one helper program build/<name>, linked to that folder's layer; to all if there is none.
function(whystop_test_programs)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*/*.cc)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    get_filename_component(directory ${source} DIRECTORY)
    get_filename_component(folder ${directory} NAME)
    add_executable(${name} ${source})
    if(TARGET whystop_${folder})
      target_link_libraries(${name} PRIVATE whystop_${folder})
    else()
      get_property(layers GLOBAL PROPERTY WHYSTOP_LAYERS)
      list(TRANSFORM layers PREPEND whystop_)
      target_link_libraries(${name} PRIVATE ${layers})
    endif()
  endforeach()
endfunction()

# Compiles a text file of a layer into its library as `extern const std::string_view <symbol>`.
function(whystop_embed_text folder file symbol)
  set(generated ${CMAKE_BINARY_DIR}/generated/${folder}_${symbol}.cc)
  add_custom_command(OUTPUT ${generated}
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/embed_text.py ${CMAKE_SOURCE_DIR}/src/${folder}/${file}
            ${generated} ${symbol}
    DEPENDS ${CMAKE_SOURCE_DIR}/tools/embed_text.py ${CMAKE_SOURCE_DIR}/src/${folder}/${file} VERBATIM)
  target_sources(whystop_${folder} PRIVATE ${generated})
endfunction()

# Makes the C++ structs of src/model/observations.tsv, and how they are read.
function(whystop_observations)
  set(table ${CMAKE_SOURCE_DIR}/src/model/observations.tsv)
  set(tool ${CMAKE_SOURCE_DIR}/tools/make_observations.py)
  set(folder ${CMAKE_BINARY_DIR}/generated/include/model)
  add_custom_command(OUTPUT ${folder}/observations.h ${folder}/observations.cc
    COMMAND ${Python3_EXECUTABLE} ${tool} ${table} header ${folder}/observations.h
    COMMAND ${Python3_EXECUTABLE} ${tool} ${table} source ${folder}/observations.cc
    DEPENDS ${tool} ${table} VERBATIM)
  add_custom_target(whystop_observations_made DEPENDS ${folder}/observations.h ${folder}/observations.cc)
  target_sources(whystop_model PRIVATE ${folder}/observations.cc)
  target_include_directories(whystop_model PUBLIC ${CMAKE_BINARY_DIR}/generated/include)
  add_dependencies(whystop_model whystop_observations_made)
endfunction()

# bench/<name>_bench.cc makes one program, with the parts in bench/<name>/ where it has such; bench/*.py drive them.
function(whystop_benches)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*_bench.cc)
  get_property(layers GLOBAL PROPERTY WHYSTOP_LAYERS)
  list(TRANSFORM layers PREPEND whystop_ OUTPUT_VARIABLE libraries)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "_bench$" "" folder ${name})
    file(GLOB parts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/${folder}/*.cc)
    add_executable(${name} ${source} ${parts})
    target_link_libraries(${name} PRIVATE ${libraries})
  endforeach()
endfunction()
