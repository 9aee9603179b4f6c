/* Build: cc manual_clock.c -o manual_clock $(pkg-config --cflags --libs boxretry) */
#include <assert.h>
#include <boxretry.h>
#include <stdio.h>

int main(void) {
  const boxretry_header wait[] = {{"Retry-After", "600"}};
  boxretry_loop_options options = BOXRETRY_LOOP_OPTIONS_INIT;
  boxretry_decision decision = BOXRETRY_DECISION_INIT;
  boxretry_outcome busy = BOXRETRY_OUTCOME_INIT;
  boxretry_strategy *strategy;
  boxretry_retry_loop *loop;
  boxretry_clock *clock;
  boxretry_error error = boxretry_clock_new_manual(&clock);
  assert(error == BOXRETRY_OK);
  options.clock = clock;
  options.deadline_ms = 15 * 60 * 1000;
  error = boxretry_strategy_new(NULL, &strategy);
  assert(error == BOXRETRY_OK);
  error = boxretry_retry_loop_new(strategy, &options, &loop);
  assert(error == BOXRETRY_OK);

  busy.status = 503;
  busy.headers = wait;
  busy.header_count = 1;
  error = boxretry_retry_loop_next(loop, &busy, &decision);
  assert(error == BOXRETRY_OK && decision.action == BOXRETRY_ACTION_RETRY && decision.delay == 600);
  error = boxretry_clock_advance(clock, decision.delay); /* no sleep */
  assert(error == BOXRETRY_OK);
  error = boxretry_retry_loop_next(loop, &busy, &decision); /* 10 more minutes would be too late */
  assert(error == BOXRETRY_OK && decision.action == BOXRETRY_ACTION_STOP);
  puts(boxretry_reason_text(decision.reason));
  boxretry_retry_loop_free(loop);
  boxretry_strategy_free(strategy);
  boxretry_clock_free(clock);
  return 0;
}
