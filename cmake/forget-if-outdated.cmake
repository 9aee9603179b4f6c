# SwiftPM does not know that the library depends on its list of exports: makes it link again if that has changed.
if("${EXPORTS}" IS_NEWER_THAN "${LIBRARY}")
  file(REMOVE "${LIBRARY}")
endif()
