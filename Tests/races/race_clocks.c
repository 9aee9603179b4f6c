/* Scenarios of races.c: clocks that are advanced, advance by themselves, and are freed, while others wait on them. */
#include <stdio.h>

#include "crew.h"
#include "races.h"

static boxretry_clock *clock_in_use;
static boxretry_client *clients[2];
static boxretry_token_source *source;
static atomic_long provided; /* calls of the provider in this round */
static atomic_long working;  /* threads whose calls have not ended */

/* Three attempts. */
static void retry_twice(void *context, const boxretry_outcome *outcome, int32_t attempt_number, int32_t *action) {
  (void)context;
  (void)outcome;
  *action = attempt_number < 3 ? BOXRETRY_ACTION_RETRY : BOXRETRY_ACTION_STOP;
}

static void after_minutes(void *context, const boxretry_outcome *outcome, int32_t attempt_number, double *delay) {
  (void)context;
  (void)outcome;
  *delay = 60.0 * attempt_number;
}

static void fail_twice(void *context, boxretry_token_request *request) {
  (void)context;
  const boxretry_error error = atomic_fetch_add(&provided, 1) % 3 < 2
                                   ? boxretry_token_request_fail(request, "busy", 1)
                                   : boxretry_token_request_succeed(request, "token", 5, 3600);
  REQUIRE(error == BOXRETRY_OK || error == BOXRETRY_ERROR_TOKEN_REQUEST_ENDED); /* the source is freed, too */
}

static void gone(void *count) {
  atomic_fetch_add((atomic_long *)count, 1);
}

static boxretry_client *client_on_clock(boxretry_token_source *tokens) {
  boxretry_strategy_callbacks callbacks = BOXRETRY_STRATEGY_CALLBACKS_INIT;
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_timeouts timeouts = BOXRETRY_TIMEOUTS_INIT;
  boxretry_strategy *strategy;
  boxretry_client *made;
  /* A clock that is advanced again and again leaves a server no time. */
  timeouts.timeout_interval_for_request_ms = BOXRETRY_NO_TIMEOUT;
  timeouts.timeout_interval_for_resource_ms = BOXRETRY_NO_TIMEOUT;
  options.timeouts = &timeouts;
  callbacks.context = &clients_gone;
  callbacks.should_retry = retry_twice;
  callbacks.retry_after = after_minutes;
  callbacks.context_free = gone;
  ok(boxretry_strategy_new_custom(&callbacks, &strategy));
  options.strategy = strategy;
  options.proxy_mode = BOXRETRY_PROXY_NONE;
  options.clock = clock_in_use;
  options.token_source = tokens;
  ok(boxretry_client_new(&options, &made));
  boxretry_strategy_free(strategy);
  atomic_fetch_add(&clients_made, 1);
  return made;
}

static void begin_round(void) {
  boxretry_token_options options = BOXRETRY_TOKEN_OPTIONS_INIT;
  ok(boxretry_clock_new_manual(&clock_in_use));
  options.provider = fail_twice;
  options.clock = clock_in_use;
  atomic_store(&provided, 0);
  ok(boxretry_token_source_new(&options, &source));
  clients[0] = client_on_clock(source);
  clients[1] = client_on_clock(NULL);
}

static void end_round(void) {
  boxretry_client_free(clients[0]);
  boxretry_client_free(clients[1]);
  boxretry_token_source_free(source);
  wait_for(&clients_gone, atomic_load(&clients_made));
}

/* Three attempts, with waits of one and two minutes. */
static void perform_on(boxretry_client *with) {
  const boxretry_request request = request_to(busy);
  boxretry_response *response;
  double before, after;
  ok(boxretry_clock_now(clock_in_use, BOXRETRY_TIMELINE_MONOTONIC, &before));
  ok(boxretry_client_perform(with, &request, &response));
  ok(boxretry_clock_now(clock_in_use, BOXRETRY_TIMELINE_MONOTONIC, &after));
  ok(boxretry_response_error(response));
  REQUIRE(boxretry_response_status(response) == 503 && boxretry_response_attempt_count(response) == 3);
  REQUIRE(after - before >= 180);
  boxretry_response_free(response);
}

/* --- Everything at once --- */

static void advance_and_switch(int number) {
  while (atomic_load(&working) > 0) {
    dawdle();
    if (number == 0) ok(boxretry_clock_advance(clock_in_use, 7));
    if (number == 1) ok(boxretry_clock_set_auto_advance(clock_in_use, 1));
    if (number == 1) dawdle();
    if (number == 1) ok(boxretry_clock_set_auto_advance(clock_in_use, 0));
  }
}

static void use_clock(int number) {
  boxretry_token *token;
  boxretry_call *call;
  const boxretry_request request = request_to(busy);
  switch (number) {
  case 2:
    ok(boxretry_clock_sleep(clock_in_use, 100));
    break;
  case 3:
    perform_on(clients[0]);
    break;
  case 4:
    perform_on(clients[1]);
    break;
  case 5:
    ok(boxretry_client_submit(clients[1], &request, &call));
    dawdle();
    boxretry_call_cancel(call);
    end_call(call);
    break;
  case 6:
    ok(boxretry_token_source_get(source, BOXRETRY_NO_TIMEOUT, NULL, &token));
    boxretry_token_free(token);
    break;
  default:
    ok(boxretry_clock_suspend(clock_in_use, 1));
    ok(boxretry_clock_set_wall(clock_in_use, 1e9));
    (void)boxretry_clock_wait_for_timer(clock_in_use, 1);
  }
  atomic_fetch_sub(&working, 1);
}

static void one_of_all(int number) {
  if (number < 2)
    advance_and_switch(number);
  else
    use_clock(number);
}

/* A clock that is advanced, and that advances by itself now and then, brings all who wait on it to their ends. */
void clock_against_waits(void) {
  begin_round();
  atomic_store(&working, CREW - 2);
  at_once(CREW, one_of_all);
  boxretry_clock_free(clock_in_use);
  end_round();
}

/* --- Several that are idle, or not --- */

static void perform_or_sleep(int number) {
  if (number == CREW - 1)
    ok(boxretry_clock_sleep(clock_in_use, 240));
  else
    perform_on(clients[number % 2]);
}

/* All calls begin at 0, and take three minutes; a clock that advances by itself leaves out nothing on its way. */
void clock_by_itself(void) {
  double now;
  begin_round();
  ok(boxretry_clock_set_auto_advance(clock_in_use, 1));
  at_once(CREW, perform_or_sleep);
  ok(boxretry_clock_now(clock_in_use, BOXRETRY_TIMELINE_MONOTONIC, &now));
  REQUIRE(now >= 180);
  boxretry_clock_free(clock_in_use);
  end_round();
}

/* --- Free against waits --- */

static void free_or_wait(int number) {
  if (number == 0) {
    dawdle();
    boxretry_clock_free(clock_in_use);
  } else if (number == 1) {
    dawdle();
    boxretry_call_cancel(calls[0]);
  } else if (number == 2) {
    dawdle();
    boxretry_client_free(clients[0]);
  } else {
    ok(boxretry_call_wait(calls[number], BOXRETRY_NO_TIMEOUT));
  }
}

/* The clock is freed under calls that wait on it: those of a client that is freed, too, end; and all that is freed, goes.
 * Every other round, the clock advances by itself, before and after. */
void clock_freed_under_calls(void) {
  static int round;
  begin_round();
  client = clients[0];
  for (int i = 0; i < CREW; i++)
    calls[i] = submit_to(busy);
  ok(boxretry_clock_set_auto_advance(clock_in_use, round++ % 2));
  at_once(CREW, free_or_wait);
  for (int i = 0; i < CREW; i++)
    end_call(calls[i]);
  clients[0] = NULL;
  end_round();
}
