/* What may happen to calls at the same moment, again and again: races SCENARIO ROUNDS
 *
 * A round ends when every call in it has had its one ending (K3), and everything of the library has been freed: a
 * client's strategy is freed last, so that a client that stays, stays the program, which says so after a while. */
#include <boxretry.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crew.h"
#include "server.h"

enum { PATIENCE = 20 /* seconds for one round */, CALLS = 32 };

static char hello[64], silent[64], busy[64];
static boxretry_client *client;
static boxretry_call *calls[CALLS];
static atomic_long clients_made, clients_gone;
static atomic_long endings; /* callbacks so far in this round */

/* --- What the scenarios are made of --- */

static void ok(boxretry_error error) {
  if (error != BOXRETRY_OK) fprintf(stderr, "%s: %s\n", boxretry_error_name(error), boxretry_last_error_detail());
  REQUIRE(error == BOXRETRY_OK);
}

static void wait_for(atomic_long *value, long least) {
  while (atomic_load(value) < least)
    sched_yield();
}

static void stop(void *context, const boxretry_outcome *outcome, int32_t attempt_number, int32_t *action) {
  (void)context;
  (void)outcome;
  (void)attempt_number;
  *action = BOXRETRY_ACTION_STOP;
}

static void gone(void *count) {
  atomic_fetch_add((atomic_long *)count, 1);
}

/* A client whose strategy is this callback, and whose end is counted. */
static boxretry_client *new_client(void (*should_retry)(void *, const boxretry_outcome *, int32_t, int32_t *)) {
  boxretry_strategy_callbacks callbacks = BOXRETRY_STRATEGY_CALLBACKS_INIT;
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_strategy *strategy;
  boxretry_client *made;
  callbacks.context = &clients_gone;
  callbacks.should_retry = should_retry;
  callbacks.context_free = gone;
  ok(boxretry_strategy_new_custom(&callbacks, &strategy));
  options.strategy = strategy;
  options.proxy_mode = BOXRETRY_PROXY_NONE;
  ok(boxretry_client_new(&options, &made));
  boxretry_strategy_free(strategy);
  atomic_fetch_add(&clients_made, 1);
  return made;
}

static void free_client(void) {
  boxretry_client_free(client);
  wait_for(&clients_gone, atomic_load(&clients_made));
}

static boxretry_request request_to(const char *url) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  request.url = url;
  return request;
}

static boxretry_call *submit_to(const char *url) {
  const boxretry_request request = request_to(url);
  boxretry_call *call;
  ok(boxretry_client_submit(client, &request, &call));
  return call;
}

/* The response is there, and says one of the two things that may have happened. */
static void check_response(boxretry_response *response) {
  REQUIRE(response != NULL);
  const boxretry_error error = boxretry_response_error(response);
  const int32_t status = boxretry_response_status(response);
  REQUIRE((error == BOXRETRY_OK && (status == 200 || status == 503)) || (error == BOXRETRY_ERROR_CANCELLED && !status));
  boxretry_response_free(response);
}

/* Waits for the end of a call, of which there is one, and frees it. */
static void end_call(boxretry_call *call) {
  ok(boxretry_call_wait(call, BOXRETRY_NO_TIMEOUT));
  check_response(boxretry_call_take_response(call));
  REQUIRE(boxretry_call_take_response(call) == NULL);
  boxretry_call_free(call);
}

static void count_ending(void *context, boxretry_call *call) {
  (void)context;
  (void)call;
  atomic_fetch_add(&endings, 1);
}

/* --- Cancel, free, wait --- */

static void cancel_or_wait(int number) {
  if (number == 0) {
    dawdle();
    boxretry_call_cancel(calls[0]);
  } else {
    ok(boxretry_call_wait(calls[0], BOXRETRY_NO_TIMEOUT));
  }
}

/* K3: given a call that is about to end, when it is cancelled, then it has one ending, and its callback runs once. */
static void cancel_against_end(void) {
  boxretry_request request = request_to(hello);
  request.on_complete = count_ending;
  ok(boxretry_client_submit(client, &request, &calls[0]));
  at_once(2, cancel_or_wait);
  wait_for(&endings, 1);
  boxretry_call_cancel(calls[0]);
  end_call(calls[0]);
  REQUIRE(atomic_load(&endings) == 1);
}

/* K5: given a call that is about to end, when it is freed, then its callback runs once all the same. */
static void free_against_end(void) {
  boxretry_request request = request_to(rand() % 2 ? hello : silent);
  request.on_complete = count_ending;
  ok(boxretry_client_submit(client, &request, &calls[0]));
  dawdle();
  boxretry_call_free(calls[0]);
  wait_for(&endings, 1);
}

/* Given a call with a queue, when it is freed before it is taken, then it does not come. */
static void free_against_queue(void) {
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
static void many_waiters(void) {
  calls[0] = submit_to(hello);
  at_once(6, wait_and_take);
  REQUIRE(atomic_load(&endings) == 1);
  boxretry_call_free(calls[0]);
}

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
static void free_client_under_calls(void) {
  client = new_client(stop);
  at_once(4, submit_four);
  dawdle();
  at_once(5, free_or_end);
  wait_for(&clients_gone, atomic_load(&clients_made));
}

/* Given a queue with calls in it and calls on the way to it, when it is freed, then so are those that nobody else has. */
static void free_queue_under_calls(void) {
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
static void close_under_calls(void) {
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
static void close_after_callbacks(void) {
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

/* K1: given a call that has ended, when it is cancelled, then nothing of it stays behind. */
static void cancel_after_end(void) {
  client = new_client(stop);
  calls[0] = submit_to(hello);
  ok(boxretry_call_wait(calls[0], BOXRETRY_NO_TIMEOUT));
  boxretry_call_cancel(calls[0]);
  end_call(calls[0]);
  free_client();
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
static void callback_at_work(void) {
  boxretry_request request = request_to(hello);
  calls[0] = submit_to(silent);
  request.on_complete = busy_ending;
  ok(boxretry_client_submit(client, &request, &calls[1]));
  end_call(calls[0]);
  wait_for(&endings, 2);
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
static void cancel_switch(void) {
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

/* Given a switch that nobody turns, when its calls have ended, then it keeps nothing of them. */
static void cancel_switch_unused(void) {
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

/* Given eight threads that block for calls of their own while others submit, then all calls end. */
static void perform_on_threads(void) {
  at_once(8, submit_and_perform);
}

static void submit_at_once(int number) {
  calls[number] = submit_to(hello);
}

/* Given a client that nobody uses, when several threads wake it, then it wakes for each of them. */
static void perform_on_an_idle_client(void) {
  client = new_client(stop);
  at_once(8, submit_and_perform);
  at_once(8, submit_at_once);
  for (int i = 0; i < 8; i++)
    end_call(calls[i]);
  free_client();
}

/* --- Custom strategies --- */

static atomic_long deciding, may_decide;

static void decide_when_told(void *context, const boxretry_outcome *outcome, int32_t attempt_number, int32_t *action) {
  atomic_fetch_add(&deciding, 1);
  wait_for(&may_decide, 1);
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

/* B9, K1: given strategies that decide, when their calls are cancelled and freed, and the client too, then all is freed. */
static void cancel_while_deciding(void) {
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

/* K1: given a strategy that decides, when its call is cancelled, then the call ends while it still does. */
static void cancel_before_decision(void) {
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
static void decide_at_once(void) {
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

/* --- The rounds --- */

typedef struct scenario {
  const char *name;
  void (*round)(void);
  bool makes_clients; /* in each round; else there is one for all rounds */
} scenario;

static const scenario scenarios[] = {
    {"cancel_against_end", cancel_against_end, false},
    {"free_against_end", free_against_end, false},
    {"free_against_queue", free_against_queue, false},
    {"many_waiters", many_waiters, false},
    {"free_client_under_calls", free_client_under_calls, true},
    {"free_queue_under_calls", free_queue_under_calls, true},
    {"close_under_calls", close_under_calls, true},
    {"close_after_callbacks", close_after_callbacks, true},
    {"cancel_after_end", cancel_after_end, true},
    {"callback_at_work", callback_at_work, false},
    {"cancel_switch", cancel_switch, true},
    {"cancel_switch_unused", cancel_switch_unused, true},
    {"perform_on_threads", perform_on_threads, false},
    {"perform_on_an_idle_client", perform_on_an_idle_client, true},
    {"cancel_while_deciding", cancel_while_deciding, true},
    {"cancel_before_decision", cancel_before_decision, true},
    {"decide_at_once", decide_at_once, true},
};

static void out_of_patience(int signal) {
  static const char text[] = "races: a round does not end: a call without an end, or a client that is not freed\n";
  (void)signal;
  if (write(STDERR_FILENO, text, sizeof text - 1)) abort();
}

static void run(const scenario *it, long rounds) {
  const int port = server_start();
  snprintf(hello, sizeof hello, "http://127.0.0.1:%d/", port);
  snprintf(silent, sizeof silent, "http://127.0.0.1:%d/silent", port);
  snprintf(busy, sizeof busy, "http://127.0.0.1:%d/busy", port);
  crew_start();
  if (!it->makes_clients) client = new_client(stop);
  for (long i = 0; i < rounds; i++) {
    alarm(PATIENCE);
    atomic_store(&endings, 0);
    it->round();
  }
  if (!it->makes_clients) free_client();
  crew_stop();
  server_stop();
}

int main(int argc, char **argv) {
  signal(SIGALRM, out_of_patience);
  for (size_t i = 0; argc == 3 && i < sizeof scenarios / sizeof *scenarios; i++) {
    if (strcmp(argv[1], scenarios[i].name) != 0) continue;
    run(&scenarios[i], strtol(argv[2], NULL, 10));
    printf("%s: %s rounds\n", argv[1], argv[2]);
    return EXIT_SUCCESS;
  }
  fputs("usage: races SCENARIO ROUNDS\n", stderr);
  for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
    fprintf(stderr, "    %s\n", scenarios[i].name);
  return 2;
}
