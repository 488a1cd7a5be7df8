# steno: libraries and tools of the system. SPDX-License-Identifier: MIT
#
# Only STENO_LIBRARIES and STENO_MEDIA_LIBRARIES are used by installed files; the rest serves tests and benchmarks.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
set(STENO_WAITS) # for os_park.c
if(WIN32)
    set(STENO_WAITS synchronization)
endif()
if(STENO_KERNELS_ONLY)
    return()
endif()
if(STENO_HEADERS)
    add_library(steno_headers INTERFACE)
    target_include_directories(steno_headers SYSTEM INTERFACE ${STENO_HEADERS})
    set(STENO_LIBRARIES steno_headers Threads::Threads ${STENO_WAITS})
    return()
endif()

find_package(PkgConfig REQUIRED)
set(STENO_PKGS zlib libpcre2-8 libutf8proc yaml-0.1)
pkg_check_modules(STENO_DEPS REQUIRED IMPORTED_TARGET ${STENO_PKGS})
set(STENO_LIBRARIES PkgConfig::STENO_DEPS Threads::Threads m ${STENO_WAITS})

# FFmpeg is loaded on first use, so only its headers are needed here; they determine the versions that are loaded.
set(STENO_MEDIA_LIBRARIES m ${CMAKE_DL_LIBS})
if(STENO_MEDIA)
    pkg_check_modules(STENO_MEDIA_DEPS libavformat libavcodec libswresample libavutil)
    if(NOT STENO_MEDIA_DEPS_FOUND)
        message(FATAL_ERROR "FFmpeg's development files are missing: run script/bootstrap, or configure with -DSTENO_MEDIA=OFF")
    elseif(STENO_MEDIA_DEPS_libavutil_VERSION VERSION_LESS 57.28) # FFmpeg 5.1, the first with AVChannelLayout
        message(FATAL_ERROR "FFmpeg 5.1 or newer is needed, and this system has an older one (libavutil "
            "${STENO_MEDIA_DEPS_libavutil_VERSION}). Configure with -DSTENO_MEDIA=OFF for a program that reads WAV only, or use the "
            "tarball of script/package, which has an FFmpeg of its own.")
    endif()
endif()

# libcurl is also loaded on first use.
if(STENO_HUB)
    pkg_check_modules(STENO_CURL libcurl)
    if(NOT STENO_CURL_FOUND)
        message(FATAL_ERROR "libcurl's headers are missing: run script/bootstrap, or configure with -DSTENO_HUB=OFF")
    endif()
endif()

# libmicrohttpd and libwslay are loaded on first use, too; jansson is linked.
if(STENO_SERVE)
    pkg_check_modules(STENO_JANSSON IMPORTED_TARGET jansson)
    find_path(STENO_MICROHTTPD_INCLUDE microhttpd.h)
    find_path(STENO_WSLAY_INCLUDE wslay/wslay.h)
    mark_as_advanced(STENO_MICROHTTPD_INCLUDE STENO_WSLAY_INCLUDE)
    if(NOT STENO_JANSSON_FOUND OR NOT STENO_MICROHTTPD_INCLUDE OR NOT STENO_WSLAY_INCLUDE)
        message(FATAL_ERROR "The headers of libmicrohttpd, libwslay or jansson are missing: run script/bootstrap, or configure with "
            "-DSTENO_SERVE=OFF")
    endif()
    set(STENO_SERVE_INCLUDE_DIRS ${STENO_MICROHTTPD_INCLUDE} ${STENO_WSLAY_INCLUDE})
endif()

# Line breaks in subtitles (UAX 14); only the program uses it.
find_library(STENO_UNISTRING unistring) # it has no .pc file
find_path(STENO_UNISTRING_INCLUDE unilbrk.h)
mark_as_advanced(STENO_UNISTRING STENO_UNISTRING_INCLUDE)
if(NOT STENO_UNISTRING OR NOT STENO_UNISTRING_INCLUDE)
    message(FATAL_ERROR "libunistring's development files are missing: run script/bootstrap")
endif()

# Without it, typed lines cannot be edited; nothing else differs. The Python package has fewer libraries; a console of Windows
# edits lines itself.
if(NOT STENO_PYTHON_PACKAGE AND NOT WIN32)
    pkg_check_modules(STENO_LIBEDIT QUIET IMPORTED_TARGET libedit)
endif()

if(STENO_BENCH)
    find_library(STENO_ONEDNN dnnl) # its CMake package needs OpenCL headers
    mark_as_advanced(STENO_ONEDNN)
endif()

if(STENO_TESTS)
    pkg_check_modules(STENO_TEST_DEPS IMPORTED_TARGET cmocka jansson)
    if(NOT STENO_TEST_DEPS_FOUND)
        message(WARNING "cmocka or jansson is missing, so the tests are not built; script/bootstrap --test installs it")
        set(STENO_TESTS OFF)
    endif()
endif()
