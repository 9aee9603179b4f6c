/* Walks of walks.c: clients, calls, queues and cancel switches. */
#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "walk_model.h"

client_model clients[CLIENTS];
boxretry_queue *queues[QUEUES];
boxretry_cancel *switches[SWITCHES];
bool is_triggered[SWITCHES];
call_model calls[CALLS];
char names[CALLS]; /* what user_pointer points to */
static boxretry_strategy *quick;
atomic_int callbacks_due, callbacks_run;
atomic_bool has_run[CALLS]; /* the callback of the call in that place */

void calls_begin(void) {
  boxretry_retry_options options = BOXRETRY_RETRY_OPTIONS_INIT;
  options.retry_base_interval = 0;
  expect(boxretry_strategy_new(&options, &quick), BOXRETRY_OK);
}

/* --- Clients --- */

static void decide(void *context, const boxretry_outcome *outcome, int32_t attempt_number, int32_t *action) {
  (void)context;
  *action = outcome->status >= 500 && attempt_number < 3 ? BOXRETRY_ACTION_RETRY : BOXRETRY_ACTION_STOP;
}

static boxretry_strategy *custom_strategy(void) {
  boxretry_strategy_callbacks callbacks = BOXRETRY_STRATEGY_CALLBACKS_INIT;
  boxretry_strategy *strategy;
  callbacks.should_retry = decide;
  callbacks.context_free = free_context;
  expect(boxretry_strategy_new_custom(&callbacks, &strategy), BOXRETRY_OK);
  atomic_fetch_add(&contexts_given, 1);
  return strategy;
}

static void make_client(client_model *it) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_strategy *custom = pick(3) == 0 ? custom_strategy() : NULL;
  options.strategy = custom ? custom : quick;
  options.proxy_mode = BOXRETRY_PROXY_NONE;
  options.max_transfers = pick(2) ? 2 : 0;
  options.max_transfers_per_host = pick(3) == 0 ? 1 : 0;
  /* The server's Retry-After is 0: the gate closes, and opens one by one. */
  options.share_retry_after = it == &clients[1] ? BOXRETRY_SWITCH_ON : BOXRETRY_SWITCH_DEFAULT;
  options.token_source = pick(3) == 0 ? some_token_source() : NULL;
  if (pick(2)) options.preset = BOXRETRY_PRESET_JANUARY;
  *it = (client_model){.has_tokens = options.token_source != NULL};
  expect(boxretry_client_new(&options, &it->handle), BOXRETRY_OK);
  boxretry_strategy_free(custom);
}

static void cancel_calls_of(int client) {
  for (int i = 0; i < CALLS; i++)
    if (calls[i].is_used && calls[i].client == client) calls[i].may_be_cancelled = true;
}

static void check_stats(const client_model *it, bool all_have_ended) {
  boxretry_client_stats stats = BOXRETRY_CLIENT_STATS_INIT;
  expect(boxretry_client_get_stats(it->handle, &stats), BOXRETRY_OK);
  REQUIRE(stats.calls_started == it->started);
  REQUIRE(all_have_ended ? stats.calls_ended == it->started : stats.calls_ended <= it->started);
}

static void close_client(int number) {
  client_model *it = &clients[number];
  cancel_calls_of(number);
  it->is_closed = true;
  expect(boxretry_client_close(it->handle, BOXRETRY_NO_TIMEOUT), BOXRETRY_OK);
  check_stats(it, true);
  for (int i = 0; i < CALLS; i++)
    if (calls[i].is_used && calls[i].client == number && calls[i].handle)
      expect(boxretry_call_wait(calls[i].handle, 0), BOXRETRY_OK);
}

static void free_client(int number) {
  cancel_calls_of(number);
  boxretry_client_free(clients[number].handle);
  clients[number] = (client_model){NULL, 0, false, false};
  /* The calls are without a client: another one may come to this place. */
  for (int i = 0; i < CALLS; i++)
    if (calls[i].is_used && calls[i].client == number) calls[i].client = -1;
}

static void client_step(int number) {
  client_model *it = &clients[number];
  if (!it->handle) {
    make_client(it);
    return;
  }
  switch (pick(6)) {
  case 0:
    free_client(number);
    return;
  case 1:
    close_client(number);
    return;
  default:
    check_stats(it, false);
  }
}

/* --- Calls --- */

static void free_call(call_model *call) {
  boxretry_call_free(call->handle);
  call->handle = NULL;
  /* Its callback still comes, and is waited for in the end: until then its place stays. */
  if (call->delivery != TO_CALLBACK) call->is_used = false;
}

static void take_response(call_model *call, bool has_ended) {
  boxretry_response *response = boxretry_call_take_response(call->handle);
  if (call->has_response) REQUIRE(!response);
  if (has_ended && !call->has_response) REQUIRE(response);
  if (!response) return;
  call->has_response = true;
  expect(boxretry_call_wait(call->handle, 0), BOXRETRY_OK);
  check_response(call, response);
}

static void call_step(call_model *call) {
  const int place = (int)(call - calls);
  if (!call->handle) {
    const bool has_callback = call->delivery == TO_CALLBACK || call->delivery == TO_CALLBACK_UNOWNED;
    if (has_callback && atomic_load(&has_run[place])) call->is_used = false;
    return;
  }
  REQUIRE(boxretry_call_user_pointer(call->handle) == &names[place]);
  switch (pick(7)) {
  case 0:
    free_call(call);
    return;
  case 1:
    call->may_be_cancelled = true;
    boxretry_call_cancel(call->handle);
    return;
  case 2:
    boxretry_call_resume(call->handle);
    return;
  case 3:
    take_response(call, false);
    return;
  case 4:
    /* Others may stand behind one that never ends, or wait for a token of a clock that stands still. */
    if (!call->may_be_cancelled && !call->has_deadline) return;
    expect(boxretry_call_wait(call->handle, BOXRETRY_NO_TIMEOUT), BOXRETRY_OK);
    take_response(call, true);
    return;
  default: {
    const boxretry_error error = boxretry_call_wait(call->handle, pick(3));
    REQUIRE(error == BOXRETRY_OK || error == BOXRETRY_ERROR_WAIT_TIMEOUT);
    if (error == BOXRETRY_OK) take_response(call, true);
  }
  }
}

/* --- Queues and switches --- */

static void take_from_queue(int number, int64_t timeout_ms) {
  boxretry_call *taken[8];
  const size_t count = boxretry_queue_take(queues[number], taken, 1 + pick(8), timeout_ms);
  REQUIRE(count <= 8);
  for (size_t i = 0; i < count; i++) {
    const char *name = boxretry_call_user_pointer(taken[i]);
    call_model *call = &calls[name - names];
    REQUIRE(call->is_used && call->queue == number && !call->is_taken); /* once, and not when it has been freed */
    REQUIRE(call->delivery == TO_QUEUE ? call->handle == taken[i] : !call->handle);
    call->is_taken = true;
    call->handle = taken[i];
    expect(boxretry_call_wait(call->handle, 0), BOXRETRY_OK);
    take_response(call, true);
  }
}

static void free_queue(int number) {
  boxretry_queue_free(queues[number]);
  queues[number] = NULL;
  for (int i = 0; i < CALLS; i++) {
    if (!calls[i].is_used || calls[i].queue != number) continue;
    calls[i].queue = -1;
    if (!calls[i].handle) calls[i].is_used = false; /* only the queue knew of it */
  }
}

static void queue_step(int number) {
  if (!queues[number]) return;
  if (pick(8) == 0) {
    free_queue(number);
    return;
  }
  REQUIRE(boxretry_queue_fd(queues[number]) >= 0);
  take_from_queue(number, pick(2) ? 0 : 1);
}

static void switch_step(int number) {
  if (!switches[number]) {
    is_triggered[number] = false;
    expect(boxretry_cancel_new(&switches[number]), BOXRETRY_OK);
    return;
  }
  const bool frees = pick(2);
  if (frees) boxretry_cancel_free(switches[number]);
  if (!frees) {
    is_triggered[number] = true;
    boxretry_cancel_trigger(switches[number]);
  } else {
    switches[number] = NULL;
  }
  for (int i = 0; i < CALLS; i++) {
    if (!calls[i].is_used || calls[i].cancel != number) continue;
    if (frees) {
      calls[i].cancel = -1;
    } else {
      calls[i].may_be_cancelled = true;
    }
  }
}

/* --- Steps and the end --- */

void calls_step(void) {
  const int client = (int)pick(CLIENTS), place = (int)pick(CALLS);
  switch (pick(12)) {
  case 0:
    client_step(client);
    return;
  case 1:
    queue_step((int)pick(QUEUES));
    return;
  case 2:
    switch_step((int)pick(SWITCHES));
    return;
  case 3:
    if (clients[client].handle && !clients[client].has_tokens) perform(client);
    return;
  case 4:
  case 5:
  case 6:
  case 7:
    if (clients[client].handle && !calls[place].is_used) submit(client, place);
    return;
  default:
    if (calls[place].is_used) call_step(&calls[place]);
  }
}

void calls_in_child(void) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  char url[128];
  boxretry_request request = make_request(0, url);
  boxretry_response *response;
  for (int i = 0; i < CLIENTS; i++) {
    if (!clients[i].handle) continue;
    expect(boxretry_client_perform(clients[i].handle, &request, &response), BOXRETRY_ERROR_FORKED);
    expect(boxretry_client_close(clients[i].handle, BOXRETRY_NO_TIMEOUT), BOXRETRY_ERROR_FORKED);
    boxretry_client_free(clients[i].handle);
  }
  for (int i = 0; i < CALLS; i++) {
    if (!calls[i].is_used || !calls[i].handle) continue;
    expect(boxretry_call_wait(calls[i].handle, BOXRETRY_NO_TIMEOUT), BOXRETRY_ERROR_FORKED);
    REQUIRE(!boxretry_call_take_response(calls[i].handle));
    boxretry_call_cancel(calls[i].handle);
    boxretry_call_free(calls[i].handle);
  }
  for (int i = 0; i < QUEUES; i++) {
    boxretry_call *taken;
    REQUIRE(!queues[i] || boxretry_queue_take(queues[i], &taken, 1, BOXRETRY_NO_TIMEOUT) == 0);
    boxretry_queue_free(queues[i]);
  }
  for (int i = 0; i < SWITCHES; i++) {
    boxretry_cancel_trigger(switches[i]);
    boxretry_cancel_free(switches[i]);
  }
  boxretry_client *client;
  options.proxy_mode = BOXRETRY_PROXY_NONE;
  expect(boxretry_client_new(&options, &client), BOXRETRY_OK);
  expect(boxretry_client_perform(client, &request, &response), BOXRETRY_OK);
  const call_model call = {.path = 0};
  check_response(&call, response);
  boxretry_client_free(client);
}

void calls_end(void) {
  /* Clients, queues, switches and calls, from a random one on. */
  const unsigned first = pick(4);
  for (unsigned kind = first; kind < first + 4; kind++) {
    for (int i = 0; kind % 4 == 0 && i < CLIENTS; i++)
      if (clients[i].handle) free_client(i);
    for (int i = 0; kind % 4 == 1 && i < QUEUES; i++)
      if (queues[i]) free_queue(i);
    for (int i = 0; kind % 4 == 2 && i < SWITCHES; i++) {
      boxretry_cancel_free(switches[i]);
      switches[i] = NULL;
    }
    for (int i = 0; kind % 4 == 3 && i < CALLS; i++)
      if (calls[i].is_used && calls[i].handle) free_call(&calls[i]);
  }
  boxretry_strategy_free(quick);
  wait_until(&callbacks_run, atomic_load(&callbacks_due));
  memset(calls, 0, sizeof calls);
}
