# steno: completes the tree of each Debian package before CPack packs it. SPDX-License-Identifier: MIT

find_program(BASH bash REQUIRED)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER ${component} upper)
    execute_process(COMMAND ${BASH} ${CPACK_STENO_SOURCE}/packaging/debian/finish.sh ${CPACK_TEMPORARY_DIRECTORY}/${component}
        ${CPACK_DEBIAN_${upper}_PACKAGE_NAME} ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE} ${CPACK_PACKAGE_CONTACT} ${CPACK_STENO_STRIP}
        WORKING_DIRECTORY ${CPACK_STENO_SOURCE} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
