/* Prints the decisions for a sequence of outcomes: decisions SEED OUTCOME...
 *
 * An outcome is a status (503), a status with a Retry-After (429+7), or E for a network exception. The program
 * bindings/python/examples/decisions.py prints the same lines: with the same seed, even the jitter is the same. */
#include <boxretry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "decisions: %s: %s\n", boxretry_error_text(error), boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

/* Reads an outcome. `header` must live as long as the outcome is used. */
static void read_outcome(const char *text, boxretry_outcome *outcome, boxretry_header *header) {
  const char *retry_after = strchr(text, '+');
  if (strcmp(text, "E") == 0) {
    outcome->cause = BOXRETRY_CAUSE_CONNECT;
    return;
  }
  outcome->status = atoi(text);
  if (retry_after) {
    *header = (boxretry_header){"Retry-After", retry_after + 1};
    outcome->headers = header;
    outcome->header_count = 1;
  }
}

int main(int argc, char **argv) {
  boxretry_strategy *strategy;
  boxretry_retry_loop *loop;
  boxretry_loop_options options = BOXRETRY_LOOP_OPTIONS_INIT;
  if (argc < 3) {
    fputs("usage: decisions SEED OUTCOME...\n", stderr);
    return 2;
  }
  options.seed = strtoull(argv[1], NULL, 10);
  check(boxretry_strategy_new(NULL, &strategy));
  check(boxretry_retry_loop_new(strategy, &options, &loop));
  for (int i = 2; i < argc; i++) {
    boxretry_outcome outcome = BOXRETRY_OUTCOME_INIT;
    boxretry_decision decision = BOXRETRY_DECISION_INIT;
    boxretry_header header;
    read_outcome(argv[i], &outcome, &header);
    check(boxretry_retry_loop_next(loop, &outcome, &decision));
    printf("%-6s %-7s %-20s %7.3f s %s\n", argv[i], boxretry_action_name(decision.action),
           boxretry_reason_name(decision.reason), decision.delay, boxretry_delay_source_name(decision.delay_source));
    if (decision.action == BOXRETRY_ACTION_STOP || decision.action == BOXRETRY_ACTION_SUCCEED) break;
  }
  boxretry_retry_loop_free(loop);
  boxretry_strategy_free(strategy);
  return EXIT_SUCCESS;
}
