# SPDX-License-Identifier: Apache-2.0
# tna_add_bpf(NAME <skeleton> SOURCE <file.bpf.c> [DEFINES ...])
#
# Compiles SOURCE for the BPF target and embeds it as <skeleton>.skel.h; link to the interface
# library bpf::<skeleton> to include it. The objects carry CO-RE relocations against the types of
# fpm/kernel/, so that building needs neither kernel headers nor the BTF of the target.
find_program(TNA_BPF_CLANG NAMES clang-19 clang REQUIRED)
find_program(TNA_BPFTOOL NAMES bpftool PATHS /usr/sbin REQUIRED)
execute_process(COMMAND ${CMAKE_C_COMPILER} -print-multiarch
                OUTPUT_VARIABLE TNA_MULTIARCH OUTPUT_STRIP_TRAILING_WHITESPACE)

set(TNA_BPF_FLAGS -g -O2 -std=gnu17 -target bpf -mcpu=v3 -Wall -Wextra -Werror
    -Wno-unused-parameter -Wno-unused-function -Wno-address-of-packed-member -Wno-missing-field-initializers
    -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/fpm
    -idirafter /usr/include/${TNA_MULTIARCH})

# All of them: what is generated, for those who only look at sources.
add_custom_target(skeletons)

function(tna_add_bpf)
  cmake_parse_arguments(ARG "" "NAME;SOURCE" "DEFINES" ${ARGN})
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/bpf/${ARG_NAME})
  set(object ${dir}/${ARG_NAME}.bpf.o)
  set(skeleton ${dir}/${ARG_NAME}.skel.h)
  list(TRANSFORM ARG_DEFINES PREPEND -D)
  file(MAKE_DIRECTORY ${dir})
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${TNA_BPF_CLANG} ${TNA_BPF_FLAGS} ${ARG_DEFINES} -MD -MF ${object}.d
            -c ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_SOURCE} -o ${object}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_SOURCE}
    DEPFILE ${object}.d
    COMMENT "BPF ${ARG_NAME}"
    VERBATIM)
  add_custom_command(
    OUTPUT ${skeleton}
    COMMAND ${TNA_BPFTOOL} gen skeleton ${object} name ${ARG_NAME} > ${skeleton}.tmp
    COMMAND ${CMAKE_COMMAND} -E rename ${skeleton}.tmp ${skeleton}
    DEPENDS ${object}
    VERBATIM)
  add_custom_target(${ARG_NAME}_skeleton DEPENDS ${skeleton})
  add_dependencies(skeletons ${ARG_NAME}_skeleton)
  add_library(bpf_${ARG_NAME} INTERFACE)
  add_dependencies(bpf_${ARG_NAME} ${ARG_NAME}_skeleton)
  target_include_directories(bpf_${ARG_NAME} SYSTEM INTERFACE ${dir})
  target_link_libraries(bpf_${ARG_NAME} INTERFACE PkgConfig::LIBBPF)
  add_library(bpf::${ARG_NAME} ALIAS bpf_${ARG_NAME})
endfunction()

# tna_add_module(<name> <file.bpf.c>): a custom module, compiled as its author would; <name>.bpf.o in the folder that
# is built in. The target is module_<name>.
function(tna_add_module name source)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.bpf.o)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${TNA_BPF_CLANG} -g -O2 -target bpf -Wall -Wextra -Werror -I${PROJECT_SOURCE_DIR}/include
            -idirafter /usr/include/${TNA_MULTIARCH} -MD -MF ${object}.d -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source}
    DEPFILE ${object}.d
    COMMENT "Module ${name}"
    VERBATIM)
  add_custom_target(module_${name} ALL DEPENDS ${object})
endfunction()
