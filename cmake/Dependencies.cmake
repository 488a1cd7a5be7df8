# steno: what is used from the system. SPDX-License-Identifier: MIT
#
# Only libraries in STENO_LIBRARIES and STENO_MEDIA_LIBRARIES end up in what is installed; the rest serves tests and benchmarks.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

set(STENO_PKGS zlib jansson libpcre2-8 libutf8proc kissfft-float)
pkg_check_modules(STENO_DEPS REQUIRED IMPORTED_TARGET ${STENO_PKGS})
set(STENO_LIBRARIES PkgConfig::STENO_DEPS Threads::Threads m)

set(STENO_MEDIA_PKGS)
set(STENO_MEDIA_LIBRARIES m ${CMAKE_DL_LIBS})
if(STENO_MEDIA)
    set(STENO_MEDIA_PKGS libavformat libavcodec libswresample libavutil)
    pkg_check_modules(STENO_MEDIA_DEPS IMPORTED_TARGET ${STENO_MEDIA_PKGS})
    if(NOT STENO_MEDIA_DEPS_FOUND)
        message(FATAL_ERROR "FFmpeg's development files are missing: run script/bootstrap, or configure with -DSTENO_MEDIA=OFF")
    endif()
    list(PREPEND STENO_MEDIA_LIBRARIES PkgConfig::STENO_MEDIA_DEPS)
endif()

if(STENO_BENCH)
    find_library(STENO_ONEDNN dnnl) # its CMake package wants OpenCL headers
    mark_as_advanced(STENO_ONEDNN)
endif()

if(STENO_TESTS)
    pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
    if(NOT CMOCKA_FOUND)
        message(WARNING "cmocka is missing, so the tests are not built; script/bootstrap --test installs it")
        set(STENO_TESTS OFF)
    endif()
endif()
