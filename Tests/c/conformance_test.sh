#!/bin/sh
# conformance_test.sh PROGRAM: given files with faults in them, the conformance program counts and prints each fault as
# its --help says. PROGRAM, an absolute path, may be any program that behaves like bindings/c/conformance.c.
program=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

# expect NAME STATUS ARGUMENT…: runs the program with the arguments; standard input is what it should print.
expect() {
  name=$1 status=$2
  shift 2
  expected=$(cat)
  printed=$("$program" "$@" 2>errors)
  got=$?
  [ "$got" = "$status" ] && [ "$printed" = "$expected" ] && return
  printf 'FAILED: %s\n' "$name"
  printf 'expected status %s and\n%s\ngot status %s and\n%s\n' "$status" "$expected" "$got" "$printed"
  cat errors
  failed=1
}

# repeat COUNT TEXT: the text, COUNT times.
repeat() {
  awk -v count="$1" -v text="$2" 'BEGIN { while (count-- > 0) printf "%s", text }'
}

# ---- What passes

printf '# a comment\n\nsoon\t-\n 7\\t\t7.0\n\t-\n1\t1' >right
expect "comments and empty lines are skipped; the last line needs no LF" 0 retry_after right <<'END'
4 passed, 0 failed
END

expect "the cases of all files count together" 0 retry_after right right <<'END'
8 passed, 0 failed
END

# ---- Wrong expected values: each mode must notice

printf '3\t3.0000001\nsoon\t5\n5\t-\n' >wrong
expect "a wrong delay from Retry-After" 1 retry_after wrong <<'END'
wrong:1: expected 3.0000001, got 3
wrong:2: expected 5, got -
wrong:3: expected -, got 5
0 passed, 3 failed
END

printf '1\t1\t0.5\t0.5\t2.00000000001\n1\t1\t0.5\t0.5\t2.0000000000001\n1\t1\t1.5\t0.5\t-\n' >wrong
expect "a wrong backoff; 1e-12 of it is allowed" 1 backoff wrong <<'END'
wrong:1: expected 2.00000000001, got 2
wrong:3: expected -, got error invalid_argument
1 passed, 2 failed
END

printf '1\t1\t0\t1\t1.5\t1.9\n1\t0.8\t0\t1\t1.5\t2\n8\t0.5\t9\t8\t9\t9\nsoon\t0\t0\t1\t1\t1\n1\t2\t0\t1\t2\t3\n' >wrong
expect "a wrong jitter: too long, too narrow, not a Retry-After, not a jitter" 1 retry_after_jitter wrong <<'END'
wrong:1: expected 1 1.5 1.9, got 1.000344418410722 1.5030914858565716 1.9994743608873082
wrong:2: expected 1 1.5 2, got 1.0002755347285774 1.4024731886852573 1.7995794887098464
wrong:4: expected 1 1 1, got 1.0006888368214437 2.0061829717131432 2.9989487217746165
wrong:5: expected 1, got error invalid_argument
1 passed, 4 failed
END

printf '2\t1\t2\t8\t0.2\t0.5\t1.9\n0\t1\t2\t8\t0.2\t0.5\t1\n' >wrong
expect "a wrong token delay" 1 token_delays wrong <<'END'
wrong:1: expected 1.9, got 2
wrong:2: expected 1, got error invalid_argument
0 passed, 2 failed
END

cat >wrong <<'END'
action	5	2	0	503 503	retry:b1 stop
backoff	5	2	0	503 503	retry:b1 retry:b3
source	5	2	0	503+ra=2	retry:b1
seconds	5	2	0	503+ra=2	retry:ra2.5
refresh	5	2	1	401	retry:b1
auth	5	2	0	401	refresh:b1
success	5	2	0	404	success
ended	5	2	0	200 200	success success
status	5	2	0	99	stop
options	-1	2	0	503	stop
END
expect "a wrong decision: the action, the delay and its source are compared" 1 decisions wrong <<'END'
wrong:1: outcome 2: expected stop, got retry backoff 4
wrong:2: outcome 2: expected retry:b3, got retry backoff 4
wrong:3: outcome 1: expected retry:b1, got retry retry_after 2
wrong:4: outcome 1: expected retry:ra2.5, got retry retry_after 2
wrong:5: outcome 1: expected retry:b1, got refresh_token_and_retry backoff 2
wrong:6: outcome 1: expected refresh:b1, got stop none 0
wrong:7: outcome 1: expected success, got stop none 0
wrong:8: outcome 2: expected success, got error ended
wrong:9: outcome 1: expected stop, got error invalid_argument
wrong:10: outcome 1: expected stop, got error invalid_argument
0 passed, 10 failed
END

# ---- Long lines

{ repeat 10000 0 && printf '7\t7\n' && repeat 10000 0 && printf '7\t8\n'; } >long
expect "a value of 10,001 characters" 1 retry_after long <<'END'
long:2: expected 8, got 7
1 passed, 1 failed
END

{ printf 'long\t4000\t2\t0\t' && repeat 3000 '503 ' && printf '\t' && repeat 3000 'retry:b9 '; } >long
expect "3,000 outcomes, of which the first is wrong" 1 decisions long <<'END'
long:1: outcome 1: expected retry:b9, got retry backoff 2
0 passed, 1 failed
END

{
  printf 'long\t4000\t2\t0\t' && repeat 3000 '503+ra=1 ' && printf '404\t'
  repeat 3000 'retry:ra1 ' && printf stop
} >long
expect "3,001 outcomes, more than a retry loop allows by itself" 0 decisions long <<'END'
1 passed, 0 failed
END

{ printf 'long\t4000\t2\t0\t' && repeat 40 '503 ' && printf '\tretry:b1'; } >long
expect "fewer actions than outcomes" 1 decisions long <<'END'
long:1: malformed line
0 passed, 1 failed
END

printf 'saturated\t99\t2\t0\t' >long
{ repeat 32 '503 ' && printf '\t' && awk 'BEGIN { for (n = 1; n <= 32; n++) printf "retry:b%d ", n }'; } >>long
expect "a backoff beyond 2^31 - 1 seconds" 0 decisions long <<'END'
1 passed, 0 failed
END

# ---- Malformed lines

printf 'no tab\n7\t7\r\n7\t\n7\t0x7\n7\tinf\n7\t7 \n7\t7\n' >malformed
expect "lines without a number, and lines that end in CR LF" 1 retry_after malformed <<'END'
malformed:1: malformed line
malformed:2: malformed line
malformed:3: malformed line
malformed:4: malformed line
malformed:5: malformed line
malformed:6: malformed line
1 passed, 6 failed
END

printf '7\t7\0\n' >malformed
expect "a NUL in a line" 1 retry_after malformed <<'END'
malformed:1: malformed line
0 passed, 1 failed
END

cat >malformed <<'END'
1	1	0.5	0.5
1	1	0.5	0.5	2	2
1.0	1	0.5	0.5	2
2147483648	1	0.5	0.5	2
1		0.5	0.5	2
END
expect "a field too few, one too many, no integer, too large an integer, an empty number" 1 backoff malformed <<'END'
malformed:1: malformed line
malformed:2: malformed line
malformed:3: malformed line
malformed:4: malformed line
malformed:5: malformed line
0 passed, 5 failed
END

cat >malformed <<'END'
empty	5	2	0		
outcome	5	2	0	e	retry:b1
action	5	2	0	503	retry
exponent	5	2	0	503	retry:b
delay	5	2	0	503	retry:2
END
expect "no outcomes, no outcome, no action" 1 decisions malformed <<'END'
malformed:1: malformed line
malformed:2: malformed line
malformed:3: malformed line
malformed:4: malformed line
malformed:5: malformed line
0 passed, 5 failed
END

# ---- Files and the command line

: >empty
expect "an empty file" 1 backoff empty <<'END'
empty: no cases
0 passed, 1 failed
END

printf '# nothing\n\n' >comments
expect "a file of comments, and the next file all the same" 1 retry_after comments right <<'END'
comments: no cases
4 passed, 1 failed
END

expect "a file that is not there, and one that is a directory" 1 backoff missing . <<'END'
missing: cannot be read: No such file or directory
.: cannot be read: Is a directory
0 passed, 2 failed
END

expect "no file" 2 backoff </dev/null
expect "no mode" 2 </dev/null
expect "a mode that does not exist" 2 retries right </dev/null

"$program" --help | grep -q '^usage: conformance ' || {
  echo "FAILED: --help prints no usage"
  failed=1
}
exit $failed
