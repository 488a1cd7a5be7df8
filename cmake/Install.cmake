# steno: installation. SPDX-License-Identifier: MIT
#
# A file belongs to a component: program, runtime (shared libraries), development, dialects (only if it is named). Package.cmake makes
# packages of them.

include(CMakePackageConfigHelpers)

# Before anything is copied, what is not built yet is built, so that after "cmake --build build --target steno" an installation does not
# stop half way.
function(steno_install_builds component)
    set(files)
    foreach(target IN LISTS ARGN)
        list(APPEND files "$<TARGET_FILE:${target}>")
    endforeach()
    install(CODE "set(files \"${files}\")
set(names \"${ARGN}\")
set(build \"${PROJECT_BINARY_DIR}\")
include(\"${PROJECT_SOURCE_DIR}/cmake/InstallBuilds.cmake\")" COMPONENT ${component})
endfunction()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/steno)
list(JOIN STENO_PKGS " " STENO_PC_REQUIRES)

# Paths in the .pc files are relative to the .pc files, so an installed tree may be moved (cmake --install --prefix, DESTDIR, a package).
# Folders that were given as absolute paths stay absolute.
set(STENO_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
    file(RELATIVE_PATH up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
    string(REGEX REPLACE "/$" "" up ${up})
    set(STENO_PC_PREFIX "\${pcfiledir}/${up}")
endif()
foreach(dir IN ITEMS LIBDIR INCLUDEDIR)
    set(STENO_PC_${dir} ${CMAKE_INSTALL_FULL_${dir}})
    if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_${dir}})
        set(STENO_PC_${dir} "\${prefix}/${CMAKE_INSTALL_${dir}}")
    endif()
endforeach()

set(runtime steno_shared steno-output_shared steno-live_shared)
set(development steno_static steno-output_static steno-live_static)
if(TARGET steno-media_shared)
    list(APPEND runtime steno-media_shared)
    list(APPEND development steno-media_static)
endif()
if(TARGET steno)
    steno_install_builds(program steno)
endif()
steno_install_builds(runtime ${runtime})
steno_install_builds(development ${development})
if(TARGET steno)
    install(TARGETS steno DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
endif()

set(STENO_PC_POSIX) # what the static libraries of media and output need, besides
if(WIN32)
    set(STENO_PC_POSIX "-lsteno-windows -lbcrypt ")
    install(TARGETS steno_windows DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endif()
list(TRANSFORM STENO_WAITS PREPEND " -l" OUTPUT_VARIABLE STENO_PC_WAITS)
set(STENO_PC_DL)
if(CMAKE_DL_LIBS)
    set(STENO_PC_DL " -l${CMAKE_DL_LIBS}")
endif()

install(FILES include/steno/steno.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/steno COMPONENT development)
install(TARGETS steno_static DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(TARGETS steno_shared EXPORT steno-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT runtime NAMELINK_COMPONENT development)
configure_file(cmake/steno.pc.in steno.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/steno.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

if(TARGET steno-media_shared)
    target_link_libraries(steno-media_shared INTERFACE steno_shared)
    install(FILES include/steno/media.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/steno COMPONENT development)
    install(TARGETS steno-media_static DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
    install(TARGETS steno-media_shared EXPORT steno-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        COMPONENT runtime NAMELINK_COMPONENT development)
    configure_file(cmake/steno-media.pc.in steno-media.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/steno-media.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endif()

set(companions steno-output steno-live)
foreach(name IN LISTS companions)
    string(REPLACE "steno-" "" header ${name})
    install(FILES include/steno/${header}.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/steno COMPONENT development)
    install(TARGETS ${name}_static DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
    install(TARGETS ${name}_shared EXPORT steno-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        COMPONENT runtime NAMELINK_COMPONENT development)
    configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()

install(EXPORT steno-targets NAMESPACE steno:: DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(cmake/steno-config.cmake.in ${PROJECT_BINARY_DIR}/steno-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/steno-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/steno-config.cmake ${PROJECT_BINARY_DIR}/steno-config-version.cmake DESTINATION ${package_dir}
    COMPONENT development)

file(GLOB man_pages CONFIGURE_DEPENDS doc/*.1)
install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)

# Text that the program generates: a manual page per verb, and completions for shells. A program for another Linux runs in an emulator, if
# CMAKE_CROSSCOMPILING_EMULATOR names one.
if(TARGET steno AND NOT STENO_SANITIZE AND (NOT CMAKE_CROSSCOMPILING OR (CMAKE_CROSSCOMPILING_EMULATOR AND NOT WIN32)))
    set(run $<TARGET_FILE:steno>)
    if(CMAKE_CROSSCOMPILING)
        list(PREPEND run ${CMAKE_CROSSCOMPILING_EMULATOR})
    endif()
    add_custom_command(TARGET steno POST_BUILD COMMAND ${CMAKE_COMMAND} "-DPROGRAM=${run}" -DOUT=${PROJECT_BINARY_DIR}/pages
        -P ${PROJECT_SOURCE_DIR}/cmake/Pages.cmake VERBATIM)
    install(DIRECTORY ${PROJECT_BINARY_DIR}/pages/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program)
    install(FILES ${PROJECT_BINARY_DIR}/pages/steno DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
    install(FILES ${PROJECT_BINARY_DIR}/pages/_steno DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program)
    install(FILES ${PROJECT_BINARY_DIR}/pages/steno.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
endif()
install(DIRECTORY models DESTINATION ${CMAKE_INSTALL_DATADIR}/steno COMPONENT program)
install(FILES tests/data/demo.wav DESTINATION ${CMAKE_INSTALL_DATADIR}/steno COMPONENT program)
install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)

# Links by whose names the program accepts the options of other programs.
set(STENO_DIALECTS whisper whisper-cli whisper-cpp llama-funasr-cli llama-funasr-paraformer llama-funasr-sensevoice llama-funasr-vad)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/dialects)
if(TARGET steno AND NOT WIN32)
    foreach(name IN LISTS STENO_DIALECTS)
        file(CREATE_LINK steno ${PROJECT_BINARY_DIR}/dialects/${name} SYMBOLIC)
        file(CREATE_LINK steno.1 ${PROJECT_BINARY_DIR}/dialects/${name}.1 SYMBOLIC)
        install(FILES ${PROJECT_BINARY_DIR}/dialects/${name} DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT dialects EXCLUDE_FROM_ALL)
        install(FILES ${PROJECT_BINARY_DIR}/dialects/${name}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT dialects EXCLUDE_FROM_ALL)
    endforeach()
endif()
