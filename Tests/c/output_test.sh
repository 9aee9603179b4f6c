#!/bin/sh
# output_test.sh PROGRAM: given one of the programs that users are shown, when it runs, then it succeeds and prints what
# is in PROGRAM.expected beside this file, where a ? is any character.
program=$1
expected=$(cat "$(dirname "$0")/$(basename "$program").expected") || exit 1
printed=$("$program") || {
  echo "FAILED: exit status $?"
  exit 1
}
case $printed in
$expected) ;;
*)
  printf 'FAILED: expected\n%s\nbut it printed\n%s\n' "$expected" "$printed"
  exit 1
  ;;
esac
