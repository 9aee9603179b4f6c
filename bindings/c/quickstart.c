/* Retries around your own transport. Build: cc quickstart.c -o quickstart $(pkg-config --cflags --libs boxretry) */
#include <boxretry.h>
#include <stdio.h>
#include <stdlib.h>

/* A stand-in for your transport: first 503, then unreachable, then 200. */
static void send_request(int attempt, boxretry_outcome *outcome) {
  static const boxretry_header headers[] = {{"Retry-After", "0.2"}};
  if (attempt == 1) {
    outcome->status = 503;
    outcome->headers = headers;
    outcome->header_count = 1;
  } else if (attempt == 2) {
    outcome->cause = BOXRETRY_CAUSE_CONNECT;
  } else {
    outcome->status = 200;
  }
}

static void check(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "%s: %s\n", boxretry_error_text(error), boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

int main(void) {
  boxretry_retry_options options = BOXRETRY_RETRY_OPTIONS_INIT;
  boxretry_strategy *strategy;
  boxretry_retry_loop *loop;
  boxretry_decision decision = BOXRETRY_DECISION_INIT;
  options.retry_base_interval = 0.1; /* seconds; shorter than the default of 1, so that this example runs quickly */
  check(boxretry_strategy_new(&options, &strategy));
  check(boxretry_retry_loop_new(strategy, NULL, &loop)); /* one loop for each call */
  do {
    boxretry_outcome outcome = BOXRETRY_OUTCOME_INIT;
    send_request(decision.attempt_number + 1, &outcome);
    check(boxretry_retry_loop_next(loop, &outcome, &decision));
    printf("attempt %d: %s, since %s; wait %.2f s\n", decision.attempt_number, boxretry_action_name(decision.action),
           boxretry_reason_text(decision.reason), decision.delay);
    check(boxretry_clock_sleep(NULL, decision.delay));
  } while (decision.action != BOXRETRY_ACTION_STOP && decision.action != BOXRETRY_ACTION_SUCCEED);
  boxretry_retry_loop_free(loop);
  boxretry_strategy_free(strategy);
  return decision.action == BOXRETRY_ACTION_SUCCEED ? EXIT_SUCCESS : EXIT_FAILURE;
}
