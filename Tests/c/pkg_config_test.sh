#!/bin/sh
# pkg_config_test.sh CC LIBDIR VERSION WORK: given an installed library, when the quickstart is compiled as its first
# line says, then it runs.
set -eu
here=$(dirname "$0")
PKG_CONFIG_LIBDIR=$2/pkgconfig
export PKG_CONFIG_LIBDIR

[ "$(pkg-config --modversion boxretry)" = "$3" ] || {
  echo "FAILED: the version is not $3"
  exit 1
}
# eval: pkg-config quotes a space in a path for the shell.
eval "\"$1\" \"$here/../../bindings/c/quickstart.c\" $(pkg-config --cflags --libs boxretry) -o \"$4/quickstart\""
LD_LIBRARY_PATH=$2 sh "$here/output_test.sh" "$4/quickstart"

# So does the conformance program, and the installed library does what the vectors say.
eval "\"$1\" \"$here/../../bindings/c/conformance.c\" $(pkg-config --cflags --libs boxretry) -o \"$4/conformance\""
for mode in decisions retry_after backoff token_delays; do
  LD_LIBRARY_PATH=$2 "$4/conformance" $mode "$here/../vectors/$mode.tsv"
done
