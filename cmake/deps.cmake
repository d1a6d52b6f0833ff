# SPDX-License-Identifier: Apache-2.0
# cJSON and libuv as the targets ap_cjson and ap_uv.
#   bundled  Debian's sources, built hidden and position independent into our objects
#   shared   what pkg-config finds, for distribution packages

if(ACLPROF_DEPS STREQUAL "shared")
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(AP_CJSON REQUIRED IMPORTED_TARGET libcjson)
    pkg_check_modules(AP_UV REQUIRED IMPORTED_TARGET libuv)
    add_library(ap_cjson INTERFACE)
    target_link_libraries(ap_cjson INTERFACE PkgConfig::AP_CJSON)
    add_library(ap_uv INTERFACE)
    target_link_libraries(ap_uv INTERFACE PkgConfig::AP_UV)
    return()
endif()

execute_process(
    COMMAND ${CMAKE_CURRENT_LIST_DIR}/fetch-deps ${ACLPROF_DEPS_DIR}
    RESULT_VARIABLE ap_fetch_result)
if(NOT ap_fetch_result EQUAL 0)
    message(FATAL_ERROR "cmake/fetch-deps ${ACLPROF_DEPS_DIR} failed (its message is above)")
endif()

# Third-party code: no warnings, no assertions, no UBSan; the other sanitizers see it.
function(ap_third_party target)
    set_target_properties(${target} PROPERTIES
        POSITION_INDEPENDENT_CODE ON
        C_VISIBILITY_PRESET hidden
        EXPORT_COMPILE_COMMANDS OFF)
    target_compile_options(${target} PRIVATE -w -ffunction-sections -fdata-sections)
    target_compile_definitions(${target} PRIVATE NDEBUG)
    if("${ACLPROF_SANITIZE}" MATCHES "undefined")
        target_compile_options(${target} PRIVATE -fno-sanitize=undefined)
    endif()
endfunction()

add_library(ap_cjson STATIC ${ACLPROF_DEPS_DIR}/cjson/cJSON.c)
ap_third_party(ap_cjson)
target_compile_definitions(ap_cjson PRIVATE CJSON_HIDE_SYMBOLS)
target_include_directories(ap_cjson SYSTEM INTERFACE ${ACLPROF_DEPS_DIR}) # <cjson/cJSON.h>
target_link_libraries(ap_cjson INTERFACE m)

# What libuv's own build compiles on Linux; the names of several versions.
set(ap_uv_sources)
foreach(name
        fs-poll idna inet random strscpy strtok thread-common threadpool timer uv-common
        uv-data-getter-setters version
        unix/async unix/core unix/dl unix/epoll unix/fs unix/getaddrinfo unix/getnameinfo
        unix/linux unix/linux-core unix/linux-inotify unix/linux-syscalls unix/loop
        unix/loop-watcher unix/pipe unix/poll unix/process unix/procfs-exepath unix/proctitle
        unix/random-devurandom unix/random-getrandom unix/random-sysctl-linux
        unix/stream unix/tcp unix/thread unix/tty unix/udp)
    if(EXISTS ${ACLPROF_DEPS_DIR}/libuv/src/${name}.c)
        list(APPEND ap_uv_sources ${ACLPROF_DEPS_DIR}/libuv/src/${name}.c)
    endif()
endforeach()
# A guest in other people's processes: no signal pipes, no fork handler, no abort (writer/uv_guard.c).
add_library(ap_uv STATIC ${ap_uv_sources} ${CMAKE_CURRENT_LIST_DIR}/uv_no_signals.c)
ap_third_party(ap_uv)
target_compile_definitions(ap_uv PRIVATE
    _GNU_SOURCE _POSIX_C_SOURCE=200112 _FILE_OFFSET_BITS=64 _LARGEFILE_SOURCE abort=ap__uv_abort)
target_include_directories(ap_uv PRIVATE ${ACLPROF_DEPS_DIR}/libuv/src ${ACLPROF_DEPS_DIR}/libuv/src/unix)
target_include_directories(ap_uv SYSTEM PUBLIC ${ACLPROF_DEPS_DIR}/libuv/include)
target_link_libraries(ap_uv INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
