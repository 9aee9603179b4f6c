/* boxretry fetch: the second part of its help. */
#include "fetch.h"

const basic_option fetch_basics[] = {
    {"data", "body, or @FILE; makes a POST"},
    {"form", "field of a form: 'name=text' or 'name=@FILE'"},
    {"header", "header line, 'Name: value'"},
    {"insecure", "accept any certificate"},
    {"json", "print one line of JSON about the call"},
    {"max-time", "longest time of the call in all"},
    {"output", "put the body into this file"},
    {"parallel", "fetch several URLs at the same time"},
    {"remote-name", "put the body into a file named as in the URL"},
    {"request", "method (default GET)"},
    {"retry", "at most N retries"},
    {"token-file", "access token, on the file's first line"},
    {"upload-file", "send this file by PUT"},
    {"user", "user and password, 'USER:PASSWORD'"},
    {"verbose", "print the table of attempts"},
    {"write-out", "print this afterwards, with %{variables}"},
    {NULL, NULL},
};

const char *const fetch_details[] = {
    "Examples:\n"
    "  boxretry fetch https://example.com/\n"
    "  boxretry fetch -d name=value --json https://example.com/form\n"
    "  boxretry fetch -d @body -H 'Content-Type: text/plain' https://example.com/\n"
    "  boxretry fetch -o page --deadline-ms 10000 https://example.com/\n"
    "  boxretry fetch -o large --resume https://example.com/large\n"
    "  boxretry fetch -T large https://example.com/files/large\n"
    "  boxretry fetch -F name=value -F 'photo=@a.jpg' https://example.com/form\n"
    "  boxretry fetch -OO -Z https://example.com/one https://example.com/two\n"
    "  boxretry fetch -G --data-urlencode 'q=a b' https://example.com/search\n"
    "  boxretry fetch -w '%{http_code} %{attempts}\\n' https://example.com/\n"
    "  boxretry fetch --token-file token https://example.com/\n"
    "  boxretry fetch --token-url https://example.com/token\n"
    "    --token-form grant_type=client_credentials --token-form client_id=me\n"
    "    --token-form-env client_secret=SECRET https://example.com/\n"
    "\n"
    "If stderr is a terminal, a table of the attempts, and of the waits for access\n"
    "tokens, grows there during the call; with -o and -T a bar in it shows how\n"
    "much of a body has been transferred.\n"
    "\n"
    "Several URLs are fetched one after another, or with -Z at the same time, over\n"
    "the same connections. The exit code is that of the first that failed.\n"
    "\n"
    "The output file is there only if the call has succeeded, and whole. What goes to\n"
    "stdout, or with -o to a pipe, goes there as it comes: if it breaks off, there is\n"
    "no retry (sink_cannot_restart). Only the body of a 2xx response is put into the\n"
    "output file; any other is printed on stdout if there is no -o.\n"
    "\n",
    "Variables of --write-out, each as %{name}; %header{Name} is that header of the\n"
    "response, %% a percent sign; \\n, \\r and \\t are escapes:\n"
    "  attempts, retries (or num_retries)\n"
    "  http_code (or response_code), http_version, content_type, num_headers\n"
    "  num_redirects, url, url_effective, urlnum, method, filename_effective\n"
    "  size_download, size_upload, speed_download, speed_upload: of the last attempt\n"
    "  time_namelookup, time_connect, time_appconnect, time_starttransfer: seconds\n"
    "              in the last sending; time_total: of the whole call\n"
    "  exitcode, errormsg\n"
    "  onerror     what follows is printed only if the call has failed\n"
    "  stderr, stdout: where all that follows is printed\n"
    "\n",
    "JSON, an object with:\n"
    "  url         as it was given, if there are several\n"
    "  status      of the last response; 0: the call ended without one\n"
    "  error       null if the call ended with a response, else the error's name:\n"
    "              those below, response_too_large, too_many_redirects, setting,\n"
    "              source, sink, exhausted, out_of_memory\n"
    "  token_error only if there was no access token, and the call has ended because\n"
    "              of that (exit code 8): the error's name\n"
    "  body_bytes  length of the body, or of the part of it that came\n"
    "  attempts    one object each, with\n"
    "    number            from 1\n"
    "    exception_number  from 1; 0 if the attempt ended in a response\n"
    "    status            0: there was no response, or not all of it\n"
    "    error             null, or the cause of the network exception\n"
    "    reason            of what was decided; null if nothing was\n"
    "    delay             seconds before the next attempt; 0 if there is none\n"
    "    delay_source      none, backoff, retry_after or retry_after_date\n"
    "    started_ms        since the call began\n"
    "    ended_ms\n"
    "    redirects         that were followed within it\n"
    "    resumed_from      bytes that a resumed download had before, and kept; else 0\n"
    "    http_version      of the response: 10, 11 or 20; 0: there was none\n"
    "  redirects   one object for each that was followed, with\n"
    "    attempt           the number of its attempt\n"
    "    status            301, 302, 303, 307 or 308\n"
    "    url               where it led\n"
    "\n"
    "Exit codes:\n"
    "  0    the last response is a success or a redirect (200 to 399)\n"
    "  1    stdout could not be written, or out of memory\n"
    "  2    an option or its value is wrong, or the URL; nothing was sent,\n"
    "       and there is no line of JSON\n"
    "  3    a fault in boxretry itself\n"
    "  4    the last response has any other status, or is a redirect that asks for\n"
    "       the body again, which cannot be sent again (from stdin)\n"
    "  5    network exception: resolve, connect, tls, send, receive or protocol\n"
    "  6    timeout of an attempt: timeout_idle or timeout_resource\n"
    "  7    the deadline has passed during an attempt. (A wait that would reach it is\n"
    "       not begun: the call ends with what it has, and so does its exit code.)\n"
    "  8    could not get an access token: client_token_provider_failed,\n"
    "       invalid_client_token or invalid_client_token_expiration\n"
    "  9    failure on this machine: the response is too large, there were too many\n"
    "       redirects, a CA file, the output file or what is to be sent cannot be\n"
    "       used, there are no descriptors left\n"
    "  130  canceled by Ctrl-C (SIGINT); 129: by SIGHUP; 131: by SIGQUIT;\n"
    "       143: by SIGTERM\n",
    NULL,
};
