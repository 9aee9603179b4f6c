/* Walks of walks.c: what is sent, and how it may end. */
#include <stdio.h>
#include <string.h>

#include "crew.h"
#include "walk_model.h"

const path paths[PATHS] = {
    {"/", {200}, false, false},           {"/missing", {404}, false, false},  {"/busy", {503}, false, false},
    {"/flaky", {200, 503}, false, false}, {"/broken", {0}, true, false},      {"/moved", {200}, false, false},
    {"/cut", {200}, true, false},         {"/rejected", {401}, false, false}, {"/silent", {0}, false, true}};
/* --- Callbacks of the library --- */

static void on_complete(void *context, boxretry_call *call) {
  atomic_bool *mine = context;
  REQUIRE(boxretry_call_wait(call, 0) == BOXRETRY_ERROR_IN_CALLBACK);
  REQUIRE(!atomic_exchange(mine, true)); /* once */
  atomic_fetch_add(&callbacks_run, 1);
}

static void take_body(void *context, boxretry_call *call, const void *data, size_t length, int32_t *answer) {
  (void)context;
  (void)data;
  (void)length;
  (void)call;
  *answer = BOXRETRY_WRITE_TAKEN;
}

static void restart_body(void *context, int32_t *done) {
  (void)context;
  *done = 1;
}

/* --- Requests --- */

boxretry_request make_request(unsigned path_number, char *url) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  snprintf(url, 128, "%s%s", server, paths[path_number].text);
  request.url = url;
  if (pick(3) == 0) {
    request.method = "PUT";
    request.body = "a body";
    request.body_length = 6;
  }
  return request;
}

/* Whether a call can have ended in this way. */
void check_response(const call_model *call, boxretry_response *response) {
  const path *it = &paths[call->path];
  const boxretry_error error = boxretry_response_error(response), token = boxretry_response_token_error(response);
  const int32_t status = boxretry_response_status(response);
  switch (error) {
  case BOXRETRY_OK:
    REQUIRE(status != 0 && (status == it->statuses[0] || status == it->statuses[1]));
    REQUIRE(token == BOXRETRY_OK || (call->has_tokens && status == 401));
    break;
  case BOXRETRY_ERROR_CANCELLED:
    /* By the provider of its token (T4), or by the caller. */
    REQUIRE(token == BOXRETRY_ERROR_CANCELLED ? call->has_tokens : call->may_be_cancelled);
    break;
  case BOXRETRY_ERROR_DEADLINE:
    REQUIRE(call->has_deadline);
    break;
  case BOXRETRY_ERROR_RECEIVE:
  case BOXRETRY_ERROR_SEND:
    REQUIRE(it->may_break);
    break;
  default:
    if (!call->has_tokens || token != error) fprintf(stderr, "%s: %s\n", it->text, boxretry_error_name(error));
    REQUIRE(call->has_tokens && token == error);
  }
  if (error == BOXRETRY_OK && status == 200 && !call->has_sink) {
    size_t length;
    const void *body = boxretry_response_body(response, &length);
    REQUIRE(length == 6 && memcmp(body, "hello\n", 6) == 0);
  }
  boxretry_response_free(response);
}

void perform(int number) {
  client_model *it = &clients[number];
  char url[128];
  call_model call = {.path = pick(PATHS), .has_tokens = it->has_tokens, .has_deadline = true};
  boxretry_request request = make_request(call.path, url);
  boxretry_response *response;
  request.deadline_ms = 1 + pick(50); /* it may stand behind a call that never ends */
  const boxretry_error error = boxretry_client_perform(it->handle, &request, &response);
  expect(error, it->is_closed ? BOXRETRY_ERROR_CLOSED : BOXRETRY_OK);
  if (error != BOXRETRY_OK) return;
  it->started++;
  check_response(&call, response);
}

void submit(int number, int place) {
  client_model *it = &clients[number];
  call_model *call = &calls[place];
  boxretry_sink sink = BOXRETRY_SINK_INIT;
  char url[128];
  *call = (call_model){.is_used = true, .delivery = pick(DELIVERIES), .client = number, .queue = -1, .cancel = -1};
  call->path = pick(PATHS);
  boxretry_request request = make_request(call->path, url);
  request.user_pointer = &names[place];
  if (call->delivery == TO_QUEUE || call->delivery == TO_QUEUE_UNOWNED) {
    call->queue = (int)pick(QUEUES);
    if (!queues[call->queue]) expect(boxretry_queue_new(&queues[call->queue]), BOXRETRY_OK);
    request.queue = queues[call->queue];
  }
  const bool has_callback = call->delivery == TO_CALLBACK || call->delivery == TO_CALLBACK_UNOWNED;
  if (has_callback) {
    request.on_complete = on_complete;
    request.on_complete_context = &has_run[place];
    atomic_store(&has_run[place], false);
  }
  if (pick(4) == 0) {
    call->cancel = (int)pick(SWITCHES);
    if (!switches[call->cancel]) call->cancel = -1;
    if (call->cancel >= 0) request.cancel = switches[call->cancel];
    if (call->cancel >= 0) call->may_be_cancelled = is_triggered[call->cancel];
  }
  if (pick(4) == 0) {
    call->has_sink = true;
    sink.kind = BOXRETRY_SINK_CALLBACK;
    sink.write = take_body;
    sink.restart = restart_body;
    sink.context_free = free_context;
    request.sink = &sink;
  }
  call->has_deadline = pick(8) == 0;
  if (call->has_deadline) request.deadline_ms = 1 + pick(20);
  boxretry_token_source *source = pick(5) == 0 ? some_token_source() : NULL;
  request.token_source = source;
  call->has_tokens = it->has_tokens || source;
  const bool is_unowned = call->delivery == TO_QUEUE_UNOWNED || call->delivery == TO_CALLBACK_UNOWNED;
  if (has_callback) atomic_fetch_add(&callbacks_due, 1);
  if (call->has_sink) atomic_fetch_add(&contexts_given, 1);
  const boxretry_error error = boxretry_client_submit(it->handle, &request, is_unowned ? NULL : &call->handle);
  expect(error, it->is_closed ? BOXRETRY_ERROR_CLOSED : BOXRETRY_OK);
  if (error == BOXRETRY_OK) {
    it->started++;
    return;
  }
  if (has_callback) atomic_fetch_sub(&callbacks_due, 1);
  if (call->has_sink) atomic_fetch_sub(&contexts_given, 1);
  call->is_used = false;
}
