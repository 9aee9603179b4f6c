/* One decision through the library against the same rules in plain C (plain_rules.c).
 *
 *     decision                        processor time per decision, rounds of the two in turn, the median of each and of
 *                                     their ratios: prints a row for each kind of outcome
 *     decision ours|plain ROW COUNT   only makes COUNT decisions, of the kind in that row, from 0: for bench/profiling.py */
#include "costs.h"
#include "plain_rules.h"

enum { ROUNDS = 31, CALLS = 200000 };

static void decide_ours(const boxretry_strategy *strategy, const boxretry_outcome *outcome, long count,
                        boxretry_decision *out) {
  for (long i = 0; i < count; i++)
    require(boxretry_strategy_should_retry(strategy, outcome, 1 + (int32_t)(i % 3), out) == BOXRETRY_OK,
            "should_retry");
}

static void decide_plain(const boxretry_retry_options *options, const boxretry_outcome *outcome, long count,
                         boxretry_decision *out) {
  for (long i = 0; i < count; i++)
    plain_should_retry(options, outcome, 1 + (int32_t)(i % 3), out);
}

static void measure(const char *name, const boxretry_strategy *strategy, const boxretry_retry_options *options,
                    const boxretry_outcome *outcome) {
  double ours[ROUNDS], plain[ROUNDS], ratios[ROUNDS];
  boxretry_decision a = BOXRETRY_DECISION_INIT, b = BOXRETRY_DECISION_INIT;
  for (int round = 0; round < ROUNDS; round++) {
    double start = processor_time();
    decide_ours(strategy, outcome, CALLS, &a);
    double middle = processor_time();
    decide_plain(options, outcome, CALLS, &b);
    double end = processor_time();
    require(a.action == b.action && a.reason == b.reason && a.delay_source == b.delay_source, name);
    ours[round] = (middle - start) / CALLS * 1e9;
    plain[round] = (end - middle) / CALLS * 1e9;
    ratios[round] = ours[round] / plain[round];
  }
  const double ours_median = median(ours, ROUNDS), plain_median = median(plain, ROUNDS), ratio = median(ratios, ROUNDS);
  printf("%-34s %8.1f %8.1f %8.2f %8.2f %8.2f\n", name, ours_median, plain_median, ratios[0], ratio,
         ratios[ROUNDS - 1]);
}

int main(int argc, char **argv) {
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
  const struct {
    const char *name;
    int32_t status, cause, sent;
    size_t header_count;
  } rows[] = {{"503 without headers", 503, BOXRETRY_CAUSE_NONE, BOXRETRY_SENT_UNKNOWN, 0},
              {"network exception", 0, BOXRETRY_CAUSE_CONNECT, BOXRETRY_SENT_NOTHING, 0},
              {"200 with 10 headers", 200, BOXRETRY_CAUSE_NONE, BOXRETRY_SENT_UNKNOWN, 10},
              {"503 with 10 headers", 503, BOXRETRY_CAUSE_NONE, BOXRETRY_SENT_UNKNOWN, 10},
              {"429 with 12 headers, Retry-After", 429, BOXRETRY_CAUSE_NONE, BOXRETRY_SENT_UNKNOWN, 12}};
  const size_t row_count = sizeof rows / sizeof *rows;
  require(boxretry_strategy_new(&options, &strategy) == BOXRETRY_OK, "strategy");
  const size_t only = argc == 4 ? strtoul(argv[2], NULL, 10) : row_count;

  if (argc == 1) printf("%-34s %8s %8s %8s %8s %8s\n", "outcome", "ours", "plain", "least", "ratio", "most");
  for (size_t row = 0; row < row_count; row++) {
    boxretry_outcome outcome = BOXRETRY_OUTCOME_INIT;
    boxretry_decision decision = BOXRETRY_DECISION_INIT;
    outcome.status = rows[row].status;
    outcome.cause = rows[row].cause;
    outcome.request_sent = rows[row].sent;
    outcome.headers = headers;
    outcome.header_count = rows[row].header_count;
    if (argc == 1) {
      measure(rows[row].name, strategy, &options, &outcome);
    } else if (row == only && strcmp(argv[1], "ours") == 0) {
      decide_ours(strategy, &outcome, strtol(argv[3], NULL, 10), &decision);
    } else if (row == only) {
      decide_plain(&options, &outcome, strtol(argv[3], NULL, 10), &decision);
    }
  }
  boxretry_strategy_free(strategy);
  return 0;
}
