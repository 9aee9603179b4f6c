/* boxretry fetch: one call, and the session that all calls share. */
#define _POSIX_C_SOURCE 200809L

#include "fetch_transfer.h"
#include "output_file.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int32_t fetch_proxy_mode(const fetch_query *query) {
  if (query->no_proxy) return BOXRETRY_PROXY_NONE;
  return query->proxy ? BOXRETRY_PROXY_GIVEN : BOXRETRY_PROXY_ENVIRONMENT;
}

/* --- The session --- */

/* Runs on the loop's thread. */
static void show_event(void *context, const boxretry_event *event) {
  (void)context;
  fetch_call *call = event->user_pointer;
  if (!call->progress) return; /* called from fetch_calls_check() */
  flockfile(stderr);           /* in parallel runs, another thread may be printing a failure */
  fetch_show_event(call->progress, event);
  funlockfile(stderr);
}

static boxretry_error make_client(const fetch_query *query, bool shows_table, boxretry_client **out) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_strategy *strategy;
  boxretry_error error = boxretry_strategy_new(&query->retries, &strategy); /* also validates the options */
  if (error != BOXRETRY_OK) return error;
  if (query->has_strategy) options.strategy = strategy;
  options.preset = query->preset;
  options.max_total_attempts = query->max_total_attempts;
  options.share_retry_after = query->shares_retry_after ? BOXRETRY_SWITCH_ON : BOXRETRY_SWITCH_DEFAULT;
  options.timeouts = &query->timeouts;
  options.deadline_ms = query->deadline_ms;
  options.connect_timeout_ms = query->connect_timeout_ms;
  options.max_redirects = query->follows_redirects ? query->max_redirects : BOXRETRY_NO_REDIRECTS;
  options.compression = query->is_compressed ? BOXRETRY_SWITCH_ON : BOXRETRY_SWITCH_DEFAULT;
  options.http_version = query->http_version;
  options.user_agent = query->user_agent;
  options.ca_file = query->ca_file;
  options.ca_path = query->ca_path;
  options.tls_verify = query->is_insecure ? BOXRETRY_SWITCH_OFF : BOXRETRY_SWITCH_DEFAULT;
  options.client_certificate = query->certificate_file;
  options.client_key = query->key_file;
  options.client_key_password = query->certificate_password;
  options.unix_socket = query->unix_socket;
  options.proxy = query->no_proxy ? NULL : query->proxy;
  options.proxy_mode = fetch_proxy_mode(query);
  options.token_source = query->token_source;
  options.allow_insecure_token = query->tokens.allows_insecure;
  if (shows_table) options.on_event = show_event;
  error = boxretry_client_new(&options, out);
  boxretry_strategy_free(strategy);
  return error;
}

boxretry_error fetch_session_begin(fetch_session *session, const fetch_query *query) {
  *session = (fetch_session){.query = query};
  session->shows_table = !query->is_silent && (query->is_verbose || isatty(STDERR_FILENO));
  boxretry_error error = make_client(query, session->shows_table, &session->client);
  if (error == BOXRETRY_OK) error = boxretry_queue_new(&session->queue);
  if (error == BOXRETRY_OK) error = boxretry_cancel_new(&session->cancel);
  return error;
}

void fetch_session_end(fetch_session *session) {
  boxretry_client_free(session->client);
  boxretry_queue_free(session->queue);
  boxretry_cancel_free(session->cancel);
}

/* --- A call --- */

static void show_table(fetch_call *it, const fetch_session *session) {
  const bool has_numbers = session->query->is_parallel && session->query->urls.count > 1;
  it->table = (fetch_progress){.is_live = isatty(STDERR_FILENO) && !has_numbers, .has_title = has_numbers};
  if (has_numbers) it->table.number = it->job.number;
  it->progress = session->shows_table ? &it->table : NULL;
}

static void fill_request(const fetch_call *it, const fetch_session *session, boxretry_request *request) {
  const fetch_query *query = session->query;
  request->method = query->method;
  request->url = it->job.url;
  request->headers = query->headers.items;
  request->header_count = query->headers.count;
  request->body_limit = (size_t)query->body_limit;
  request->idempotency_key = query->idempotency_key;
  if (query->without_authorization) request->authorization = BOXRETRY_SWITCH_OFF;
  const bool has_bar = it->progress && it->table.is_live && (it->job.output || query->upload);
  if (has_bar) request->on_progress = fetch_show_bar;
  request->on_progress_context = it->progress;
  request->user_pointer = (void *)it;
  request->queue = session->queue;
  request->cancel = session->cancel;
}

/* Users of curl, where --json takes a value, may pass JSON, which then counts as the URL. */
static bool is_json(const char *text) {
  return *text == '{' || *text == '[';
}

/* The library rejected the request: prints its error detail. */
static int refuse(const fetch_call *it) {
  char buffer[QUOTED_SIZE];
  if (it->job.query->as_json && is_json(it->job.url_given)) {
    return usage_error(&fetch_command,
                       "--json takes no value: it prints the result as JSON; to send JSON, use --data and "
                       "-H 'Content-Type: application/json'");
  }
  if (it->job.query->urls.count == 1) return library_error(&fetch_command, BOXRETRY_ERROR_INVALID_ARGUMENT);
  return usage_error(&fetch_command, "URL %zu ('%s'): %s", it->job.number, public_part(buffer, it->job.url_given),
                     boxretry_last_error_detail());
}

/* Checks one request: a call that is canceled before it starts sends nothing. */
static int check(const fetch_call *it, const fetch_session *session, boxretry_cancel *canceled) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_response *response = NULL;
  fill_request(it, session, &request);
  request.cancel = canceled;
  request.queue = NULL;
  const boxretry_error error = boxretry_client_perform(session->client, &request, &response);
  boxretry_response_free(response);
  return error == BOXRETRY_ERROR_INVALID_ARGUMENT ? refuse(it) : TOOL_GO_ON;
}

int fetch_calls_check(const fetch_call *calls, size_t count, const fetch_session *session) {
  boxretry_cancel *canceled;
  if (boxretry_cancel_new(&canceled) != BOXRETRY_OK) return TOOL_GO_ON; /* the calls themselves report this error */
  boxretry_cancel_trigger(canceled);
  int exit_code = TOOL_GO_ON;
  for (size_t i = 0; i < count && exit_code == TOOL_GO_ON; i++)
    exit_code = check(&calls[i], session, canceled);
  boxretry_cancel_free(canceled);
  return exit_code;
}

int fetch_call_begin(fetch_call *it, fetch_session *session) {
  fetch_result *result = &it->job.result;
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  show_table(it, session);
  it->began = now();
  it->source.descriptor = -1;
  if (it->job.output && !output_file_is_possible(it->job.output)) {
    result->output_errno = errno;
    result->error = BOXRETRY_ERROR_SETTING;
    return TOOL_GO_ON;
  }
  fill_request(it, session, &request);
  int exit_code = fetch_source_begin(&it->source, session->query, &request);
  if (exit_code != TOOL_GO_ON) return exit_code;
  if (!fetch_sink_begin(&it->sink, &it->job, it->progress, &request)) {
    result->error = errno == ENOMEM ? BOXRETRY_ERROR_OUT_OF_MEMORY : BOXRETRY_ERROR_EXHAUSTED;
    return TOOL_GO_ON;
  }
  result->error = boxretry_client_submit(session->client, &request, &it->call);
  if (result->error == BOXRETRY_OK) return TOOL_GO_ON;
  /* Read the detail now: the next call of the library overwrites it. */
  if (result->error == BOXRETRY_ERROR_INVALID_ARGUMENT) return refuse(it);
  result->detail = strdup(boxretry_last_error_detail());
  return TOOL_GO_ON;
}

void fetch_call_end(fetch_call *it, int signal_number) {
  fetch_result *result = &it->job.result;
  if (it->call) {
    result->signal_number = signal_number;
    result->response = boxretry_call_take_response(it->call);
    result->error = boxretry_response_error(result->response);
    if (result->error != BOXRETRY_OK) result->detail = strdup(boxretry_last_error_detail());
    result->token_error = boxretry_response_token_error(result->response);
  }
  result->seconds = now() - it->began;
  fetch_source_end(&it->source);
  fetch_sink_end(&it->sink, &it->job);
  boxretry_call_free(it->call); /* only after its streams have ended, since they may resume it */
}
