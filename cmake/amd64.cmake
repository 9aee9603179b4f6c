# Builds for x86-64 Linux with another glibc than this machine's: cmake --toolchain cmake/amd64.cmake -DCMAKE_SYSROOT=FOLDER, with
# a folder that packaging/sysroot has made.
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_LIBRARY_ARCHITECTURE x86_64-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
