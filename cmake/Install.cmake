# steno: installation. SPDX-License-Identifier: MIT

include(CMakePackageConfigHelpers)

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

install(FILES include/steno/steno.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/steno)
install(TARGETS steno_static DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS steno_shared EXPORT steno-targets DESTINATION ${CMAKE_INSTALL_LIBDIR})
configure_file(cmake/steno.pc.in steno.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/steno.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET steno-media_shared)
    target_link_libraries(steno-media_shared INTERFACE steno_shared)
    install(FILES include/steno/media.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/steno)
    install(TARGETS steno-media_static DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(TARGETS steno-media_shared EXPORT steno-targets DESTINATION ${CMAKE_INSTALL_LIBDIR})
    configure_file(cmake/steno-media.pc.in steno-media.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/steno-media.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

set(companions steno-output steno-live)
foreach(name IN LISTS companions)
    string(REPLACE "steno-" "" header ${name})
    install(FILES include/steno/${header}.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/steno)
    install(TARGETS ${name}_static DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(TARGETS ${name}_shared EXPORT steno-targets DESTINATION ${CMAKE_INSTALL_LIBDIR})
    configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

install(EXPORT steno-targets NAMESPACE steno:: DESTINATION ${package_dir})
configure_package_config_file(cmake/steno-config.cmake.in ${PROJECT_BINARY_DIR}/steno-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/steno-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/steno-config.cmake ${PROJECT_BINARY_DIR}/steno-config-version.cmake DESTINATION ${package_dir})

file(GLOB man_pages CONFIGURE_DEPENDS doc/*.1)
install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# Text that the program generates: a manual page per verb, and completions for shells. A program built for another machine cannot run here.
if(TARGET steno AND NOT CMAKE_CROSSCOMPILING AND NOT STENO_SANITIZE)
    add_custom_command(TARGET steno POST_BUILD COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:steno> -DOUT=${PROJECT_BINARY_DIR}/said
        -P ${PROJECT_SOURCE_DIR}/cmake/Said.cmake VERBATIM)
    install(DIRECTORY ${PROJECT_BINARY_DIR}/said/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
    install(FILES ${PROJECT_BINARY_DIR}/said/steno DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${PROJECT_BINARY_DIR}/said/_steno DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${PROJECT_BINARY_DIR}/said/steno.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
install(DIRECTORY models DESTINATION ${CMAKE_INSTALL_DATADIR}/steno)
install(FILES tests/data/demo.wav DESTINATION ${CMAKE_INSTALL_DATADIR}/steno)
install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})
