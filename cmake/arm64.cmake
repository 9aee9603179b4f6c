# Builds for arm64 Linux with glibc, on another machine: cmake --toolchain cmake/arm64.cmake -DCMAKE_SYSROOT=FOLDER, with a
# folder that packaging/sysroot has made.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${CMAKE_SYSROOT})
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
