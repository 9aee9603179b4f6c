/*
 * A custom retry strategy, on a clock that moves only when the program advances it.
 *
 * A server answers 423 (Locked) while somebody else edits a file. The strategy waits for the lock, a little longer each
 * time, and retries nothing else.
 * Build: cc custom_strategy.c $(pkg-config --cflags --libs boxretry)
 */
#include <boxretry.h>
#include <stdio.h>
#include <stdlib.h>

/* The strategy's context. It never changes, so any number of threads may use the strategy at the same time. */
typedef struct patience {
  int32_t attempts; /* maximum */
  double pause;     /* seconds, multiplied by the attempt number */
} patience;

static void should_retry(void *context, const boxretry_outcome *outcome, int32_t attempt_number, int32_t *action) {
  const patience *limits = context;
  int locked = outcome->status == 423;
  *action = locked && attempt_number < limits->attempts ? BOXRETRY_ACTION_RETRY : BOXRETRY_ACTION_STOP;
}

static void retry_after(void *context, const boxretry_outcome *outcome, int32_t attempt_number, double *delay) {
  const patience *limits = context;
  (void)outcome;
  *delay = limits->pause * attempt_number;
}

static void check(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "%s: %s\n", boxretry_error_text(error), boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

static boxretry_strategy *new_strategy(int32_t attempts, double pause) {
  boxretry_strategy_callbacks callbacks = BOXRETRY_STRATEGY_CALLBACKS_INIT;
  boxretry_strategy *strategy;
  patience *context = malloc(sizeof *context);
  if (context == NULL) abort();
  context->attempts = attempts;
  context->pause = pause;
  callbacks.context = context;
  callbacks.should_retry = should_retry;
  callbacks.retry_after = retry_after;
  callbacks.context_free = free; /* called after the last use of the strategy */
  check(boxretry_strategy_new_custom(&callbacks, &strategy));
  return strategy;
}

int main(void) {
  boxretry_strategy *strategy = new_strategy(10, 5.0);
  boxretry_loop_options options = BOXRETRY_LOOP_OPTIONS_INIT;
  boxretry_decision decision = BOXRETRY_DECISION_INIT;
  boxretry_clock *clock;
  boxretry_retry_loop *loop;
  check(boxretry_clock_new_manual(&clock));
  options.clock = clock;
  options.deadline_ms = 120000;
  check(boxretry_retry_loop_new(strategy, &options, &loop));
  do {
    boxretry_outcome outcome = BOXRETRY_OUTCOME_INIT;
    double now;
    check(boxretry_clock_now(clock, BOXRETRY_TIMELINE_BOOTTIME, &now));
    outcome.status = now < 25 ? 423 : 200; /* the lock is released after 25 seconds */
    check(boxretry_retry_loop_next(loop, &outcome, &decision));
    printf("at %2.0f s: status %d, %s, wait %.0f s\n", now, outcome.status, boxretry_action_name(decision.action),
           decision.delay);
    check(boxretry_clock_advance(clock, decision.delay)); /* a real program calls boxretry_clock_sleep() */
  } while (decision.action == BOXRETRY_ACTION_RETRY);
  boxretry_retry_loop_free(loop);
  boxretry_clock_free(clock);
  boxretry_strategy_free(strategy);
  return decision.action == BOXRETRY_ACTION_SUCCEED ? EXIT_SUCCESS : EXIT_FAILURE;
}
