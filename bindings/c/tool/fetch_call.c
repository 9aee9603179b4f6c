/* boxretry fetch: the call itself. */
#define _POSIX_C_SOURCE 200809L

#include "fetch.h"
#include "interrupt.h"
#include "output_file.h"

#include <errno.h>
#include <unistd.h>

static boxretry_error make_client(const fetch_query *query, const boxretry_strategy *strategy, fetch_progress *progress,
                                  boxretry_client **out) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  options.strategy = strategy;
  options.timeouts = &query->timeouts;
  options.deadline_ms = query->deadline_ms;
  options.body_limit = (size_t)query->body_limit;
  options.user_agent = query->user_agent;
  options.ca_file = query->ca_file;
  options.proxy = query->proxy;
  if (query->proxy) options.proxy_mode = BOXRETRY_PROXY_GIVEN;
  if (query->no_proxy) options.proxy_mode = BOXRETRY_PROXY_NONE;
  if (!query->is_silent && (query->is_verbose || isatty(STDERR_FILENO))) {
    options.on_event = fetch_show_event;
    options.on_event_context = progress;
  }
  return boxretry_client_new(&options, out);
}

static boxretry_error perform(const fetch_query *query, boxretry_client *client, boxretry_cancel *cancel,
                              boxretry_response **out) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  request.method = query->method;
  request.url = query->url;
  request.headers = query->headers.items;
  request.header_count = query->headers.count;
  request.body = query->data.bytes;
  request.body_length = query->data.length;
  request.cancel = cancel;
  return boxretry_client_perform(client, &request, out);
}

void fetch_note_output_failure(fetch_result *result) {
  result->output_errno = errno;
  result->error = BOXRETRY_ERROR_SETTING;
}

int fetch_call(const fetch_query *query, fetch_result *result, interrupt *interrupt) {
  fetch_progress progress = {0};
  boxretry_strategy *strategy = NULL;
  boxretry_client *client = NULL;
  boxretry_cancel *cancel = NULL;
  if (query->output && !output_file_is_possible(query->output)) {
    fetch_note_output_failure(result);
    return TOOL_GO_ON;
  }
  boxretry_error error = boxretry_strategy_new(&query->retries, &strategy);
  if (error == BOXRETRY_OK) error = make_client(query, strategy, &progress, &client);
  if (error == BOXRETRY_OK) error = boxretry_cancel_new(&cancel);
  if (error == BOXRETRY_OK) {
    interrupt_begin(interrupt, cancel);
    error = perform(query, client, cancel, &result->response);
    result->signal_number = interrupt_end(interrupt);
  }
  /* Said now: what the library has to say of an error is gone with the next call of it. */
  int exit_code = error == BOXRETRY_ERROR_INVALID_ARGUMENT ? library_error(&fetch_command, error) : TOOL_GO_ON;
  result->error = result->response ? boxretry_response_error(result->response) : error;
  boxretry_strategy_free(strategy);
  boxretry_client_free(client);
  boxretry_cancel_free(cancel);
  return exit_code;
}
