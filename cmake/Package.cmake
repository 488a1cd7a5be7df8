# steno: packages by CPack, for script/package. SPDX-License-Identifier: MIT
#
# A package per component of Install.cmake. Libraries that are linked are found by dpkg-shlibdeps, those that are loaded on first use are
# named here. packaging/debian/finish.cmake completes the trees before they are packed.

if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr" OR NOT TARGET steno OR WIN32)
    return()
endif()
set(revision 1)
set(soname ${PROJECT_VERSION_MAJOR})
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME steno)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
file(STRINGS ${PROJECT_SOURCE_DIR}/packaging/release contact REGEX "^contact=")
string(REPLACE "contact=" "" CPACK_PACKAGE_CONTACT "${contact}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "speech recognition on the CPU")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES OFF) # finish.cmake strips
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL program runtime development dialects)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/debian/finish.cmake)
set(CPACK_STENO_SOURCE ${PROJECT_SOURCE_DIR}) # for finish.cmake
set(CPACK_STENO_STRIP ${CMAKE_STRIP})

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${revision})
if(CMAKE_CROSSCOMPILING) # otherwise dpkg is asked
    set(architecture_x86_64 amd64)
    set(architecture_aarch64 arm64)
    set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE ${architecture_${CMAKE_SYSTEM_PROCESSOR}})
endif()
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SOURCE steno)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY =)
set(version ${PROJECT_VERSION}-${revision})

set(media)
if(STENO_MEDIA) # versions are those of the headers
    foreach(name IN ITEMS avformat avcodec avutil swresample)
        string(REGEX MATCH "^[0-9]+" major "${STENO_MEDIA_DEPS_lib${name}_VERSION}")
        list(APPEND media lib${name}${major})
    endforeach()
    list(TRANSFORM media REPLACE "^(libavcodec|libavformat)([0-9]+)$" "\\1\\2 | \\1-extra\\2")
endif()
set(program ${media})
if(STENO_HUB)
    list(APPEND program "libcurl4 | libcurl3-gnutls" ca-certificates)
endif()
if(STENO_SERVE)
    list(APPEND program libmicrohttpd12 libwslay1)
endif()
list(JOIN media ", " media)
list(JOIN program ", " program)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME steno)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION sound)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "${program}")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "libasound2")
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "steno runs the Whisper models of whisper.cpp, OpenAI, Hugging Face and MLX,
the models of FunASR, Silero VAD, and small language models. It transcribes
files and streams, writes subtitles, and serves OpenAI's audio API.
A small model that recognises spoken digits is included.")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libsteno${soname})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/triggers)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "${media}")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "This package has the shared libraries. libsteno transcribes audio with Whisper
and FunASR models, libsteno-media reads files, libsteno-output writes results,
and libsteno-live transcribes while audio arrives.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libsteno-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libsteno${soname} (= ${version}), zlib1g-dev, libpcre2-dev, libutf8proc-dev, \
libyaml-dev, libunistring-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "This package has the headers, which are the manual of the libraries, static
libraries, and files for pkg-config and CMake.")

set(CPACK_DEBIAN_DIALECTS_PACKAGE_NAME steno-dialects)
set(CPACK_DEBIAN_DIALECTS_PACKAGE_SECTION sound)
set(CPACK_DEBIAN_DIALECTS_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DIALECTS_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DIALECTS_PACKAGE_DEPENDS "steno (>= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DIALECTS_PACKAGE_CONFLICTS "whisper.cpp")
set(CPACK_COMPONENT_DIALECTS_DESCRIPTION "This package has links named whisper, whisper-cli and llama-funasr-cli, among
others, by which steno accepts the options of these programs and writes their
files.")

include(CPack)
