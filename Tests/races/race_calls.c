/* Scenarios of races.c: calls that are canceled, freed, waited for, performed. */
#include <stdlib.h>

#include "crew.h"
#include "races.h"

/* --- Cancel, free, wait --- */

static void cancel_or_wait(int number) {
  if (number == 0) {
    dawdle();
    boxretry_call_cancel(calls[0]);
  } else {
    ok(boxretry_call_wait(calls[0], BOXRETRY_NO_TIMEOUT));
  }
}

/* K3: given a call that is about to end, when it is canceled, then it has one ending, and its callback runs once. */
void cancel_against_end(void) {
  boxretry_request request = request_to(hello);
  request.on_complete = count_ending;
  ok(boxretry_client_submit(client, &request, &calls[0]));
  at_once(2, cancel_or_wait);
  wait_for(&endings, 1);
  boxretry_call_cancel(calls[0]);
  end_call(calls[0]);
  REQUIRE(atomic_load(&endings) == 1);
}

/* K5: given a call that is about to end, when it is freed, then its callback still runs once. */
void free_against_end(void) {
  boxretry_request request = request_to(rand() % 2 ? hello : silent);
  request.on_complete = count_ending;
  ok(boxretry_client_submit(client, &request, &calls[0]));
  dawdle();
  boxretry_call_free(calls[0]);
  wait_for(&endings, 1);
}

/* Given a call with a queue, when it is freed before it is taken, then it does not come. */
void free_against_queue(void) {
  boxretry_request request = request_to(hello);
  boxretry_queue *queue;
  ok(boxretry_queue_new(&queue));
  request.queue = queue;
  ok(boxretry_client_submit(client, &request, &calls[0]));
  dawdle();
  boxretry_call_free(calls[0]);
  REQUIRE(boxretry_queue_take(queue, calls, CALLS, 0) == 0);
  ok(boxretry_client_submit(client, &request, &calls[0]));
  boxretry_call *taken;
  REQUIRE(boxretry_queue_take(queue, &taken, 1, BOXRETRY_NO_TIMEOUT) == 1 && taken == calls[0]);
  end_call(taken);
  boxretry_queue_free(queue);
}

static void wait_and_take(int number) {
  const boxretry_error error = boxretry_call_wait(calls[0], number % 2 ? BOXRETRY_NO_TIMEOUT : rand() % 2);
  REQUIRE(error == BOXRETRY_OK || (error == BOXRETRY_ERROR_WAIT_TIMEOUT && number % 2 == 0));
  boxretry_response *response = boxretry_call_take_response(calls[0]);
  if (!response) return;
  atomic_fetch_add(&endings, 1);
  check_response(response);
}

/* Given a call on which several threads wait, when it ends, then all of them return, and one gets the response. */
void many_waiters(void) {
  calls[0] = submit_to(hello);
  at_once(6, wait_and_take);
  REQUIRE(atomic_load(&endings) == 1);
  boxretry_call_free(calls[0]);
}

/* --- Callbacks --- */

static void busy_ending(void *context, boxretry_call *call) {
  boxretry_request request = request_to(hello);
  (void)context;
  request.on_complete = count_ending;
  boxretry_call_cancel(calls[0]);
  ok(boxretry_client_submit(client, &request, NULL));
  check_response(boxretry_call_take_response(call));
  boxretry_call_free(call);
  count_ending(NULL, NULL);
}

/* K4: given a callback that cancels another call, submits one, and frees its own, then all of them end. */
void callback_at_work(void) {
  boxretry_request request = request_to(hello);
  calls[0] = submit_to(silent);
  request.on_complete = busy_ending;
  ok(boxretry_client_submit(client, &request, &calls[1]));
  end_call(calls[0]);
  wait_for(&endings, 2);
}

/* --- Callbacks that are lent their call --- */

static atomic_long lent, freed;

/* Uses a call that its owner frees meanwhile. */
static void use_while_freed(boxretry_call *call) {
  atomic_store(&lent, 1);
  wait_for(&freed, 1);
  REQUIRE(boxretry_call_user_pointer(call) == &lent);
  boxretry_call_resume(call);
  boxretry_call_cancel(call);
}

static void read_while_freed(void *context, boxretry_call *call, void *buffer, size_t capacity, int64_t *count) {
  (void)context;
  (void)buffer;
  (void)capacity;
  use_while_freed(call);
  *count = BOXRETRY_READ_PAUSE;
}

static void begin_while_freed(void *context, boxretry_call *call, const boxretry_response_head *head, int32_t *done) {
  (void)head;
  if (context) use_while_freed(call);
  *done = 1;
}

static void write_while_freed(void *context, boxretry_call *call, const void *data, size_t length, int32_t *answer) {
  (void)context;
  (void)data;
  (void)length;
  use_while_freed(call);
  *answer = BOXRETRY_WRITE_PAUSE;
}

static void count_close(void *context) {
  count_ending(context, NULL);
}

/* Without `on_complete`, which is lent the call as well. */
static void free_while_lent(boxretry_request *request) {
  atomic_store(&lent, 0);
  atomic_store(&freed, 0);
  atomic_store(&endings, 0);
  request->user_pointer = &lent;
  ok(boxretry_client_submit(client, request, &calls[0]));
  wait_for(&lent, 1);
  boxretry_call_free(calls[0]);
  atomic_store(&freed, 1);
  wait_for(&endings, 1);
}

/* K5, F98: given a callback that uses its call, when the owner frees the call meanwhile, then the call outlives the callback. */
void free_against_callback(void) {
  boxretry_body_source source = BOXRETRY_BODY_SOURCE_INIT;
  boxretry_sink sink = BOXRETRY_SINK_INIT;
  boxretry_request upload = request_to(hello), download = request_to(hello);
  source.kind = BOXRETRY_SOURCE_CALLBACK;
  source.read = read_while_freed;
  source.context_free = count_close;
  upload.method = "PUT";
  upload.body_source = &source;
  free_while_lent(&upload);
  sink.kind = BOXRETRY_SINK_CALLBACK;
  sink.write = write_while_freed;
  sink.begin = begin_while_freed;
  sink.context_free = count_close;
  download.sink = &sink;
  free_while_lent(&download);
  sink.context = &lent; /* in `begin` */
  free_while_lent(&download);
}

/* --- The cancel switch --- */

static boxretry_cancel *cancel;

static void trigger_or_submit(int number) {
  if (number < 3) {
    dawdle();
    boxretry_cancel_trigger(cancel);
    return;
  }
  for (int i = 0; i < 3; i++) {
    boxretry_request request = request_to(i == 1 ? silent : hello);
    request.cancel = cancel;
    ok(boxretry_client_submit(client, &request, &calls[(number - 3) * 3 + i]));
  }
}

/* K1: given a switch with calls, when several threads turn it, then all its calls end, those that come later too. */
void cancel_switch(void) {
  client = new_client(stop);
  ok(boxretry_cancel_new(&cancel));
  at_once(7, trigger_or_submit);
  boxretry_cancel_free(cancel);
  for (int i = 0; i < 12; i++)
    end_call(calls[i]);
  free_client();
}

static void perform_with_switch(int number) {
  boxretry_request request = request_to(hello);
  boxretry_response *response;
  (void)number;
  request.cancel = cancel;
  ok(boxretry_client_perform(client, &request, &response));
  check_response(response);
}

/* Given a switch that is never triggered, when its calls have ended, then it keeps nothing of them. */
void cancel_switch_unused(void) {
  client = new_client(stop);
  ok(boxretry_cancel_new(&cancel));
  at_once(4, perform_with_switch);
  boxretry_cancel_free(cancel);
  free_client();
}

/* --- perform --- */

static void submit_and_perform(int number) {
  const boxretry_request request = request_to(hello);
  boxretry_response *response;
  if (number % 2) calls[number] = submit_to(number % 4 == 1 ? hello : busy);
  ok(boxretry_client_perform(client, &request, &response));
  REQUIRE(boxretry_response_status(response) == 200);
  check_response(response);
  if (number % 2) end_call(calls[number]);
}

/* Given eight threads that block for their own calls while others submit, then all calls end. */
void perform_on_threads(void) {
  at_once(8, submit_and_perform);
}

/* Given a client that is not in use, when several threads wake it, then it wakes for each of them. */
void perform_on_an_idle_client(void) {
  client = new_client(stop);
  at_once(8, submit_and_perform);
  at_once(8, submit_at_once);
  for (int i = 0; i < 8; i++)
    end_call(calls[i]);
  free_client();
}
