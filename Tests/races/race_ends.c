/* Scenarios of races.c: the end of clients and queues, and strategies that decide meanwhile. */
#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "races.h"

/* --- The end of clients and queues --- */

static void submit_four(int number) {
  for (int i = 0; i < 4; i++)
    calls[number * 4 + i] = submit_to(i % 2 ? silent : hello);
}

static void free_or_end(int number) {
  if (number == 4) boxretry_client_free(client);
  for (int i = 0; number < 4 && i < 4; i++)
    end_call(calls[number * 4 + i]);
}

/* K5: given calls of several threads, when the client is freed, then all of them end. */
void free_client_under_calls(void) {
  client = new_client(stop);
  at_once(4, submit_four);
  dawdle();
  at_once(5, free_or_end);
  wait_for(&clients_gone, atomic_load(&clients_made));
}

/* Given a queue with calls in it and on the way to it, when it is freed, then so are those without another owner. */
void free_queue_under_calls(void) {
  boxretry_queue *queue;
  client = new_client(stop);
  ok(boxretry_queue_new(&queue));
  for (int i = 0; i < 8; i++) {
    boxretry_request request = request_to(i == 7 ? silent : hello);
    request.queue = queue;
    ok(boxretry_client_submit(client, &request, i < 2 ? &calls[i] : NULL));
  }
  dawdle();
  boxretry_queue_free(queue);
  end_call(calls[0]);
  boxretry_call_cancel(calls[1]);
  end_call(calls[1]);
  free_client();
}

static void close_or_submit(int number) {
  if (number < 2) {
    dawdle();
    const boxretry_error error = boxretry_client_close(client, rand() % 2);
    REQUIRE(error == BOXRETRY_OK || error == BOXRETRY_ERROR_WAIT_TIMEOUT);
    ok(boxretry_client_close(client, BOXRETRY_NO_TIMEOUT));
    return;
  }
  for (int i = 0; i < 8; i++) {
    boxretry_call **call = &calls[(number - 2) * 8 + i];
    const boxretry_request request = request_to(i % 2 ? silent : hello);
    const boxretry_error error = boxretry_client_submit(client, &request, call);
    REQUIRE(error == BOXRETRY_OK || error == BOXRETRY_ERROR_CLOSED);
    if (error == BOXRETRY_ERROR_CLOSED) *call = NULL;
  }
}

/* K5: given a client in use, when two threads close it, then both see the end of all calls, and there are no new ones. */
void close_under_calls(void) {
  client = new_client(stop);
  at_once(5, close_or_submit);
  const boxretry_request request = request_to(hello);
  boxretry_call *late;
  REQUIRE(boxretry_client_submit(client, &request, &late) == BOXRETRY_ERROR_CLOSED);
  for (int i = 0; i < 24; i++) {
    if (!calls[i]) continue;
    ok(boxretry_call_wait(calls[i], 0));
    end_call(calls[i]);
  }
  free_client();
}

static void slow_ending(void *context, boxretry_call *call) {
  dawdle();
  count_ending(context, call);
}

/* Given calls with callbacks, when the client has been closed, then all of these have returned. */
void close_after_callbacks(void) {
  client = new_client(stop);
  for (int i = 0; i < 4; i++) {
    boxretry_request request = request_to(i % 2 ? silent : hello);
    request.on_complete = slow_ending;
    ok(boxretry_client_submit(client, &request, NULL));
  }
  dawdle();
  ok(boxretry_client_close(client, BOXRETRY_NO_TIMEOUT));
  REQUIRE(atomic_load(&endings) == 4);
  free_client();
}

/* K1: given a call that has ended, when it is canceled, then nothing of it stays behind. */
void cancel_after_end(void) {
  client = new_client(stop);
  calls[0] = submit_to(hello);
  ok(boxretry_call_wait(calls[0], BOXRETRY_NO_TIMEOUT));
  boxretry_call_cancel(calls[0]);
  end_call(calls[0]);
  free_client();
}

/* --- Custom strategies --- */

static atomic_long deciding, may_decide;

static void decide_when_told(void *context, const boxretry_outcome *outcome, int32_t attempt_number, int32_t *action) {
  atomic_fetch_add(&deciding, 1);
  wait_for(&may_decide, 1);
  /* Its call may have been canceled and freed meanwhile. */
  REQUIRE(strcmp(outcome->request->url, busy) == 0 && outcome->request->user_pointer == NULL);
  REQUIRE(outcome->header_count > 0 && strlen(outcome->headers[0].name) > 0);
  *action = outcome->status == 503 && attempt_number < 3 ? BOXRETRY_ACTION_RETRY : BOXRETRY_ACTION_STOP;
  (void)context;
}

static void cancel_or_decide(int number) {
  dawdle();
  if (number == 0) {
    atomic_store(&may_decide, 1);
  } else if (number == 1) {
    boxretry_call_cancel(calls[0]);
  } else if (number == 2) {
    boxretry_call_free(calls[1]);
  } else {
    boxretry_client_free(client);
  }
}

/* B9, K1: given strategies that decide, when their calls are canceled and freed, and the client too, all is freed. */
void cancel_while_deciding(void) {
  atomic_store(&deciding, 0);
  atomic_store(&may_decide, 0);
  client = new_client(decide_when_told);
  for (int i = 0; i < 3; i++)
    calls[i] = submit_to(busy);
  wait_for(&deciding, 3);
  at_once(4, cancel_or_decide);
  end_call(calls[0]);
  end_call(calls[2]);
  wait_for(&clients_gone, atomic_load(&clients_made));
}

/* K1: given a strategy that decides, when its call is canceled, then the call ends while it still does. */
void cancel_before_decision(void) {
  atomic_store(&deciding, 0);
  atomic_store(&may_decide, 0);
  client = new_client(decide_when_told);
  calls[0] = submit_to(busy);
  wait_for(&deciding, 1);
  boxretry_call_cancel(calls[0]);
  end_call(calls[0]);
  boxretry_client_free(client);
  atomic_store(&may_decide, 1);
  wait_for(&clients_gone, atomic_load(&clients_made));
}

static void decide_in_pairs(void *context, const boxretry_outcome *outcome, int32_t attempt_number, int32_t *action) {
  atomic_fetch_add(&deciding, 1);
  if (atomic_load(&may_decide) == 0) wait_for(&deciding, 2);
  stop(context, outcome, attempt_number, action);
}

/* B9: given a thread for strategies that is idle, when two calls are decided at once, then neither waits for the other. */
void decide_at_once(void) {
  atomic_store(&may_decide, 1);
  client = new_client(decide_in_pairs);
  calls[0] = submit_to(hello);
  end_call(calls[0]);
  atomic_store(&deciding, 0);
  atomic_store(&may_decide, 0);
  at_once(2, submit_at_once);
  end_call(calls[0]);
  end_call(calls[1]);
  free_client();
}
