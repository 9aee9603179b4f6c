# SwiftPM gives the library a RUNPATH of $ORIGIN, which a library in a system directory must not have.
file(RPATH_REMOVE FILE "${LIBRARY}")
