# Builds for Linux with glibc against a sysroot. A toolchain file sets CMAKE_SYSTEM_PROCESSOR and CMAKE_LIBRARY_ARCHITECTURE,
# and includes this.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${CMAKE_LIBRARY_ARCHITECTURE}-gcc)
# No C++ is compiled, but nghttp2 enables the language, and CMake would test the compiler of this machine.
set(CMAKE_CXX_COMPILER_WORKS TRUE)
# A compiler of this machine would look among the machine's libraries first.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-B${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/")
set(CMAKE_STRIP ${CMAKE_LIBRARY_ARCHITECTURE}-strip CACHE FILEPATH "")
set(CMAKE_OBJCOPY ${CMAKE_LIBRARY_ARCHITECTURE}-objcopy CACHE FILEPATH "")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
