/* boxretry fetch: sends a request, and shows what becomes of it. */
#define _POSIX_C_SOURCE 200809L

#include "fetch.h"
#include "interrupt.h"
#include "output_file.h"

#include <string.h>
#include <strings.h>

/* Exit codes of this command; those of all commands are in tool.h. */
enum {
  FETCH_STATUS = 4,
  FETCH_EXCEPTION = 5,
  FETCH_TIMEOUT = 6,
  FETCH_DEADLINE = 7,
  FETCH_LOCAL = 9,
  FETCH_SIGNAL = 128 /* plus the signal's number, as in shells */
};

enum { PRESET_BOX, PRESET_JANUARY };
static const char *const preset_names[] = {[PRESET_BOX] = "box", [PRESET_JANUARY] = "january", NULL};

/* A count that nobody asks for: the preset decides. */
static const int32_t not_given = -1999999999;

static bool has_header(const header_list *list, const char *name) {
  for (size_t i = 0; i < list->count; i++) {
    if (strcasecmp(list->items[i].name, name) == 0) return true;
  }
  return false;
}

/* Fills in what the user has left open. TOOL_GO_ON, or the code to exit with. */
static int complete_query(fetch_query *query) {
  static const boxretry_retry_options box = BOXRETRY_RETRY_OPTIONS_INIT;
  const bool has_retries = query->preset == PRESET_BOX;
  boxretry_retry_options *retries = &query->retries;
  if (retries->max_attempts == not_given) retries->max_attempts = has_retries ? box.max_attempts : 0;
  if (retries->max_retries_on_exception == not_given) {
    retries->max_retries_on_exception = has_retries ? box.max_retries_on_exception : 0;
  }
  if (query->no_proxy && strcmp(query->no_proxy, "*") != 0) {
    char buffer[QUOTED_SIZE];
    return usage_error(&fetch_command, "--noproxy: '%s' is not '*', which stands for all hosts",
                       quoted(buffer, query->no_proxy));
  }
  if (query->output && strcmp(query->output, "-") == 0) query->output = NULL;
  if (!query->data.is_given) return TOOL_GO_ON;
  if (!query->method) query->method = "POST";
  if (has_header(&query->headers, "Content-Type")) return TOOL_GO_ON;
  bool ok = header_list_add(&query->headers, strdup("Content-Type"), strdup("application/x-www-form-urlencoded"));
  return ok ? TOOL_GO_ON : library_error(&fetch_command, BOXRETRY_ERROR_OUT_OF_MEMORY);
}

/* --- The result --- */

static bool is_success(const fetch_result *result) {
  const int32_t status = boxretry_response_status(result->response);
  return result->error == BOXRETRY_OK && status >= 200 && status < 400;
}

static int exit_code_of(const fetch_result *result) {
  switch (result->error) {
  case BOXRETRY_OK:
    return is_success(result) ? TOOL_OK : FETCH_STATUS;
  case BOXRETRY_ERROR_RESOLVE:
  case BOXRETRY_ERROR_CONNECT:
  case BOXRETRY_ERROR_TLS:
  case BOXRETRY_ERROR_SEND:
  case BOXRETRY_ERROR_RECEIVE:
  case BOXRETRY_ERROR_PROTOCOL:
    return FETCH_EXCEPTION;
  case BOXRETRY_ERROR_TIMEOUT_IDLE:
  case BOXRETRY_ERROR_TIMEOUT_RESOURCE:
    return FETCH_TIMEOUT;
  case BOXRETRY_ERROR_DEADLINE:
    return FETCH_DEADLINE;
  case BOXRETRY_ERROR_CANCELLED:
    return FETCH_SIGNAL + result->signal_number;
  case BOXRETRY_ERROR_OUT_OF_MEMORY:
    return TOOL_FAILED;
  default:
    return FETCH_LOCAL;
  }
}

typedef struct received {
  const boxretry_response *response;
  bool with_head;
} received;

static void print_received(FILE *stream, const void *context) {
  const received *what = context;
  fetch_print_response(stream, what->response, what->with_head);
}

/* Puts the response into the output file. Signals are held back until `interrupt` is released. */
static void save(const fetch_query *query, fetch_result *result, interrupt *interrupt) {
  const received what = {result->response, query->with_head};
  /* A file is finished even if Ctrl-C comes now; a pipe may never take it all. */
  if (!output_file_is_ordinary(query->output)) interrupt_release(interrupt);
  if (!output_file_write(query->output, print_received, &what)) fetch_note_output_failure(result);
}

/* Puts the result where it belongs, and answers the exit code. */
static int deliver(const fetch_query *query, fetch_result *result, interrupt *interrupt) {
  if (is_success(result) && boxretry_response_body_is_cut_off(result->response)) {
    result->error = BOXRETRY_ERROR_RESPONSE_TOO_LARGE;
  }
  if (is_success(result) && query->output) save(query, result, interrupt);
  interrupt_release(interrupt);

  const bool succeeded = is_success(result);
  if (!succeeded && !query->is_silent) fetch_print_failure(result);
  if (query->as_json) {
    fetch_print_json(result);
  } else if (!query->output && result->response && (succeeded || !query->no_body_on_failure)) {
    const received what = {result->response, query->with_head};
    print_received(stdout, &what);
  }
  return exit_code_of(result);
}

/* --- The command --- */

static int fetch(const fetch_query *query) {
  fetch_result result = {BOXRETRY_OK, NULL, 0, 0};
  interrupt interrupt = {0};
  int exit_code = fetch_call(query, &result, &interrupt);
  if (exit_code == TOOL_GO_ON) exit_code = deliver(query, &result, &interrupt);
  boxretry_response_free(result.response);
  return exit_code;
}

static int run(int argc, char **argv) {
  fetch_query query = {
      .retries = BOXRETRY_RETRY_OPTIONS_INIT,
      .timeouts = BOXRETRY_TIMEOUTS_INIT,
      .deadline_ms = BOXRETRY_NO_TIMEOUT,
  };
  query.retries.max_attempts = not_given;
  query.retries.max_retries_on_exception = not_given;
  const tool_option table[] = {
      OPERAND("URL", &query.url),
      TEXT('X', "request", "METHOD", &query.method, "method (default GET, and POST if there is a body)"),
      HEADERS('H', "header", &query.headers, "header line, 'Name: value'; may be given again"),
      DATA('d', "data", &query.data,
           "body, or @FILE: what is in it, as it is (@-: stdin). Given again, it is added after a '&'"),
      TEXT('A', "user-agent", "TEXT", &query.user_agent, "User-Agent (default boxretry/ and the version)"),
      TEXT('o', "output", "FILE", &query.output, "where the body of a success goes, instead of to stdout"),
      FLAG('i', "include", &query.with_head, "status and header lines before the body"),
      FLAG('f', "fail", &query.no_body_on_failure, "no body on stdout if the call fails"),
      FLAG(0, "json", &query.as_json, "one line of JSON on stdout, and no body"),
      FLAG('v', "verbose", &query.is_verbose, "the table of attempts on stderr, also if that is no terminal"),
      FLAG('s', "silent", &query.is_silent, "nothing on stderr but what is wrong with the options"),
      CHOICE("preset", "NAME", &query.preset, preset_names,
             "box (default), or january: no retries but those that are asked for by the options below"),
      BACKOFF_OPTIONS(&query.retries),
      BEYOND_OPTIONS(&query.retries),
      LIMIT("timeout-interval-for-request-ms", &query.timeouts.timeout_interval_for_request_ms,
            "longest time of an attempt with nothing moving (default 60000), or none"),
      LIMIT("timeout-interval-for-resource-ms", &query.timeouts.timeout_interval_for_resource_ms,
            "longest time of an attempt in all (default 21600000), or none"),
      LIMIT("deadline-ms", &query.deadline_ms, "longest time of the call, with all attempts and waits (default none)"),
      LIMIT("body-limit", &query.body_limit, "largest body of a success, in bytes (default 256 MiB), or none"),
      TEXT(0, "cacert", "FILE", &query.ca_file, "certificates (PEM) to trust instead of the system's"),
      TEXT('x', "proxy", "URL", &query.proxy, "proxy (default: as http_proxy and the like say)"),
      TEXT(0, "noproxy", "HOSTS", &query.no_proxy, "'*': no proxy, whatever --proxy and the environment say"),
  };
  int exit_code = read_options(&fetch_command, table, sizeof table / sizeof table[0], argc, argv);
  if (exit_code == TOOL_GO_ON) exit_code = complete_query(&query);
  if (exit_code == TOOL_GO_ON) exit_code = fetch(&query);
  header_list_free(&query.headers);
  request_data_free(&query.data);
  return exit_code;
}

static const char details[] = "Examples:\n"
                              "  boxretry fetch https://example.com/\n"
                              "  boxretry fetch -d name=value --json https://example.com/form\n"
                              "  boxretry fetch -d @body -H 'Content-Type: text/plain' https://example.com/\n"
                              "  boxretry fetch -o page --deadline-ms 10000 https://example.com/\n"
                              "\n"
                              "If stderr is a terminal, a table of the attempts grows there during the call.\n"
                              "The output file is there only if the call has succeeded, and whole. Redirects\n"
                              "are not followed. Certificates are always checked.\n"
                              "\n"
                              "JSON, an object with:\n"
                              "  status      of the last response; 0: the call ended without one\n"
                              "  error       null if the call ended with a response, else the error's name:\n"
                              "              those below, response_too_large, setting, exhausted, out_of_memory\n"
                              "  body_bytes  length of the body\n"
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
                              "\n"
                              "Exit codes:\n"
                              "  0    the last response is a success or a redirect (200 to 399)\n"
                              "  1    stdout could not be written, or memory could not be had\n"
                              "  2    an option or its value is wrong, or the URL; nothing was sent\n"
                              "  3    a fault in boxretry itself\n"
                              "  4    the last response has any other status\n"
                              "  5    network exception: resolve, connect, tls, send, receive or protocol\n"
                              "  6    timeout of an attempt: timeout_idle or timeout_resource\n"
                              "  7    the deadline has passed during an attempt. (A wait that would reach it is\n"
                              "       not begun: the call ends with what it has, and so does its exit code.)\n"
                              "  9    failure on this machine: the response is too large, a CA file or the\n"
                              "       output file cannot be used, there are no descriptors left\n"
                              "  130  cancelled by Ctrl-C (SIGINT); 143: by SIGTERM\n";

const tool_command fetch_command = {
    .name = "fetch",
    .summary = "send a request, with the documented retries and timeouts",
    .details = details,
    .run = run,
};
