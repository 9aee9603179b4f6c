# Packages, made by cpack; scripts/package makes them all.
#
# cpack -G TGZ makes an archive that can be unpacked anywhere; cpack -G DEB, in a build with -DBOXRETRY_DEBIAN=ON and the
# prefix /usr, makes one .deb for each component.
set(CPACK_PACKAGE_NAME libboxretry)
set(CPACK_PACKAGE_VENDOR "libboxretry maintainers")
set(CPACK_PACKAGE_CONTACT "libboxretry maintainers <maintainers@libboxretry.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "right retries, timeouts and access tokens for HTTP APIs")
set(CPACK_PACKAGE_FILE_NAME "libboxretry-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")
if(BOXRETRY_CURL_ROOT)
  string(APPEND CPACK_PACKAGE_FILE_NAME -portable)
endif()
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TGZ)
set(CPACK_THREADS 0)

if(BOXRETRY_DEBIAN)
  set(CPACK_GENERATOR DEB)
  set(CPACK_COMPONENTS_ALL runtime development tool python)
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                                  WORLD_READ WORLD_EXECUTE)
  set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
  set(CPACK_DEBIAN_PACKAGE_SOURCE libboxretry)
  set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
  set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
  if(CMAKE_CROSSCOMPILING)
    # dpkg-shlibdeps cannot look at libraries of an architecture that is not installed. Tests/package compares this with the
    # versions of the symbols.
    set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE ${architecture_${CMAKE_SYSTEM_PROCESSOR}})
    set(needs_libc ", libc6 (>= 2.34)")
  else()
    # dpkg-shlibdeps finds the versions of libc and libcurl that the symbols need; what it cannot see stands below.
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  endif()
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}")
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")

  # A program that was linked with this version runs with it and with newer ones.
  set(same_library "${package_of_runtime} (>= ${PROJECT_VERSION})")
  set(about "\
libboxretry decides whether a failed HTTP request is sent again, and after
how long a wait, by two published sets of rules, to the letter: the retry
strategy of Box's SDK and the token lifecycle of January's. It also sends
requests itself, over libcurl, with timeouts, deadlines and cancellation.

")

  set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${package_of_runtime})
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "libcurl4 (>= 7.87.0)${needs_libc}") # an option of that version, which no symbol shows
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA "${debian}/runtime/triggers")
  set(CPACK_DEBIAN_RUNTIME_DESCRIPTION
      "${about}\
This package has the shared library.")

  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME ${package_of_development})
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${package_of_runtime} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
  set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
      "${about}\
This package has what programs in C and C++ are built with: the header, its
manual page, and files for pkg-config and CMake.")

  set(CPACK_DEBIAN_TOOL_PACKAGE_NAME ${package_of_tool})
  set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION web)
  set(CPACK_DEBIAN_TOOL_PACKAGE_DEPENDS "${same_library}${needs_libc}")
  set(CPACK_DEBIAN_TOOL_DESCRIPTION
      "${about}\
This package has the command-line tool, which sends requests and explains
how each outcome is retried.")

  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME ${package_of_python})
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3:any (>= 3.9~), ${same_library}")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${debian}/python/postinst" "${debian}/python/prerm")
  set(CPACK_DEBIAN_PYTHON_DESCRIPTION
      "${about}\
This package has the package boxretry for Python 3.")
endif()

include(CPack)
