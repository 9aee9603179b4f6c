/* One decision through the library against the same rules in plain C (plain_rules.c): processor time per decision, rounds
 * of the two in turn, the median of each and of their ratios. Prints a row for each kind of outcome. */
#include "plain_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 31, CALLS = 200000 };

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double values[ROUNDS]) {
  qsort(values, ROUNDS, sizeof *values, compare);
  return values[ROUNDS / 2];
}

static void fail(const char *what) {
  fprintf(stderr, "decision: %s: %s\n", what, boxretry_last_error_detail());
  exit(1);
}

static void measure(const char *name, const boxretry_strategy *strategy, const boxretry_retry_options *options,
                    const boxretry_outcome *outcome) {
  double ours[ROUNDS], plain[ROUNDS], ratios[ROUNDS];
  boxretry_decision a = BOXRETRY_DECISION_INIT, b = BOXRETRY_DECISION_INIT;
  for (int round = 0; round < ROUNDS; round++) {
    double start = cpu_seconds();
    for (int i = 0; i < CALLS; i++)
      if (boxretry_strategy_should_retry(strategy, outcome, 1 + i % 3, &a) != BOXRETRY_OK) fail(name);
    double middle = cpu_seconds();
    for (int i = 0; i < CALLS; i++)
      plain_should_retry(options, outcome, 1 + i % 3, &b);
    double end = cpu_seconds();
    if (a.action != b.action || a.reason != b.reason || a.delay_source != b.delay_source) fail("they differ");
    ours[round] = (middle - start) / CALLS * 1e9;
    plain[round] = (end - middle) / CALLS * 1e9;
    ratios[round] = ours[round] / plain[round];
  }
  const double ours_median = median(ours), plain_median = median(plain), ratio = median(ratios);
  printf("%-34s %8.1f %8.1f %8.2f %8.2f %8.2f\n", name, ours_median, plain_median, ratios[0], ratio,
         ratios[ROUNDS - 1]);
}

int main(void) {
  boxretry_retry_options options = BOXRETRY_RETRY_OPTIONS_INIT;
  boxretry_strategy *strategy;
  boxretry_header headers[12] = {
      {"Date", "Mon, 21 Sep 2026 14:13:20 GMT"},
      {"Content-Type", "application/json"},
      {"Content-Length", "2"},
      {"Connection", "keep-alive"},
      {"Cache-Control", "no-store"},
      {"X-Request-Id", "0a1b2c3d"},
      {"Strict-Transport-Security", "max-age"},
      {"Vary", "Accept-Encoding"},
      {"Server", "nginx"},
      {"X-RateLimit-Remaining", "0"},
      {"Retry-After", "7"},
      {"Age", "0"},
  };
  boxretry_outcome outcome = BOXRETRY_OUTCOME_INIT;
  if (boxretry_strategy_new(&options, &strategy) != BOXRETRY_OK) fail("strategy");

  printf("%-34s %8s %8s %8s %8s %8s\n", "outcome", "ours", "plain", "least", "ratio", "most");
  outcome.status = 503;
  measure("503 without headers", strategy, &options, &outcome);
  outcome.status = 0;
  outcome.cause = BOXRETRY_CAUSE_CONNECT;
  outcome.request_sent = BOXRETRY_SENT_NOTHING;
  measure("network exception", strategy, &options, &outcome);
  outcome = (boxretry_outcome)BOXRETRY_OUTCOME_INIT;
  outcome.status = 200;
  outcome.headers = headers;
  outcome.header_count = 10;
  measure("200 with 10 headers", strategy, &options, &outcome);
  outcome.status = 503;
  measure("503 with 10 headers", strategy, &options, &outcome);
  outcome.status = 429;
  outcome.header_count = 12;
  measure("429 with 12 headers, Retry-After", strategy, &options, &outcome);
  boxretry_strategy_free(strategy);
  return 0;
}
