# steno: tests. SPDX-License-Identifier: MIT
#
# A test is a file; its folder determines how it is built and run. All run in the source folder. Exit status 77 means skipped; the test
# prints the reason.

# Goldens, models and recordings that are too large for the tree are in a separate folder; tests that need them are skipped without it.
set(material ${PROJECT_SOURCE_DIR}/../shared)
cmake_path(NORMAL_PATH material)
set(STENO_SHARED ${material} CACHE PATH "Folder that holds the tests' material/; without it they are skipped")

set(test_env "STENO_SOURCE=${PROJECT_SOURCE_DIR}" "STENO_BUILD=${PROJECT_BINARY_DIR}")
if(EXISTS ${STENO_SHARED}/material)
    list(APPEND test_env "STENO_SHARED=${STENO_SHARED}")
endif()

# ---- labels. In addition to its group a test has the label `long` if it processes a whole collection with several arithmetics and takes
# minutes; `threads` if it opens a team or a thread itself (golden tests do not count, because other tests use the same teams); and `media`
# if it checks for FFmpeg or a microphone. script/lint finds missing labels.
#
# api.draft, api.memory, api.resident, api.resident_lanes and api.rings open teams and lack the label `threads`: they measure memory and
# compare texts, and api.lanes_draft, api.threads and api.batch run the same threads.

set(tests_long golden.draft_model golden.low_precision golden.verified)
set(tests_threads
    unit.base_team unit.fbank unit.fbank_centred unit.mel unit.mel_clip unit.plan_align unit.plan_exec unit.plan_layers unit.plan_limits
    unit.plan_linear unit.plan_lstm unit.plan_partition unit.plan_rope unit.plan_rows unit.plan_shared unit.plan_stop unit.plan_stream
    unit.plan_heads unit.plan_tokens unit.plan_unfused unit.plan_widths unit.strided unit.tool_figures
    api.abi api.batch api.batch_funasr api.cancel api.damaged_weights api.embed api.fallback api.funasr api.funasr_callbacks
    api.lanes api.lanes_draft api.lanes_nomem api.lanes_threads api.misuse api.nano_threads
    api.nomem api.opening
    api.reenter api.results api.serve api.stack api.stream api.threads
    api.long_audio api.vad_segments api.vad_segments_given api.windows
    api.batch_runs api.live api.silero unit.live unit.serve_loop unit.tool_mic cli.mic
    unit.serve_engines unit.serve_fair unit.serve_http unit.serve_http_limits unit.serve_live_session unit.serve_metrics unit.serve_stream
    unit.serve_realtime_ends unit.serve_words unit.serve_ws unit.serve_wyoming_server serve.listen serve.process serve.stream
    serve.wyoming_live)
# Not for Windows: they need fork, pipes, FIFOs, links, attributes, signals, resource limits, a shell, dlopen or memory streams.
set(tests_not_windows unit.files_atomic unit.files_path_guard unit.files_stamp unit.media unit.tool_every_option unit.tool_isolate
    unit.tool_mic unit.tool_numa unit.tool_resume unit.base_file unit.base_team unit.out_hostile unit.out_cues api.nano_threads
    api.stream api.abi api.resident api.resident_lanes api.resume api.stack api.stages api.bad_files api.broken_folders
    unit.fbank_reference golden.parakeet golden.parakeet_digits golden.parakeet_heads golden.parakeet_forms golden.parakeet_long
    golden.parakeet_low_precision golden.parakeet_nomem golden.parakeet_outliers golden.parakeet_search golden.parakeet_stream
    golden.qwen3_aligner golden.align_text golden.align golden.cif_stream golden.cif golden.ct2_reference golden.ctc golden.ctc_search
    golden.draft_model golden.layers golden.hot_cif golden.live_chunks golden.low_precision_funasr golden.n_best golden.nano
    golden.nano_guards golden.nano_limits golden.nano_words golden.quantized golden.reference golden.shipped golden.vad_texts
    golden.verified golden.write_funasr golden.write_pipeline golden.ct2_memory golden.executor golden.mistral
    golden.low_precision golden.prefix golden.silero golden.vad)
set(tests_media cli.aligner cli.channels cli.clock cli.cut cli.inputs cli.lint_subs cli.mic cli.notes cli.resume_products cli.stream
    cli.writers)

function(steno_test name)
    cmake_parse_arguments(arg "" "TIMEOUT" "COMMAND;LABELS;ENV" ${ARGN})
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 600)
    endif()
    add_test(NAME ${name} COMMAND ${arg_COMMAND} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}"
        ENVIRONMENT "${test_env};${arg_ENV}")
endfunction()

function(steno_test_options target)
    steno_warnings(${target})
    if(WIN32) # cmocka's formats are Microsoft's there
        steno_posix(${target})
        target_compile_options(${target} PRIVATE "SHELL:-include ${PROJECT_SOURCE_DIR}/tests/on_windows.h"
            -Wno-format -Wno-format-extra-args)
        target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/windows)
        target_link_libraries(${target} PRIVATE steno_windows)
    endif()
endfunction()

function(steno_test_program target)
    add_executable(${target} ${ARGN})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
    if(TARGET steno-media_static)
        target_link_libraries(${target} PRIVATE steno-media_static)
    endif()
    target_link_libraries(${target} PRIVATE steno_static m Threads::Threads)
    if(TARGET steno_kernels_checked AND NOT target MATCHES "^(api|golden|unit_(job|live|serve|tool))_?") # they run whole models
        target_sources(${target} PRIVATE $<TARGET_OBJECTS:steno_kernels_checked>)
    endif()
    steno_test_options(${target})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
endfunction()

# ---- kernels compared with their twins: one program without libraries, so that it can be compiled for other processors and emulated

file(GLOB sources CONFIGURE_DEPENDS tests/kernels/*.c)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$") # levels emulated with other instructions
    file(GLOB levels_emulated CONFIGURE_DEPENDS tests/kernels/*_emulated.c) # those of AVX-512 and after it
    if(STENO_SANITIZE)
        set(flags_emulated -O1 -fno-sanitize=null,alignment,object-size,pointer-overflow) # as steno_kernels_checked
        if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND STENO_SANITIZE MATCHES "address") # inlined, its checks take minutes to compile
            list(APPEND flags_emulated --param=asan-instrumentation-with-call-threshold=0)
        endif()
    else()
        set(flags_emulated -O3)
    endif()
    set_source_files_properties(${levels_emulated} PROPERTIES COMPILE_OPTIONS "${flags_emulated};-mavx2;-mfma;-mf16c")
    set_source_files_properties(tests/kernels/avxvnni_evex.c PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;-mf16c;-mavx512vnni;-mavx512vl")
    add_library(steno_levels_emulated OBJECT ${levels_emulated})
    target_include_directories(steno_levels_emulated PRIVATE src include tests)
    steno_warnings(steno_levels_emulated)
    list(REMOVE_ITEM sources ${levels_emulated})
    list(APPEND sources $<TARGET_OBJECTS:steno_levels_emulated>)
else()
    list(FILTER sources EXCLUDE REGEX "/([a-z0-9]*_emulated|avxvnni_evex)\\.c$")
endif()
steno_test_program(check_kernels ${sources})
if(STENO_SANITIZE)
    steno_test(kernels COMMAND check_kernels --emulated LABELS kernels) # with the fewer shapes of the emulated levels, at every level
elseif(WIN32 OR (NOT CMAKE_CROSSCOMPILING AND NOT CMAKE_C_COMPILER_ID STREQUAL "GNU")) # the release build, with GCC, checks every shape
    steno_test(kernels COMMAND check_kernels --fewer LABELS kernels)
elseif(NOT CMAKE_CROSSCOMPILING)
    steno_test(kernels COMMAND check_kernels LABELS kernels)
endif()

# tests/emulated/NAME.sh CPU LEVEL: on the emulated processor CPU, whose best level is LEVEL.
function(steno_emulated script)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
        set(processors Conroe c Nehalem sse41 Haswell avx2)
        set(emulator qemu-x86_64)
    elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
        set(processors cortex-a72 neon neoverse-n1 dotprod max neonbf16)
        set(emulator ${CMAKE_CROSSCOMPILING_EMULATOR})
    endif()
    list(JOIN emulator " " emulator)
    while(processors)
        list(POP_FRONT processors cpu level)
        steno_test(emulated.${script}.${cpu} COMMAND bash tests/emulated/${script}.sh ${cpu} ${level} LABELS emulated TIMEOUT 900
            ENV "STENO_EMULATOR=${emulator};${ARGN}")
    endwhile()
endfunction()

if(NOT STENO_SANITIZE AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set(again 1)
    if(CMAKE_CROSSCOMPILING)
        set(again 0)
    endif()
    steno_emulated(kernels "CHECK_KERNELS=$<TARGET_FILE:check_kernels>" "CHECK_KERNELS_AGAIN=${again}")
endif()
if(STENO_KERNELS_ONLY)
    return()
endif()

# ---- cmocka programs: tests/unit, tests/api, tests/golden. The target tests_with_threads builds those with the label `threads`, and
# tests_near_machine those with the labels `unit`, `kernels` and `media`.

add_library(steno_test_executor STATIC EXCLUDE_FROM_ALL tests/executor/net.c tests/executor/plain_executor.c)
target_include_directories(steno_test_executor PRIVATE src tests)
target_link_libraries(steno_test_executor PRIVATE PkgConfig::STENO_TEST_DEPS PUBLIC steno_static)
steno_test_options(steno_test_executor)

add_custom_target(tests_with_threads)
add_custom_target(tests_near_machine)
add_dependencies(tests_near_machine check_kernels)
foreach(group IN ITEMS unit api golden)
    file(GLOB sources CONFIGURE_DEPENDS tests/${group}/test_*.c tests/${group}/*/test_*.c)
    foreach(source IN LISTS sources)
        cmake_path(GET source STEM name)
        string(REGEX REPLACE "^test_" "" name ${name})
        if("${group}_${name}" MATCHES "^unit_serve" AND NOT TARGET steno_serve)
            continue()
        endif()
        if(WIN32 AND "${group}.${name}" IN_LIST tests_not_windows)
            continue()
        endif()
        if(NOT WIN32 AND "${group}_${name}" MATCHES "^unit_windows")
            continue()
        endif()
        set(target ${group}_${name})
        steno_test_program(${target} ${source})
        target_include_directories(${target} PRIVATE tests/${group})
        target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>) # compiled more often than run
        target_link_libraries(${target} PRIVATE steno_test_executor PkgConfig::STENO_TEST_DEPS PkgConfig::STENO_DEPS)
        if(name MATCHES "^(num|out|write)")
            target_link_libraries(${target} PRIVATE steno_out)
        elseif(name MATCHES "^files")
            target_link_libraries(${target} PRIVATE steno_files)
        elseif(name MATCHES "^hub")
            target_link_libraries(${target} PRIVATE steno_hub)
        elseif(name MATCHES "^live")
            target_link_libraries(${target} PRIVATE steno_live)
        elseif("${group}_${name}" MATCHES "^unit_serve")
            target_link_libraries(${target} PRIVATE steno_serve)
        elseif(name MATCHES "^job" AND TARGET steno_job)
            target_link_libraries(${target} PRIVATE steno_job)
        elseif(name MATCHES "^(tool|args)" AND TARGET tool_objects)
            target_link_libraries(${target} PRIVATE tool_objects)
        endif()
        if(name STREQUAL "media_seek" AND STENO_MEDIA) # it writes files with FFmpeg
            target_include_directories(${target} PRIVATE ${STENO_MEDIA_DEPS_INCLUDE_DIRS})
            target_compile_definitions(${target} PRIVATE STENO_MEDIA_FFMPEG=1)
            target_link_directories(${target} PRIVATE ${STENO_MEDIA_DEPS_LIBRARY_DIRS})
            target_link_libraries(${target} PRIVATE ${STENO_MEDIA_DEPS_LIBRARIES})
        endif()
        set(labels ${group})
        if("${group}.${name}" IN_LIST tests_threads)
            list(APPEND labels threads)
            add_dependencies(tests_with_threads ${target})
        endif()
        if(group STREQUAL "unit")
            add_dependencies(tests_near_machine ${target})
        endif()
        if("${group}.${name}" IN_LIST tests_long)
            list(APPEND labels long)
        endif()
        steno_test(${group}.${name} COMMAND ${target} LABELS ${labels})
    endforeach()
endforeach()

# ---- whole models at levels that this processor lacks: the programs of some tests, with those levels emulated

if(levels_emulated AND NOT STENO_SANITIZE AND NOT WIN32)
    foreach(name IN ITEMS low_precision low_precision_funasr contextual verified)
        set(target emulated_${name})
        steno_test_program(${target} tests/golden/test_${name}.c tests/emulated/levels.c $<TARGET_OBJECTS:steno_levels_emulated>)
        target_include_directories(${target} PRIVATE tests/golden tests/kernels)
        target_link_libraries(${target} PRIVATE PkgConfig::STENO_TEST_DEPS PkgConfig::STENO_DEPS)
    endforeach()
    steno_test(emulated.contextual.avx512bf16 COMMAND emulated_contextual LABELS emulated ENV STENO_TEST_LEVEL=avx512bf16)
    steno_test(emulated.contextual.amx COMMAND emulated_contextual LABELS emulated ENV STENO_TEST_LEVEL=amx)
    steno_test(emulated.low_precision.amx COMMAND emulated_low_precision usual LABELS emulated TIMEOUT 1200 ENV STENO_TEST_LEVEL=amx)
    steno_test(emulated.verified.amx COMMAND emulated_verified usual LABELS emulated long TIMEOUT 1200 ENV STENO_TEST_LEVEL=amx)
    steno_test(emulated.low_precision_funasr.amx COMMAND emulated_low_precision_funasr LABELS emulated
        TIMEOUT 1200 ENV STENO_TEST_LEVEL=amx)
endif()

# The program for Windows, by a script that runs it under Wine; STENO_NATIVE is that of this system, with whose results its own are
# compared. Tests of tests/cli that hold for every system run, too. The rest needs POSIX.
set(tests_cli_windows claims completions families help options scores verify writers)
if(WIN32)
    set(STENO_NATIVE "" CACHE FILEPATH "The program of this system, for comparisons")
    file(GENERATE OUTPUT wine/steno CONTENT "#!/bin/sh\nexec wine '$<TARGET_FILE:steno>' \"$@\"\n"
        FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
    set(run_windows "STENO=${PROJECT_BINARY_DIR}/wine/steno" "STENO_NATIVE=${STENO_NATIVE}" STENO_FFMPEG=0)
    steno_test(windows.program COMMAND bash tests/windows/program.sh LABELS windows ENV "${run_windows}")
    file(GLOB scripts CONFIGURE_DEPENDS tests/cli/*.sh tests/cli/*/*.sh)
    foreach(script IN LISTS scripts)
        cmake_path(GET script STEM name)
        if(name IN_LIST tests_cli_windows)
            steno_test(cli.${name} COMMAND bash ${script} LABELS windows ENV "${run_windows}")
        endif()
    endforeach()
    return()
endif()

# A library with the name of ALSA's, in place of that.
add_library(fake_alsa MODULE tests/unit/fake_alsa.c)
set_target_properties(fake_alsa PROPERTIES C_VISIBILITY_PRESET default)
target_link_options(fake_alsa PRIVATE -Wl,-soname,libasound.so.2)
if(TARGET tool_objects)
    target_compile_definitions(unit_tool_mic PRIVATE FAKE_ALSA="$<TARGET_FILE:fake_alsa>")
    add_dependencies(unit_tool_mic fake_alsa)
endif()

# ---- the program from the command line

set(sanitized 0)
if(STENO_SANITIZE)
    set(sanitized 1)
endif()
add_library(failing_read MODULE tests/cli/failing_read.c)
foreach(name IN ITEMS no_library no_wait signal_at)
    add_library(${name} MODULE tests/cli/${name}.c)
    set_target_properties(${name} PROPERTIES C_VISIBILITY_PRESET default)
    target_link_libraries(${name} PRIVATE ${CMAKE_DL_LIBS})
    add_dependencies(tests_near_machine ${name})
endforeach()
add_dependencies(tests_near_machine failing_read)
if(TARGET steno)
    add_dependencies(tests_near_machine steno)
endif()
file(GLOB scripts CONFIGURE_DEPENDS tests/cli/*.sh tests/cli/*/*.sh)
foreach(script IN LISTS scripts)
    cmake_path(GET script STEM name)
    set(labels cli)
    if("cli.${name}" IN_LIST tests_media)
        list(APPEND labels media)
    endif()
    if("cli.${name}" IN_LIST tests_threads)
        list(APPEND labels threads)
        add_dependencies(tests_with_threads steno)
    endif()
    if(TARGET steno AND NOT name MATCHES "^lib")
        steno_test(cli.${name} COMMAND bash ${script} LABELS ${labels} ENV
            "STENO=$<TARGET_FILE:steno>;STENO_FFMPEG=$<BOOL:${STENO_MEDIA}>;STENO_SANITIZED=${sanitized}"
            "STENO_FAILING_READ=$<TARGET_FILE:failing_read>" "STENO_NO_LIBRARY_AT=$<TARGET_FILE:no_library>"
            "STENO_NO_WAIT=$<TARGET_FILE:no_wait>" "STENO_SIGNAL_AT=$<TARGET_FILE:signal_at>")
    endif()
endforeach()

if(TARGET steno AND NOT STENO_SANITIZE AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    steno_emulated(program "STENO=$<TARGET_FILE:steno>")
endif()

# ---- the hubs' client, against an imitation of both hubs on the loopback interface

if(NOT STENO_PYTHON) # the system's, if it has numpy (script/bootstrap) and the first in PATH has not
    execute_process(COMMAND python3 -c "import numpy" RESULT_VARIABLE without OUTPUT_QUIET ERROR_QUIET)
    execute_process(COMMAND /usr/bin/python3 -c "import numpy" RESULT_VARIABLE system_without OUTPUT_QUIET ERROR_QUIET)
    if(without AND NOT system_without)
        set(STENO_PYTHON /usr/bin/python3 CACHE FILEPATH "The Python of the tests")
    endif()
endif()
find_program(STENO_PYTHON python3)
mark_as_advanced(STENO_PYTHON)
file(GLOB scripts CONFIGURE_DEPENDS tests/hub/test_*.py)
foreach(script IN LISTS scripts)
    cmake_path(GET script STEM name)
    string(REGEX REPLACE "^test_" "" name ${name})
    if(TARGET steno AND STENO_PYTHON AND STENO_HUB)
        set(shims)
        if(NOT STENO_SANITIZE)
            set(shims "STENO_SHIMS=${PROJECT_BINARY_DIR}/tests") # a library that refuses memory
        endif()
        steno_test(hub.${name} COMMAND ${STENO_PYTHON} -B ${script} LABELS hub ENV "STENO=$<TARGET_FILE:steno>;${shims}")
    endif()
endforeach()

# ---- the server: clients of its protocols. STENO_CLIENTS_PYTHON names a Python that has the packages of other clients.

file(GLOB scripts CONFIGURE_DEPENDS tests/serve/test_*.py)
foreach(script IN LISTS scripts)
    cmake_path(GET script STEM name)
    string(REGEX REPLACE "^test_" "" name ${name})
    if(TARGET steno AND STENO_PYTHON AND TARGET steno_serve)
        set(labels serve)
        if("serve.${name}" IN_LIST tests_threads)
            list(APPEND labels threads)
            add_dependencies(tests_with_threads steno)
        endif()
        steno_test(serve.${name} COMMAND ${STENO_PYTHON} -B ${script} LABELS ${labels}
            ENV "STENO=$<TARGET_FILE:steno>;STENO_SANITIZED=${sanitized}")
    endif()
endforeach()

# ---- the Python package, in the source folder with the library of the build folder. STENO_CLIENTS_PYTHON names a Python that has the
# packages whose interfaces it has.

file(GLOB scripts CONFIGURE_DEPENDS tests/python/test_*.py)
foreach(script IN LISTS scripts)
    cmake_path(GET script STEM name)
    string(REGEX REPLACE "^test_" "" name ${name})
    if(TARGET steno_python AND TARGET steno AND STENO_PYTHON AND NOT STENO_SANITIZE)
        steno_test(python.${name} COMMAND ${STENO_PYTHON} -B ${script} LABELS python ENV "STENO_PROGRAM=$<TARGET_FILE:steno>"
            "STENO_LIBRARY=$<TARGET_FILE:steno_python>" "CC=${CMAKE_C_COMPILER}"
            "PYTHONPATH=${PROJECT_SOURCE_DIR}/python")
    endif()
endforeach()

# ---- examples of the documentation: built against the public headers, run when NAME.args stands beside NAME.c

file(GLOB sources CONFIGURE_DEPENDS doc/examples/*.c)
foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    add_executable(example_${name} ${source})
    if(TARGET steno-media_static)
        target_link_libraries(example_${name} PRIVATE steno-media_static)
    endif()
    target_link_libraries(example_${name} PRIVATE steno-output_static steno-live_static steno_static)
    target_compile_options(example_${name} PRIVATE -Wall -Wextra -Wpedantic)
    if(EXISTS ${PROJECT_SOURCE_DIR}/doc/examples/${name}.args)
        file(READ doc/examples/${name}.args args)
        separate_arguments(args UNIX_COMMAND "${args}")
        steno_test(example.${name} COMMAND example_${name} ${args} LABELS example)
    endif()
endforeach()

# The same in other languages, against the shared libraries; skipped without their compiler.
if(TARGET steno AND TARGET steno-media_shared AND NOT STENO_SANITIZE)
    foreach(language IN ITEMS rust node go)
        steno_test(example.${language} COMMAND bash tests/install/test_language.sh ${language} LABELS example
            ENV "STENO=$<TARGET_FILE:steno>;CC=${CMAKE_C_COMPILER}")
    endforeach()
endif()

# ---- public headers alone, with the compilers and standards that callers may use

find_program(STENO_CXX NAMES clang++-14 clang++ g++)
mark_as_advanced(STENO_CXX)
set(strict -Wall -Wextra -Werror -pedantic -fsyntax-only -I${PROJECT_SOURCE_DIR}/include)
foreach(header IN ITEMS include/steno/steno.h include/steno/media.h include/steno/output.h include/steno/live.h)
    cmake_path(GET header STEM name)
    foreach(std IN ITEMS c99 c17 c++11 c++17)
        set(command ${CMAKE_C_COMPILER} -x c)
        if(std MATCHES "\\+")
            set(command ${STENO_CXX} -x c++)
        endif()
        if(NOT "STENO_CXX-NOTFOUND" IN_LIST command)
            steno_test(header.${name}.${std} COMMAND ${command} -std=${std} ${strict} ${PROJECT_SOURCE_DIR}/${header} LABELS header)
        endif()
    endforeach()
endforeach()

find_program(STENO_CC_ARM64 aarch64-linux-gnu-gcc)
mark_as_advanced(STENO_CC_ARM64)
if(STENO_CC_ARM64)
    steno_test(header.layout.arm64 LABELS header COMMAND ${STENO_CC_ARM64} -x c -std=c17 ${strict} -I${PROJECT_SOURCE_DIR}/include
        ${PROJECT_SOURCE_DIR}/tests/api/layout_holds.h)
endif()

# ---- fuzzing; without libFuzzer every target still replays its corpus tests/data/fuzz/NAME

file(GLOB sources CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
set(of_tools "^(args|batch|compat|other_cli|hotwords|npy|speed|transcript)$")
foreach(source IN LISTS sources)
    cmake_path(GET source STEM target)
    string(REGEX REPLACE "^fuzz_" "" name ${target})
    set(corpus tests/data/fuzz/${name})
    if((name MATCHES "${of_tools}" AND NOT TARGET tool_objects) OR (name MATCHES "^serve" AND NOT TARGET steno_serve))
        continue()
    endif()
    if(STENO_FUZZ)
        steno_test_program(${target} ${source})
        target_link_options(${target} PRIVATE -fsanitize=fuzzer)
        file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/corpus/${name})
        if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${corpus})
            set(corpus)
        endif()
        steno_test(fuzz.${name} LABELS fuzz
            COMMAND ${target} -runs=20000 -max_total_time=30 -max_len=65536 ${PROJECT_BINARY_DIR}/corpus/${name} ${corpus})
    else()
        steno_test_program(${target} ${source} tests/fuzz/replay.c)
        steno_test(fuzz.${name} COMMAND ${target} ${corpus} LABELS fuzz)
    endif()
    if(name MATCHES "${of_tools}")
        target_link_libraries(${target} PRIVATE tool_objects)
    elseif(name STREQUAL "live")
        target_link_libraries(${target} PRIVATE steno_live)
    elseif(name STREQUAL "journal")
        target_link_libraries(${target} PRIVATE steno_files)
    elseif(name MATCHES "^(subs|address)$")
        target_link_libraries(${target} PRIVATE steno_out)
    elseif(name MATCHES "^hub")
        target_link_libraries(${target} PRIVATE steno_hub)
    elseif(name MATCHES "^serve")
        target_link_libraries(${target} PRIVATE steno_serve)
    endif()
endforeach()

# ---- attacks on the program, in their short form; the long form runs for SECONDS [SEED]. shim_NAME.c is preloaded into the program.

if(TARGET steno)
    file(GLOB sources CONFIGURE_DEPENDS tests/attack/*.c)
    foreach(source IN LISTS sources)
        cmake_path(GET source STEM name)
        if(name MATCHES "^shim_")
            add_library(${name} MODULE ${source})
            set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests PREFIX ""
                C_VISIBILITY_PRESET default)
            target_link_libraries(${name} PRIVATE ${CMAKE_DL_LIBS})
            continue()
        endif()
        steno_test_program(attack_${name} ${source})
        target_link_libraries(attack_${name} PRIVATE PkgConfig::STENO_TEST_DEPS)
        target_compile_definitions(attack_${name} PRIVATE STENO_SOURCE_DIR="${PROJECT_SOURCE_DIR}" STENO_SANITIZED=${sanitized}
            STENO_PROGRAM="$<TARGET_FILE:steno>" STENO_SHIMS="${PROJECT_BINARY_DIR}/tests")
        steno_test(attack.${name} COMMAND attack_${name} LABELS attack)
    endforeach()
    file(GLOB scripts CONFIGURE_DEPENDS tests/attack/*.sh)
    foreach(script IN LISTS scripts)
        cmake_path(GET script STEM name)
        steno_test(attack.${name} COMMAND bash ${script} LABELS attack ENV
            "STENO=$<TARGET_FILE:steno>;STENO_FFMPEG=$<BOOL:${STENO_MEDIA}>;STENO_SANITIZED=${sanitized}")
    endforeach()
endif()

# ---- the installed tree, used through pkg-config and through find_package

if(NOT STENO_SANITIZE AND TARGET steno)
    steno_test(install COMMAND bash tests/install/test_install.sh LABELS install
        ENV "CMAKE=${CMAKE_COMMAND};CC=${CMAKE_C_COMPILER};STENO_LIBDIR=${CMAKE_INSTALL_LIBDIR}")
    steno_test(install.readme COMMAND bash tests/install/test_readme.sh LABELS install TIMEOUT 1500 ENV "CC=${CMAKE_C_COMPILER}")
    steno_test(install.recipes COMMAND bash tests/install/test_recipes.sh LABELS install ENV "STENO=$<TARGET_FILE:steno>")
    steno_test(install.systemd COMMAND bash tests/install/test_systemd.sh LABELS install long ENV "STENO=$<TARGET_FILE:steno>")
    steno_test(install.wheel_aarch64 COMMAND bash tests/install/test_wheel_aarch64.sh LABELS install long TIMEOUT 3600
        ENV "STENO=$<TARGET_FILE:steno>")
    steno_test(install.packages_aarch64 COMMAND bash tests/install/test_packages_aarch64.sh LABELS install long TIMEOUT 3600
        ENV "STENO=$<TARGET_FILE:steno>")
    steno_test(install.apt_aarch64 COMMAND bash tests/install/test_apt_aarch64.sh LABELS install long TIMEOUT 3600
        ENV "STENO=$<TARGET_FILE:steno>")
    steno_test(install.packages COMMAND bash tests/install/test_packages.sh LABELS install long TIMEOUT 1500)
    steno_test(install.reproducible COMMAND bash tests/install/test_reproducible.sh LABELS install long TIMEOUT 14400)
endif()

foreach(test IN LISTS tests_threads tests_media tests_long)
    if(NOT TEST ${test} AND NOT test MATCHES "^cli" AND (TARGET steno_serve OR NOT test MATCHES "^(unit\\.)?serve"))
        message(FATAL_ERROR "cmake/Tests.cmake: the test ${test} has labels and no source")
    endif()
endforeach()

# ---- approximate seconds on one core: parallel runs start the longest tests first. Tests of 10 and more have the label `slow`
#
# Tests with the label `once` run only in the release build: products of options and of files. Shorter tests cover the same paths under
# other compilers and sanitizers. Kernels, plans, attacks and the server run everywhere, regardless of their time.

set(costs
    golden.draft_model 290 install.readme 200 golden.low_precision 190 emulated.kernels.Haswell 50 emulated.kernels.Nehalem 20
    emulated.kernels.Conroe 25 emulated.verified.amx 228
    unit.tool_every_option 70 golden.verified 180 golden.reference 103 api.draft 26 api.resident 27
    cli.resume 22 cli.batch_journal 20 cli.batch_channels 20 cli.batch_tracks 10 cli.batch_isolate 15 cli.batch_kill 12 cli.batch_engines 12
    kernels 103 cli.bench 64 hub.faults 53 cli.models_table 51 cli.readme 51 cli.compat_whisper 24
    cli.compat_whisper_cli 48 emulated.low_precision.amx 48 cli.post 44 cli.resume_faults 25 api.batch 38 cli.stream 28 cli.signal_writes 37
    unit.live 36 api.rings 33 cli.models 33 golden.mlx_whisper 13 cli.claims 32 api.generate_nomem 30 api.compute 29 attack.nomem 29
    cli.hostile 28 api.memory 27 cli.lint_subs 26 hub.secrets 26 cli.resume_products 18 cli.whisper_forms 25 cli.channels 24
    cli.decode_options 24 cli.notes 21 api.prompts 20 attack.resume 20 golden.quantized 20 golden.write_pipeline 19 hub.nomem 19
    api.punctuation 18 api.nomem 18 cli.quantize 17 hub.names 17 api.vad_segments 16 cli.output 16 cli.progress 16 golden.nano_limits 16
    golden.low_precision_funasr 16 hub.links 16
    attack.endless 15 cli.families 15 cli.vad_segments 15 hub.url 15 api.guards 14 api.languages 14
    api.resident_lanes 14 api.sentences 14 cli.verify 14 unit.executor 14 cli.convert_memory 13 api.tasks 12 cli.compat_segments 12
    cli.other_cli 12 cli.verbs 12 golden.lm_plans 12 api.fallback 11 api.kquants 11 api.options 11 cli.batch 11 cli.inputs 11 cli.kill 11
    cli.kinds 11 cli.many_inputs 11 unit.plan_joined 11 unit.plan_shared 11 unit.media_seek 18 api.strokes 18 cli.record 11
    api.timings 10 cli.resume_plain 25 cli.resume_options 14 golden.align_results 14 unit.plan_distances 20 unit.plan_network 16
    emulated.program.Conroe 15 golden.shipped 14 cli.clock 12 api.music 12
    api.prefixes 12 unit.out_hostile 11 golden.parakeet_nomem 30 golden.parakeet_forms 14
    serve.attacks 37 serve.options 30 serve.fields 28 serve.realtime 25 serve.page 23 serve.process 14 serve.load 7 serve.load_waits 20
    serve.load_faults 25 serve.transcriptions 13 serve.stream 10 serve.systemd 8 serve.text 7 serve.listen 6 unit.serve_http_limits 9
    api.reenter 9 unit.fbank 9 unit.plan_limits 9 unit.plan_ring 9 unit.plan_stop 9 api.windows 9) # long with sanitizers only
while(costs)
    list(POP_FRONT costs test seconds)
    if(TEST ${test})
        set_tests_properties(${test} PROPERTIES COST ${seconds})
        if(seconds GREATER_EQUAL 10)
            set_property(TEST ${test} APPEND PROPERTY LABELS slow)
        endif()
        if(seconds GREATER_EQUAL 10 AND (NOT test MATCHES "^(kernels$|unit|attack|serve)" OR
                                         test MATCHES "^(unit\\.tool_every_option|serve\\.(fields|options|page))$"))
            set_property(TEST ${test} APPEND PROPERTY LABELS once)
        endif()
    endif()
endwhile()

if(TEST unit.tool_every_option) # one program run per value of each option: with sanitizers that takes many minutes
    set_tests_properties(unit.tool_every_option PROPERTIES TIMEOUT 1500)
endif()
