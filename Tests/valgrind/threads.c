/*
 * What the header allows several threads to do at once, for helgrind to watch: decide with one strategy of each kind, and
 * sleep on, read and advance one manual clock.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "boxretry.h"

enum { ROUNDS = 50, DECIDERS = 3 };

static boxretry_strategy *strategies[2];
static boxretry_clock *clock_of_all;

static void check(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "%s: %s\n", boxretry_error_text(error), boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

static void should_retry(void *context, const boxretry_outcome *outcome, int32_t attempt_number, int32_t *action) {
  (void)context, (void)outcome;
  *action = attempt_number < 3 ? BOXRETRY_ACTION_RETRY : BOXRETRY_ACTION_STOP;
}

static void *decide(void *unused) {
  for (int i = 0; i < ROUNDS; i++) {
    boxretry_loop_options options = BOXRETRY_LOOP_OPTIONS_INIT;
    boxretry_decision decision = BOXRETRY_DECISION_INIT;
    boxretry_retry_loop *loop;
    options.clock = clock_of_all;
    options.deadline_ms = 1000000;
    check(boxretry_retry_loop_new(strategies[i % 2], &options, &loop));
    do {
      static const boxretry_header date = {"Retry-After", "Thu, 01 Jan 1970 00:01:00 GMT"};
      boxretry_outcome outcome = BOXRETRY_OUTCOME_INIT;
      outcome.status = 503;
      outcome.headers = &date;
      outcome.header_count = 1;
      check(boxretry_retry_loop_next(loop, &outcome, &decision));
    } while (decision.action == BOXRETRY_ACTION_RETRY);
    boxretry_retry_loop_free(loop);
  }
  return unused;
}

static void *sleep_often(void *unused) {
  for (int i = 0; i < ROUNDS; i++)
    check(boxretry_clock_sleep(clock_of_all, 1));
  return unused;
}

int main(void) {
  boxretry_strategy_callbacks callbacks = BOXRETRY_STRATEGY_CALLBACKS_INIT;
  pthread_t threads[1 + DECIDERS];
  callbacks.should_retry = should_retry;
  check(boxretry_strategy_new(NULL, &strategies[0]));
  check(boxretry_strategy_new_custom(&callbacks, &strategies[1]));
  check(boxretry_clock_new_manual(&clock_of_all));
  for (int i = 0; i <= DECIDERS; i++)
    if (pthread_create(&threads[i], NULL, i == 0 ? sleep_often : decide, NULL) != 0) return EXIT_FAILURE;
  for (int i = 0; i < ROUNDS; i++) {
    check(boxretry_clock_wait_for_timer(clock_of_all, BOXRETRY_NO_TIMEOUT));
    check(boxretry_clock_advance(clock_of_all, 1));
  }
  for (int i = 0; i <= DECIDERS; i++)
    pthread_join(threads[i], NULL);
  boxretry_strategy_free(strategies[0]);
  boxretry_strategy_free(strategies[1]);
  boxretry_clock_free(clock_of_all);
  return EXIT_SUCCESS;
}
