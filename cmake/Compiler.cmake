# SPDX-License-Identifier: Apache-2.0
# Language level, warnings and sanitizers, the same for every target.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 17)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# Functions and lines are enough for a backtrace, and take a quarter less of the time of compiling.
add_compile_options($<$<CONFIG:RelWithDebInfo>:-g1>)

option(TNA_WERROR "treat warnings as errors" ON)
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wno-missing-field-initializers)
if(TNA_WERROR)
  add_compile_options(-Werror)
endif()

set(TNA_SANITIZE "" CACHE STRING "sanitizers for user-space code, e.g. address,undefined")
if(TNA_SANITIZE)
  add_compile_options(-fsanitize=${TNA_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TNA_SANITIZE})
endif()

option(TNA_COVERAGE "measure test coverage" OFF)
if(TNA_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()

find_program(TNA_CCACHE ccache)
if(TNA_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${TNA_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TNA_CCACHE})
endif()

# Headers and templates take most of the time of compiling: where all of a target is compiled, that is several times faster
# as one file. In debug builds each file stands for itself, and is told if it hides a name of its own.
set(TNA_APART "" CACHE STRING "Files that are compiled by themselves, since they change often (tests/mutate)")
# tna_compile_as_one(TARGET [APART files...]): but for those, which have names of their own that are others' as well.
function(tna_compile_as_one target)
  cmake_parse_arguments(ARG "" "" "APART" ${ARGN})
  list(TRANSFORM TNA_APART PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE changing)
  set_source_files_properties(${ARG_APART} ${changing} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(CMAKE_BUILD_TYPE STREQUAL RelWithDebInfo)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    target_compile_options(${target} PRIVATE -Wno-shadow)
  endif()
endfunction()
