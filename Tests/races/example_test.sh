#!/bin/sh
# example_test.sh WITH_SERVER PROGRAM: given a server, when one of the programs that users are shown fetches from it, then
# it prints and exits as it should. @ stands for the server's URL, # for a number of seconds that is not 0.
set -u
with_server=$1
program=$2
failed=0
order=cat

# expect STATUS ARGUMENT...: what is to be printed is on the standard input.
expect() {
  wanted=$(cat)
  expected_status=$1
  shift
  printed=$("$with_server" "$program" "$@" 2>&1)
  status=$?
  printed=$(printf '%s\n' "$printed" | $order |
    sed -E 's!http://127\.0\.0\.1:[0-9]+!@!; s!wait ([1-9][0-9]*\.[0-9]+|0\.[0-9]*[1-9][0-9]*) s!wait # s!')
  if [ "$status" -ne "$expected_status" ] || [ "$printed" != "$wanted" ]; then
    printf 'FAILED: %s %s\nexpected status %d and\n%s\ngot status %d and\n%s\n' \
      "$(basename "$program")" "$*" "$expected_status" "$wanted" "$status" "$printed"
    failed=1
  fi
}

case $(basename "$program") in
blocking)
  expect 0 @/ @/flaky <<'END'
@/
  attempt 1: status 200, success
  status 200, 6 bytes
@/flaky
  attempt 1: status 503, server_error
  wait 0.000 s
  attempt 2: status 200, success
  status 200, 6 bytes
END
  expect 1 @/busy <<'END'
@/busy
  attempt 1: status 503, server_error
  wait 0.000 s
  attempt 2: status 503, server_error
  wait 0.000 s
  attempt 3: status 503, server_error
  wait 0.000 s
  attempt 4: status 503, server_error
  wait 0.000 s
  attempt 5: status 503, attempts_exhausted
  status 503, 5 bytes
END
  expect 1 ftp://127.0.0.1/ <<'END'
blocking: invalid argument: request.url: has a scheme other than http and https
END
  expect 2 <<'END'
usage: blocking URL...
END
  ;;
many | event_loop | libuv)
  order=sort # of calls that run at once, any may end first
  expect 0 @/ @/flaky @/ <<'END'
@/: status 200, attempts: 1
@/: status 200, attempts: 1
@/flaky: status 200, attempts: 2
END
  expect 1 @/busy <<'END'
@/busy: status 503, attempts: 5
END
  expect 2 <<END
usage: $(basename "$program") URL...
END
  ;;
own_transport)
  expect 0 @/flaky <<'END'
attempt 1: response, retry, server_error, wait 0.000 s
attempt 2: response, succeed, success, wait 0.000 s
END
  expect 1 @/missing <<'END'
attempt 1: response, stop, not_retryable, wait 0.000 s
END
  expect 1 ftp:/ <<'END'
own_transport: URL using bad/illegal format or missing URL
END
  ;;
stream)
  expect 0 @/flaky <<'END'
status 200
Content-Type: text/plain
Content-Length: 6

hello
END
  expect 1 @/missing <<'END'
stream: status 404
END
  expect 2 <<'END'
usage: stream URL
END
  ;;
client_credentials)
  CLIENT_SECRET='s e+c%ret'
  export CLIENT_SECRET
  expect 0 @/token me 7 <<'END'
a token of 6 bytes, for 3600 s
END
  expect 1 @/missing me 7 <<'END'
client_credentials: the token provider failed: the provider failed (calls: 1): status 404
END
  expect 1 http://example.com/ me 7 <<'END'
client_credentials: invalid argument: options.url: would send the secrets over plain http to another machine or a proxy; set allow_insecure to allow this
END
  expect 2 @/token <<'END'
usage: CLIENT_SECRET=... client_credentials URL CLIENT_ID ENTERPRISE_ID
END
  ;;
*)
  echo "FAILED: there is no example $(basename "$program")"
  failed=1
  ;;
esac
exit $failed
