#!/bin/sh
# install.sh CMAKE BUILD WORK PREFIX: given a build, installs it in WORK, and moves what was installed to PREFIX. What
# then still works does not depend on where it was installed.
set -eu
rm -rf "$3"
"$1" --install "$2" --prefix "$3/first"
mv "$3/first" "$4"
