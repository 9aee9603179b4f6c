/* boxretry fetch: the second part of its help. */
#include "fetch.h"

const basic_option fetch_basics[] = {
    {"data", "body, or @FILE; makes a POST"},
    {"form", "form field: 'name=text' or 'name=@FILE'"},
    {"header", "header line, 'Name: value'"},
    {"insecure", "accept any certificate"},
    {"json", "print the result as one line of JSON"},
    {"max-time", "maximum time for the call"},
    {"output", "write the body to FILE"},
    {"parallel", "fetch several URLs in parallel"},
    {"remote-name", "write the body to a file named as in the URL"},
    {"request", "method (default GET)"},
    {"retry", "at most N retries"},
    {"token-file", "read the access token from FILE"},
    {"upload-file", "upload FILE by PUT"},
    {"user", "user and password, 'USER:PASSWORD'"},
    {"verbose", "print the table of attempts"},
    {"write-out", "print FORMAT afterwards, with %{variables}"},
    {NULL, NULL},
};

const char *const fetch_details[] = {
    "Examples:\n"
    "  boxretry fetch https://example.com/\n"
    "  boxretry fetch -d @x -H 'Content-Type: application/json' https://example.com\n"
    "  boxretry fetch -d @page.txt -H 'Content-Type: text/plain' https://example.com/\n"
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
    "If stderr is a terminal, a table of the attempts and of the waits for access\n"
    "tokens grows there during the call; with -o and -T a bar shows how much of a\n"
    "body was transferred.\n"
    "\n"
    "Several URLs are fetched one after another, or in parallel with -Z, over the\n"
    "same connections. The exit code is that of the first call that failed.\n"
    "\n"
    "The output file appears only if the call succeeded and the body is complete.\n"
    "Data for stdout, or for a pipe given by -o, is written as it arrives; if it\n"
    "breaks off, the call is not retried (sink_cannot_restart). Only the body of a\n"
    "2xx response goes to the output file; without -o, any body is printed.\n"
    "\n",
    "Differences from curl:\n"
    "  Redirects are followed by default (--no-location turns this off).\n"
    "  A status from 400 on is an error: exit code 4, also without -f.\n"
    "  -o writes the file only after success; an error body is not written to it.\n"
    "  -d @FILE sends the file unchanged, with its newlines.\n"
    "  --json prints the result as JSON; to send JSON, use -d and\n"
    "    -H 'Content-Type: application/json'.\n"
    "  -v prints the table of attempts, not the headers (-i prints those).\n"
    "  --retry N counts retries of every kind; without it the defaults of Box's\n"
    "    strategy apply.\n"
    "\n",
    "Variables, for --write-out, each written as %{name}:\n"
    "  attempts, retries (or num_retries)\n"
    "  http_code (or response_code), http_version, content_type, num_headers\n"
    "  num_redirects, url, url_effective, urlnum, method, filename_effective\n"
    "  size_download, size_upload, speed_download, speed_upload: of the last attempt\n"
    "  time_namelookup, time_connect, time_appconnect, time_starttransfer: seconds\n"
    "              in the last attempt; time_total: of the whole call\n"
    "  exitcode, errormsg\n"
    "  onerror     print the rest only if the call failed\n"
    "  stderr, stdout: print the rest there\n"
    "%header{Name} is a response header, %% a percent sign; \\n, \\r and \\t are\n"
    "escapes.\n"
    "\n",
    "JSON, an object with:\n"
    "  url         the URL, without user and password, if there are several\n"
    "  status      status of the last response; 0 if the call ended without one\n"
    "  error       null if the call ended with a response, else the error's name:\n"
    "              those below, response_too_large, too_many_redirects, setting,\n"
    "              source, sink, exhausted, out_of_memory\n"
    "  token_error name of the error, if the call ended because it got no access\n"
    "              token (exit code 8); otherwise absent\n"
    "  body_bytes  length of the body, or of the part of it that arrived\n"
    "  attempts    one object each, with\n"
    "    number            from 1\n"
    "    exception_number  from 1; 0 if the attempt ended with a response\n"
    "    status            0 if there was no complete response\n"
    "    error             null, or the cause of the network exception\n"
    "    reason            reason for the decision; null if there was none\n"
    "    delay             seconds before the next attempt; 0 if there is none\n"
    "    delay_source      none, backoff, retry_after or retry_after_date\n"
    "    started_ms        since the call began\n"
    "    ended_ms\n"
    "    redirects         number of redirects followed in it\n"
    "    resumed_from      bytes kept from earlier attempts by --resume; else 0\n"
    "    http_version      of the response: 10, 11 or 20; 0 if there was none\n"
    "  redirects   one object for each redirect followed, with\n"
    "    attempt           number of its attempt\n"
    "    status            301, 302, 303, 307 or 308\n"
    "    url               its target\n"
    "\n"
    "Exit codes:\n"
    "  0    the last response is a success or a redirect (200 to 399)\n"
    "  1    stdout could not be written, or out of memory\n"
    "  2    an option, its value or a URL is invalid; nothing was sent, and no JSON\n"
    "       is printed\n"
    "  3    internal error in boxretry\n"
    "  4    the last response has another status, or is a redirect that needs a body\n"
    "       from stdin again\n"
    "  5    network exception: resolve, connect, tls, send, receive or protocol\n"
    "  6    timeout of an attempt: timeout_idle or timeout_resource\n"
    "  7    the deadline passed during an attempt. (If a wait would reach it, the\n"
    "       call ends before the wait, with the result that it has.)\n"
    "  8    no access token: client_token_provider_failed, invalid_client_token or\n"
    "       invalid_client_token_expiration\n"
    "  9    local failure: the response is too large, too many redirects, a CA file,\n"
    "       the output file or the request body cannot be used, or no descriptors\n"
    "       are left\n"
    "  130  canceled by Ctrl-C (SIGINT); 129: by SIGHUP; 131: by SIGQUIT;\n"
    "       143: by SIGTERM\n",
    NULL,
};
