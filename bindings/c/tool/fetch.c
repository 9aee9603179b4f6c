/* boxretry fetch: sends requests and shows the results. */
#define _POSIX_C_SOURCE 200809L

#include "fetch.h"
#include "output.h"
#include "write_out.h"

#include <stdlib.h>

/* Exit codes of this command; those shared by all commands are in tool.h. */
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

/* Prints on stderr why a call failed, with its URL if there are several. */
static void say_failure(const fetch_job *job) {
  char buffer[QUOTED_SIZE];
  flockfile(stderr); /* another call's events may be printed at the same time */
  fputs("boxretry fetch: ", stderr);
  if (job->query->urls.count > 1) fprintf(stderr, "%s: ", public_part(buffer, job->url));
  fetch_print_failure(stderr, &job->result);
  fputc('\n', stderr);
  funlockfile(stderr);
}

int fetch_show(fetch_job *job) {
  const fetch_query *query = job->query;
  fetch_result *result = &job->result;
  if (is_success(result) && boxretry_response_body_is_cut_off(result->response)) {
    result->error = BOXRETRY_ERROR_RESPONSE_TOO_LARGE;
  }
  const bool succeeded = is_success(result);
  const int exit_code = exit_code_of(result);
  if (!succeeded && (!query->is_silent || query->shows_error)) say_failure(job);
  if (query->as_json) {
    fetch_print_json(job);
  } else if (result->response && (succeeded || !query->no_body_on_failure)) {
    if (query->with_head) fetch_print_head(result->response);
    if (!job->output) fetch_print_body(result->response);
  }
  if (query->write_out) write_out(query->write_out, job, exit_code);
  output_check();
  return exit_code;
}

/* --- The command --- */

/* The token source could not be created: each call ends with this error. */
static int show_no_tokens(fetch_query *query, boxretry_error error) {
  int exit_code = TOOL_OK;
  for (size_t i = 1; i <= query->urls.count; i++) {
    fetch_job job;
    int result = fetch_job_init(&job, query, i);
    job.result.error = error;
    if (result == TOOL_GO_ON) result = fetch_show(&job);
    fetch_job_free(&job);
    if (exit_code == TOOL_OK) exit_code = result;
  }
  return exit_code;
}

static int fetch(fetch_query *query) {
  fetch_result result = {0};
  int exit_code = fetch_take_tokens(query, &result);
  if (exit_code != TOOL_GO_ON) return exit_code;
  if (query->is_insecure && !query->is_silent) {
    fputs("boxretry fetch: warning: --insecure: certificates are not verified, so anyone on the network can read and "
          "change all data\n",
          stderr);
  }
  return result.error == BOXRETRY_OK ? fetch_run(query) : show_no_tokens(query, result.error);
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
    .summary = "send requests, with the documented retries and timeouts",
    .details = fetch_details,
    .basics = fetch_basics,
    .run = run,
};
