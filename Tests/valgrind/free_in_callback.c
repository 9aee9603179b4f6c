/* K5: a callback frees what it is called from: the loop, the strategy, the clock, in each callback, with any answer. Only
 * a tool that watches memory sees what may go wrong. */
#include <boxretry.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  boxretry_strategy *strategy;
  boxretry_retry_loop *loop;
  boxretry_clock *clock;
  int frees_in_delay; /* else in should_retry */
  int32_t action;
  int contexts_freed;
} scene;

static void free_all(scene *all) {
  boxretry_retry_loop_free(all->loop);
  boxretry_strategy_free(all->strategy);
  boxretry_clock_free(all->clock);
}

static void should_retry(void *context, const boxretry_outcome *outcome, int32_t number, int32_t *action) {
  scene *all = context;
  (void)outcome;
  (void)number;
  if (!all->frees_in_delay) free_all(all);
  *action = all->action;
}

static void retry_after(void *context, const boxretry_outcome *outcome, int32_t number, double *delay) {
  scene *all = context;
  (void)outcome;
  (void)number;
  if (all->frees_in_delay) free_all(all);
  *delay = 1;
}

static void context_free(void *context) {
  ((scene *)context)->contexts_freed++;
}

static void check(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "free_in_callback: %s: %s\n", what, boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

static void play(int frees_in_delay, int32_t action, boxretry_error expected) {
  scene all = {NULL, NULL, NULL, frees_in_delay, action, 0};
  boxretry_strategy_callbacks callbacks = BOXRETRY_STRATEGY_CALLBACKS_INIT;
  boxretry_loop_options options = BOXRETRY_LOOP_OPTIONS_INIT;
  boxretry_outcome outcome = BOXRETRY_OUTCOME_INIT;
  boxretry_decision decision = BOXRETRY_DECISION_INIT;
  callbacks.context = &all;
  callbacks.should_retry = should_retry;
  callbacks.retry_after = retry_after;
  callbacks.context_free = context_free;
  check(boxretry_clock_new_manual(&all.clock) == BOXRETRY_OK, "clock");
  check(boxretry_strategy_new_custom(&callbacks, &all.strategy) == BOXRETRY_OK, "strategy");
  options.clock = all.clock;
  options.deadline_ms = 5000;
  check(boxretry_retry_loop_new(all.strategy, &options, &all.loop) == BOXRETRY_OK, "loop");
  outcome.status = 503;
  check(boxretry_retry_loop_next(all.loop, &outcome, &decision) == expected, "next");
  check(all.contexts_freed == 1, "the context is freed once");
}

int main(void) {
  play(0, BOXRETRY_ACTION_RETRY, BOXRETRY_OK);
  play(1, BOXRETRY_ACTION_RETRY, BOXRETRY_OK);
  play(0, BOXRETRY_ACTION_STOP, BOXRETRY_OK);
  play(0, BOXRETRY_ACTION_UNANSWERED, BOXRETRY_ERROR_CALLBACK_FAILED);
  return EXIT_SUCCESS;
}
