# steno: compiler settings. SPDX-License-Identifier: MIT

get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT CMAKE_BUILD_TYPE AND NOT multi_config)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()
# Line tables cost nothing at run time and make crash reports and profiles readable.
if(NOT DEFINED STENO_RELEASE_FLAGS_SET)
    set(STENO_RELEASE_FLAGS_SET ON CACHE INTERNAL "")
    set(CMAKE_C_FLAGS_RELEASE "-O2 -g1 -DNDEBUG" CACHE STRING "Flags of release builds" FORCE)
endif()

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(WIN32)
    add_compile_definitions(_WIN32_WINNT=0x0a00 __USE_MINGW_ANSI_STDIO=1)
else()
    add_compile_definitions(_GNU_SOURCE)
endif()

# Contraction of a * b + c would make results depend on compiler and level; fused products are written explicitly. No code reads errno
# after sqrtf.
add_compile_options(-ffp-contract=off -fno-math-errno)

if(STENO_SANITIZE)
    add_compile_options(-fsanitize=${STENO_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -O1) # -O2 compiles half as fast
    string(REPLACE "fuzzer-no-link," "" link_sanitize "${STENO_SANITIZE}")
    add_link_options(-fsanitize=${link_sanitize})
elseif(NOT WIN32)
    add_link_options(-Wl,--as-needed -Wl,-z,defs)
endif()

# Sources directly inside the given folders; a folder may not exist yet. Functions of the operating system are in os_*.c.
function(steno_sources out)
    set(all)
    foreach(dir IN LISTS ARGN)
        file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${dir}/*.c)
        list(APPEND all ${found})
    endforeach()
    if(WIN32)
        list(FILTER all EXCLUDE REGEX "/os_(posix|cores)\\.c$")
    else()
        list(FILTER all EXCLUDE REGEX "/os_win\\.c$")
    endif()
    set(${out} ${all} PARENT_SCOPE)
endfunction()

function(steno_warnings)
    foreach(target IN LISTS ARGN)
        target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wmissing-prototypes
            $<$<BOOL:${STENO_WERROR}>:-Werror>)
    endforeach()
endfunction()

# The instruction set is a property of the file, which names it. Twins use the machine's baseline: they are the definition.
function(steno_kernel_flags)
    foreach(source IN LISTS ARGN)
        if(NOT source MATCHES "/src/kern/")
            continue()
        endif()
        set(flags -ffp-contract=off)
        if(NOT STENO_SANITIZE AND NOT STENO_FUZZ) # steno.h promises a stack of 64 KiB, also for levels that this machine lacks
            list(APPEND flags -Wframe-larger-than=36864)
        endif()
        if(STENO_FUZZ)
            list(APPEND flags -O1 -fno-sanitize=all -fno-sanitize-coverage=trace-cmp) # no parsers here; instrumenting them takes minutes
        elseif(NOT STENO_SANITIZE AND NOT source MATCHES "/ref_[^/]*$")
            list(APPEND flags $<$<CONFIG:Release>:-O3>)
        endif()
        # The head of a level's file gives its compiler flags.
        file(READ ${source} head LIMIT 2000)
        if(head MATCHES "\n \\* Compiled with: ([^/]*)")
            string(REGEX MATCHALL "-m[^ \n]+" own "${CMAKE_MATCH_1}")
            list(APPEND flags ${own})
            set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
        endif()
        if(WIN32 AND source MATCHES "_(avx|amx)[^/]*$") # the stack is aligned to 16 bytes there, but gcc assumes 32 and 64
            list(APPEND flags -Wa,-muse-unaligned-vector-move)
        endif()
        if(source MATCHES "/arm/" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
            list(APPEND flags -fno-schedule-insns) # it would move loads up until accumulators no longer fit the registers
        endif()
        set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${flags}")
    endforeach()
endfunction()

# The kernels whose instructions this processor has; all kernels if the system does not list its features.
function(steno_kernels_runnable out)
    set(runnable)
    set(features)
    if(EXISTS /proc/cpuinfo AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
        file(STRINGS /proc/cpuinfo features REGEX "^flags" LIMIT_COUNT 1)
        string(REGEX REPLACE "[_.-]" "" features "${features} ")
    endif()
    foreach(source IN LISTS ARGN)
        get_source_file_property(flags ${source} COMPILE_OPTIONS)
        set(here ON)
        foreach(flag IN LISTS flags)
            if(features AND flag MATCHES "^-m([a-z0-9.-]+)$")
                string(REGEX REPLACE "[_.-]" "" feature "${CMAKE_MATCH_1}")
                if(NOT features MATCHES " ${feature} " AND NOT flag MATCHES "^-mprefer")
                    set(here OFF)
                endif()
            endif()
        endforeach()
        if(here)
            list(APPEND runnable ${source})
        endif()
    endforeach()
    set(${out} ${runnable} PARENT_SCOPE)
endfunction()

# Under a sanitizer, a whole model would spend nine tenths of its time in the vector instructions of its kernels. Kernels are therefore
# compiled twice: as installed, for the library, and instrumented, for programs that link steno_kernels_checked before it. Those are the
# checks of kernels and the tests of plans, which call kernels with every shape. The twins are always instrumented. Levels that this
# processor cannot run are compiled once. Some checks are disabled here, and others are calls instead of inline code, so that compiling
# takes seconds instead of minutes.
function(steno_kernels_twice sources objects) # removes them from the list `sources`; sets `objects` to the first kind
    set(kernels ${${sources}})
    list(FILTER kernels INCLUDE REGEX "/src/kern/(x86|arm)/")
    set(others ${${sources}})
    list(REMOVE_ITEM others ${kernels})
    add_library(steno_kernels_fast OBJECT ${kernels})
    target_compile_options(steno_kernels_fast PRIVATE -O3 -fno-sanitize=all)
    steno_kernels_runnable(runnable ${kernels})
    add_library(steno_kernels_checked OBJECT EXCLUDE_FROM_ALL ${runnable})
    target_compile_options(steno_kernels_checked PRIVATE -O1 -fno-sanitize=null,alignment,object-size,pointer-overflow)
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND STENO_SANITIZE MATCHES "address")
        target_compile_options(steno_kernels_checked PRIVATE --param=asan-instrumentation-with-call-threshold=0)
    endif()
    foreach(target IN ITEMS steno_kernels_fast steno_kernels_checked)
        target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
        steno_warnings(${target})
    endforeach()
    set(${sources} ${others} PARENT_SCOPE)
    set(${objects} $<TARGET_OBJECTS:steno_kernels_fast> PARENT_SCOPE)
endfunction()

# A library, static and shared, from one set of objects: targets NAME_static and NAME_shared, files libNAME.a and libNAME.so.
function(steno_library name)
    cmake_parse_arguments(arg "" "EXPORT_NAME" "SOURCES;OBJECTS;INCLUDES;DEFINES;LIBRARIES" ${ARGN})
    list(TRANSFORM arg_INCLUDES PREPEND ${PROJECT_SOURCE_DIR}/ REGEX "^[^/]")
    add_library(${name}_objects OBJECT ${arg_SOURCES})
    target_include_directories(${name}_objects PRIVATE ${arg_INCLUDES})
    target_compile_definitions(${name}_objects PRIVATE ${arg_DEFINES})
    target_link_libraries(${name}_objects PRIVATE ${arg_LIBRARIES})
    steno_warnings(${name}_objects)

    list(FILTER arg_INCLUDES INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/include$")
    foreach(kind IN ITEMS static shared)
        string(TOUPPER ${kind} KIND)
        set(target ${name}_${kind})
        add_library(${target} ${KIND} $<TARGET_OBJECTS:${name}_objects> ${arg_OBJECTS})
        set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} EXPORT_NAME ${arg_EXPORT_NAME} LINKER_LANGUAGE C
            VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
        target_link_libraries(${target} PRIVATE ${arg_LIBRARIES})
        foreach(dir IN LISTS arg_INCLUDES)
            target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${dir}>)
        endforeach()
    endforeach()
    target_include_directories(${name}_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    add_library(steno::${arg_EXPORT_NAME} ALIAS ${name}_shared)
endfunction()

# A C file with the lines of a text as the array `name` that `header` declares, ending with NULL; lines that begin with # are skipped. The
# text must not contain ; or brackets, which are special in CMake.
function(steno_lines_of text name header out)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${text})
    file(STRINGS ${text} lines REGEX "^[^#]")
    set(body)
    foreach(line IN LISTS lines)
        string(REPLACE "\\" "\\\\" line "${line}")
        string(REPLACE "\"" "\\\"" line "${line}")
        string(APPEND body "    \"${line}\",\n")
    endforeach()
    file(CONFIGURE OUTPUT ${out} CONTENT "#include \"${header}\"\n\nconst char *const ${name}[] = {\n${body}    0,\n};\n" @ONLY)
endfunction()
