/* boxretry fetch: the call itself. */
#define _POSIX_C_SOURCE 200809L

#include "fetch_transfer.h"
#include "interrupt.h"
#include "output_file.h"

#include <errno.h>
#include <unistd.h>

int32_t fetch_proxy_mode(const fetch_query *query) {
  if (query->no_proxy) return BOXRETRY_PROXY_NONE;
  return query->proxy ? BOXRETRY_PROXY_GIVEN : BOXRETRY_PROXY_ENVIRONMENT;
}

static boxretry_error make_client(const fetch_query *query, fetch_progress *progress, boxretry_client **out) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_strategy *strategy;
  boxretry_error error = boxretry_strategy_new(&query->retries, &strategy); /* which looks at the options in any case */
  if (error != BOXRETRY_OK) return error;
  if (query->has_strategy) options.strategy = strategy;
  options.preset = query->preset;
  options.timeouts = &query->timeouts;
  options.deadline_ms = query->deadline_ms;
  options.max_redirects = query->follows_redirects ? query->max_redirects : BOXRETRY_NO_REDIRECTS;
  options.compression = query->is_compressed ? BOXRETRY_SWITCH_ON : BOXRETRY_SWITCH_DEFAULT;
  options.http_version = query->http_version;
  options.user_agent = query->user_agent;
  options.ca_file = query->ca_file;
  options.client_certificate = query->certificate_file;
  options.client_key = query->key_file;
  options.client_key_password = query->certificate_password;
  options.unix_socket = query->unix_socket;
  options.proxy = query->proxy;
  options.proxy_mode = fetch_proxy_mode(query);
  options.token_source = query->token_source;
  options.allow_insecure_token = query->tokens.allows_insecure;
  if (progress) options.on_event = fetch_show_event;
  options.on_event_context = progress;
  error = boxretry_client_new(&options, out);
  boxretry_strategy_free(strategy);
  return error;
}

static void fill_request(const fetch_query *query, fetch_progress *progress, boxretry_request *request) {
  request->method = query->method;
  request->url = query->url;
  request->headers = query->headers.items;
  request->header_count = query->headers.count;
  request->body_limit = (size_t)query->body_limit;
  request->idempotency_key = query->idempotency_key;
  if (query->without_authorization) request->authorization = BOXRETRY_SWITCH_OFF;
  const bool has_bar = progress && progress->is_live && (query->output || query->upload);
  if (has_bar) request->on_progress = fetch_show_bar;
  request->on_progress_context = progress;
}

/* Waits with Ctrl-C in hand. What the library has to say of an error is still there afterwards. */
static boxretry_error send_and_wait(boxretry_client *client, const boxretry_request *request, boxretry_call **call,
                                    fetch_result *result) {
  interrupt interrupt;
  interrupt_begin(&interrupt, request->cancel);
  boxretry_error error = boxretry_client_submit(client, request, call);
  if (error == BOXRETRY_OK) error = boxretry_call_wait(*call, BOXRETRY_NO_TIMEOUT);
  if (error == BOXRETRY_OK) result->response = boxretry_call_take_response(*call);
  result->signal_number = interrupt_end(&interrupt);
  return error;
}

int fetch_call(const fetch_query *query, fetch_result *result) {
  fetch_progress table = {.is_live = isatty(STDERR_FILENO)};
  fetch_progress *progress = !query->is_silent && (query->is_verbose || table.is_live) ? &table : NULL;
  fetch_source source;
  fetch_sink sink;
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_client *client = NULL;
  boxretry_call *call = NULL;
  if (query->output && !output_file_is_possible(query->output)) {
    result->output_errno = errno;
    result->error = BOXRETRY_ERROR_SETTING;
    return TOOL_GO_ON;
  }
  fill_request(query, progress, &request);
  int exit_code = fetch_source_begin(&source, query, &request);
  if (exit_code != TOOL_GO_ON) {
    fetch_source_end(&source);
    return exit_code;
  }
  boxretry_error error = BOXRETRY_OK;
  if (!fetch_sink_begin(&sink, query, progress, &request)) {
    error = errno == ENOMEM ? BOXRETRY_ERROR_OUT_OF_MEMORY : BOXRETRY_ERROR_EXHAUSTED;
  }
  boxretry_cancel *cancel = NULL;
  if (error == BOXRETRY_OK) error = make_client(query, progress, &client);
  if (error == BOXRETRY_OK) error = boxretry_cancel_new(&cancel);
  request.cancel = cancel;
  if (error == BOXRETRY_OK) error = send_and_wait(client, &request, &call, result);
  /* Said now: what the library has to say of an error is gone with the next call of it. */
  if (error == BOXRETRY_ERROR_INVALID_ARGUMENT) exit_code = library_error(&fetch_command, error);
  result->error = result->response ? boxretry_response_error(result->response) : error;
  if (result->response) result->token_error = boxretry_response_token_error(result->response);
  fetch_source_end(&source);
  fetch_sink_end(&sink, query, result);
  boxretry_call_free(call); /* not before its streams have ended, which may want to wake it */
  boxretry_client_free(client);
  boxretry_cancel_free(cancel);
  return exit_code;
}
