# steno: builds what an installation needs and is missing. SPDX-License-Identifier: MIT
#
# Runs in the installation. names: targets; files: what they build, in the same order; build: the build folder. A folder with several
# configurations builds the one that is installed.

set(missing)
foreach(name file IN ZIP_LISTS names files)
    if(NOT EXISTS "${file}")
        list(APPEND missing ${name})
    endif()
endforeach()
if(missing)
    message(STATUS "Building: ${missing}")
    set(config)
    if(CMAKE_INSTALL_CONFIG_NAME)
        set(config --config "${CMAKE_INSTALL_CONFIG_NAME}")
    endif()
    execute_process(COMMAND "${CMAKE_COMMAND}" --build "${build}" ${config} --target ${missing} RESULT_VARIABLE failed)
    if(failed)
        message(FATAL_ERROR "steno is not built, and nothing was installed: run \"cmake --build ${build}\" first")
    endif()
endif()
