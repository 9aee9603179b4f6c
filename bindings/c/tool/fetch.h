/* boxretry fetch: what is asked for, and what came of it. */
#ifndef BOXRETRY_TOOL_FETCH_H
#define BOXRETRY_TOOL_FETCH_H

#include "options.h"

#include <stdbool.h>
#include <stdio.h>

struct interrupt;

/** What the user asks for. */
typedef struct fetch_query {
  const char *url;
  const char *method;
  header_list headers;
  request_data data;
  const char *output;
  int32_t with_head;
  int32_t no_body_on_failure;
  int32_t as_json;
  int32_t is_silent;
  int32_t is_verbose;
  int32_t preset;
  boxretry_retry_options retries;
  boxretry_timeouts timeouts;
  int64_t deadline_ms;
  int64_t body_limit;
  const char *ca_file;
  const char *proxy;
  const char *no_proxy;
  const char *user_agent;
} fetch_query;

/** What came of a call. */
typedef struct fetch_result {
  boxretry_error error;        /* the response's own; or why there is none, or why it could not be put into its file */
  boxretry_response *response; /* NULL if the call was not started */
  int signal_number;           /* of the signal that cancelled it; 0 */
  int output_errno;            /* why the output file cannot be written; 0 */
} fetch_result;

/**
 * Makes the call. TOOL_GO_ON if there is a result, or the code to exit with. Signals are held back afterwards, until
 * `interrupt` is released.
 */
int fetch_call(const fetch_query *query, fetch_result *result, struct interrupt *interrupt);

/** The call has failed after all: its output file cannot be written, for what errno says. */
void fetch_note_output_failure(fetch_result *result);

/** Prints the result as one line of JSON. */
void fetch_print_json(const fetch_result *result);

/** Prints what was received. `with_head`: status and header lines first. */
void fetch_print_response(FILE *stream, const boxretry_response *response, bool with_head);

/** Says on stderr, in one line, why the call failed. */
void fetch_print_failure(const fetch_result *result);

/** A table on stderr that grows while the call goes on. Starts from zeros. */
typedef struct fetch_progress {
  bool has_title;
  bool is_line_open; /* an attempt is under way, and its number is printed */
  double began_ms;
} fetch_progress;

/** For a client's on_event; `context` is a fetch_progress. */
void fetch_show_event(void *context, const boxretry_event *event);

#endif
