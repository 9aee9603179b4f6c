/* boxretry fetch: sends a request, and shows what becomes of it. */
#include "fetch.h"

#include <stdlib.h>

/* Exit codes of this command; those of all commands are in tool.h. */
enum {
  FETCH_STATUS = 4,
  FETCH_EXCEPTION = 5,
  FETCH_TIMEOUT = 6,
  FETCH_DEADLINE = 7,
  FETCH_TOKEN = 8,
  FETCH_LOCAL = 9,
  FETCH_SIGNAL = 128 /* plus the signal's number, as in shells */
};

/* --- The result --- */

static bool is_success(const fetch_result *result) {
  const int32_t status = boxretry_response_status(result->response);
  return result->error == BOXRETRY_OK && result->stdout_errno == 0 && status >= 200 && status < 400 &&
         !(status >= 300 && fetch_is_unfollowed(result->response));
}

static int exit_code_of(const fetch_result *result) {
  if (result->stdout_errno != 0) return TOOL_FAILED;
  if (result->token_error != BOXRETRY_OK) return FETCH_TOKEN;
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

/* Prints the result, and answers the exit code. */
static int show(const fetch_query *query, fetch_result *result) {
  if (is_success(result) && boxretry_response_body_is_cut_off(result->response)) {
    result->error = BOXRETRY_ERROR_RESPONSE_TOO_LARGE;
  }
  const bool succeeded = is_success(result);
  if (!succeeded && (!query->is_silent || query->shows_error)) fetch_print_failure(result);
  if (query->as_json) {
    fetch_print_json(result);
  } else if (result->response && (succeeded || !query->no_body_on_failure)) {
    if (query->with_head) fetch_print_head(result->response);
    if (!query->output) fetch_print_body(result->response);
  }
  return exit_code_of(result);
}

/* --- The command --- */

static int fetch(fetch_query *query) {
  fetch_result result = {0};
  int exit_code = fetch_take_tokens(query, &result);
  if (exit_code == TOOL_GO_ON && result.error == BOXRETRY_OK) exit_code = fetch_call(query, &result);
  if (exit_code == TOOL_GO_ON) exit_code = show(query, &result);
  boxretry_response_free(result.response);
  free(result.detail);
  return exit_code;
}

static int run(int argc, char **argv) {
  fetch_query query;
  int exit_code = fetch_read_options(&query, argc, argv);
  if (exit_code == TOOL_GO_ON) exit_code = fetch(&query);
  fetch_query_free(&query);
  return exit_code;
}

const tool_command fetch_command = {
    .name = "fetch",
    .summary = "send a request, with the documented retries and timeouts",
    .details = fetch_details,
    .run = run,
};
