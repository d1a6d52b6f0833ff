# SPDX-License-Identifier: Apache-2.0
# Debian's cross compiler: cmake -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64-linux-gnu.cmake …
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)

set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)

set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

find_program(AP_QEMU_AARCH64 NAMES qemu-aarch64 qemu-aarch64-static)
if(AP_QEMU_AARCH64)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${AP_QEMU_AARCH64} -L /usr/aarch64-linux-gnu)
endif()
