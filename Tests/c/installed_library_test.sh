#!/bin/sh
# installed_library_test.sh LIBDIR VERSION BUILD_TYPE: given an installed library, it is one that a distribution could
# ship: found by its SONAME, without a path to other libraries, and with debug information only if asked for.
set -eu
failed=0
fail() {
  echo "FAILED: $*"
  failed=1
}

cd "$1"
soname=libboxretry.so.${2%%.*}
[ "$(readlink libboxretry.so)" = "$soname" ] || fail "libboxretry.so is not a link to $soname"
[ "$(readlink "$soname")" = "libboxretry.so.$2" ] || fail "$soname is not a link to libboxretry.so.$2"

dynamic=$(readelf --dynamic --wide libboxretry.so)
case $dynamic in *"soname: [$soname]"*) ;; *) fail "the SONAME is not $soname" ;; esac
case $dynamic in *RPATH* | *RUNPATH*) fail "there is a RUNPATH" ;; esac

case $(readelf --sections --wide libboxretry.so) in *.debug_info*) has_debug=yes ;; *) has_debug=no ;; esac
case $3 in Debug | RelWithDebInfo) wants_debug=yes ;; *) wants_debug=no ;; esac
[ $has_debug = $wants_debug ] || fail "build type '$3', and debug information: $has_debug"
exit $failed
