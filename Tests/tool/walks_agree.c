/*
 * Compares the tool's walk through the decision flow with what the library decides, over all statuses, attempts and
 * options. Prints how many walks were compared, and the stable names of all actions and reasons that were met.
 * Exits with 1 at the first contradiction.
 */
#include "flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static long compared;
static bool seen_actions[64];
static bool seen_reasons[64];

static void require(boxretry_error error) {
  if (error == BOXRETRY_OK) return;
  printf("%s: %s\n", boxretry_error_name(error), boxretry_last_error_detail());
  exit(1);
}

static void compare(const boxretry_retry_options *options, const boxretry_strategy *strategy,
                    const boxretry_outcome *outcome, int32_t attempt_number) {
  boxretry_decision decision = BOXRETRY_DECISION_INIT;
  decision_flow flow;
  require(boxretry_strategy_should_retry(strategy, outcome, attempt_number, &decision));
  flow_walk(&flow, options, outcome, attempt_number, &decision);
  compared++;
  seen_actions[decision.action] = true;
  seen_reasons[decision.reason] = true;
  if (flow_agrees(&flow, &decision) && flow.step_count < FLOW_STEP_CAPACITY) return;
  printf("status %d, cause %d, attempt %d: the walk ends in %s (%s), the library decides %s (%s)\n", outcome->status,
         outcome->cause, attempt_number, boxretry_action_name(flow.action), boxretry_reason_name(flow.reason),
         boxretry_action_name(decision.action), boxretry_reason_name(decision.reason));
  exit(1);
}

/* All statuses, with what the documented flow looks at. */
static void compare_documented(const boxretry_retry_options *options, const boxretry_strategy *strategy,
                               boxretry_outcome outcome) {
  static const int32_t attempts[] = {0, 1, 2, 3, 4, 5, 6, 1000000, INT32_MAX};
  for (outcome.status = 0; outcome.status <= 999; outcome.status += outcome.status == 0 ? 100 : 1) {
    for (size_t i = 0; i < COUNT(attempts); i++)
      compare(options, strategy, &outcome, attempts[i]);
  }
}

/* Some statuses, with what else is looked at beyond it. */
static void compare_beyond(const boxretry_retry_options *options, const boxretry_strategy *strategy,
                           boxretry_outcome outcome) {
  static const int32_t statuses[] = {0, 100, 199, 200, 202, 302, 399, 400, 401, 404, 429, 499, 500, 503, 599, 999};
  static const char *const methods[] = {NULL, "GET", "POST", "post", "PATCH", "Patch", "PUT", "POSTS", ""};
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  for (size_t s = 0; s < COUNT(statuses); s++) {
    for (size_t m = 0; m <= COUNT(methods); m++) {
      outcome.status = statuses[s];
      outcome.request = m < COUNT(methods) ? &request : NULL;
      if (m < COUNT(methods)) request.method = methods[m];
      for (int32_t sent = BOXRETRY_SENT_UNKNOWN; sent <= BOXRETRY_SENT_SOME; sent++) {
        outcome.request_sent = sent;
        for (int32_t not_replayable = 0; not_replayable <= 1; not_replayable++) {
          outcome.body_not_replayable = not_replayable;
          for (int32_t attempt = 1; attempt <= 5; attempt += 2)
            compare(options, strategy, &outcome, attempt);
        }
      }
    }
  }
}

int main(void) {
  static const boxretry_header headers[] = {
      {"Retry-After", "0"},    {"retry-after", "7"},      {"RETRY-AFTER", "3600"},
      {"Retry-After", "soon"}, {"X-Retry-After", "3600"}, {"Retry-After", "Wed, 21 Oct 2099 07:28:00 GMT"},
  };
  static const int32_t counts[][2] = {{5, 2}, {0, 0}, {1, 1}, {2, 1000000}, {1000000, 3}};
  for (size_t c = 0; c < COUNT(counts); c++) {
    for (int setting = 0; setting < 8; setting++) {
      boxretry_retry_options options = BOXRETRY_RETRY_OPTIONS_INIT;
      boxretry_strategy *strategy = NULL;
      options.max_attempts = counts[c][0];
      options.max_retries_on_exception = counts[c][1];
      options.retry_unsafe_methods = setting & 1;
      options.retry_after_over_cap = setting & 2 ? BOXRETRY_OVER_CAP_STOP : BOXRETRY_OVER_CAP_CLAMP;
      options.retry_after_cap = setting & 4 ? 7 : 0;
      require(boxretry_strategy_new(&options, &strategy));
      for (size_t h = 0; h <= COUNT(headers); h++) {
        for (int auth = 0; auth <= 1; auth++) {
          for (int32_t cause = BOXRETRY_CAUSE_NONE; cause <= BOXRETRY_CAUSE_TIMEOUT_RESOURCE; cause += 4) {
            boxretry_outcome outcome = BOXRETRY_OUTCOME_INIT;
            outcome.cause = cause;
            outcome.headers = h < COUNT(headers) ? &headers[h] : NULL;
            outcome.header_count = h < COUNT(headers) ? 1 : 0;
            outcome.auth_available = auth;
            compare_documented(&options, strategy, outcome);
            compare_beyond(&options, strategy, outcome);
          }
        }
      }
      boxretry_strategy_free(strategy);
    }
  }
  printf("%ld\n", compared);
  for (int32_t i = 0; i < 64; i++) {
    if (seen_actions[i]) printf("%s\n", boxretry_action_name(i));
  }
  for (int32_t i = 0; i < 64; i++) {
    if (seen_reasons[i]) printf("%s\n", boxretry_reason_name(i));
  }
  return 0;
}
