# Manual pages, shell completion, licence and list of changes: where each kind of installation wants them.
option(BOXRETRY_DEBIAN "Install as Debian's packages have it: compressed manuals, a folder of documents per package, Python" OFF)

set(man_dir "${PROJECT_SOURCE_DIR}/docs/man")
set(completions "${PROJECT_SOURCE_DIR}/docs/completions")
file(GLOB tool_pages CONFIGURE_DEPENDS "${man_dir}/*.1")
file(GLOB library_pages CONFIGURE_DEPENDS "${man_dir}/*.3")

install(FILES "${completions}/boxretry.bash" RENAME boxretry
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT tool)
install(FILES "${completions}/boxretry.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d"
        COMPONENT tool)

if(NOT BOXRETRY_DEBIAN)
  install(FILES "${completions}/_boxretry" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" COMPONENT tool)
  install(FILES ${tool_pages} DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT tool)
  install(FILES ${library_pages} DESTINATION "${CMAKE_INSTALL_MANDIR}/man3" COMPONENT development)
  install(FILES LICENSE CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime)
  return()
endif()

find_program(GZIP_EXECUTABLE gzip REQUIRED)
set(compressed_dir "${PROJECT_BINARY_DIR}/compressed")
file(MAKE_DIRECTORY "${compressed_dir}")

# Installs a file, compressed as Debian's policy asks for, under the name NAME.gz.
function(install_compressed source name destination component)
  set(compressed "${compressed_dir}/${component}-${name}.gz")
  add_custom_command(
    OUTPUT "${compressed}"
    COMMAND "${GZIP_EXECUTABLE}" -9nc "${source}" > "${compressed}"
    DEPENDS "${source}"
    VERBATIM)
  set_property(GLOBAL APPEND PROPERTY boxretry_compressed "${compressed}")
  install(FILES "${compressed}" RENAME "${name}.gz" DESTINATION "${destination}" COMPONENT ${component})
endfunction()

foreach(page ${tool_pages})
  get_filename_component(name "${page}" NAME)
  install_compressed("${page}" "${name}" "${CMAKE_INSTALL_MANDIR}/man1" tool)
endforeach()
foreach(page ${library_pages})
  get_filename_component(name "${page}" NAME)
  install_compressed("${page}" "${name}" "${CMAKE_INSTALL_MANDIR}/man3" development)
endforeach()
install(FILES "${completions}/_boxretry" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions" COMPONENT tool)

set(debian "${PROJECT_SOURCE_DIR}/packaging/debian")
set(package_of_runtime libboxretry${PROJECT_VERSION_MAJOR})
set(package_of_development libboxretry-dev)
set(package_of_tool boxretry)
set(package_of_python python3-boxretry)
foreach(component runtime development tool python)
  set(documents "${CMAKE_INSTALL_DATADIR}/doc/${package_of_${component}}")
  install(FILES "${debian}/copyright" DESTINATION "${documents}" COMPONENT ${component})
  install_compressed("${debian}/changelog" changelog.Debian "${documents}" ${component})
  install_compressed("${PROJECT_SOURCE_DIR}/CHANGELOG.md" changelog "${documents}" ${component})
endforeach()
get_property(compressed GLOBAL PROPERTY boxretry_compressed)
add_custom_target(compressed_documents ALL DEPENDS ${compressed})

set(python_dir lib/python3/dist-packages)
install(DIRECTORY bindings/python/src/boxretry DESTINATION "${python_dir}" COMPONENT python
        PATTERN __pycache__ EXCLUDE PATTERN "*.so*" EXCLUDE)
configure_file(packaging/debian/python/METADATA.in METADATA @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/METADATA" DESTINATION "${python_dir}/boxretry-${PROJECT_VERSION}.dist-info"
        COMPONENT python)
