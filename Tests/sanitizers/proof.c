/*
 * No test: it proves that a sanitizer which reports nothing has really looked. Each fault is in Swift code of the library
 * as the tests have it, and must be reported. The argument says which.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boxretry.h"

static void require(int is_so) {
  if (!is_so) exit(2);
}

/* The Swift code looks for the end of a string that has none. */
static void read_too_far(void) {
  char *value = malloc(3);
  double seconds;
  require(value != NULL);
  memcpy(value, "123", 3);
  boxretry_parse_retry_after(value, 0, &seconds);
  free(value);
}

/* A strategy, which is a Swift object, is made and forgotten. */
static void leak(void) {
  boxretry_strategy *strategy;
  require(boxretry_strategy_new(NULL, &strategy) == BOXRETRY_OK);
}

static pthread_barrier_t both_are_here;

static void *use_loop(void *loop) {
  for (int i = 0; i < 100; i++) {
    boxretry_outcome outcome = BOXRETRY_OUTCOME_INIT;
    boxretry_decision decision = BOXRETRY_DECISION_INIT;
    outcome.status = 503;
    pthread_barrier_wait(&both_are_here);
    boxretry_retry_loop_next(loop, &outcome, &decision);
  }
  return NULL;
}

/* Two threads use a retry loop at once, which is for one at a time. */
static void race(void) {
  boxretry_retry_options options = BOXRETRY_RETRY_OPTIONS_INIT;
  boxretry_strategy *strategy;
  boxretry_retry_loop *loop;
  pthread_t threads[2];
  options.max_attempts = 1000000;
  require(boxretry_strategy_new(&options, &strategy) == BOXRETRY_OK);
  require(boxretry_retry_loop_new(strategy, NULL, &loop) == BOXRETRY_OK);
  require(pthread_barrier_init(&both_are_here, NULL, 2) == 0);
  for (int i = 0; i < 2; i++)
    require(pthread_create(&threads[i], NULL, use_loop, loop) == 0);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  boxretry_retry_loop_free(loop);
  boxretry_strategy_free(strategy);
}

int main(int count, char **arguments) {
  const char *fault = count > 1 ? arguments[1] : "";
  if (strcmp(fault, "over-read") == 0) {
    read_too_far();
  } else if (strcmp(fault, "leak") == 0) {
    leak();
  } else if (strcmp(fault, "race") == 0) {
    race();
  } else {
    return 2;
  }
  return 0;
}
