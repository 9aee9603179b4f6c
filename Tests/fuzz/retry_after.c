/*
 * Retry-After (B7, B11). The input is text: header lines `name: value`, each ended by a newline. A line without a colon
 * is the value of a Retry-After. Lines after the 16th are left out.
 */
#include <math.h>
#include <strings.h>

#include "oracle.h"

/* A quarter of a second beyond the time of Tests/vectors/retry_after.tsv, and exact in binary. */
static const double wall = 1790000000.25;

/* Further headers that carry a delay, in the order in which they count. */
static const boxretry_delay_header delay_headers[] = {{"Retry-After-Ms", 0.001}, {"x-wait-minutes", 60}};

enum { DELAY_HEADERS = sizeof delay_headers / sizeof delay_headers[0], MAXIMUM_LINES = 16 };

/* --- What a response should say about when to come back --- */

typedef struct answer {
  int32_t state;
  double seconds; /* -1 if there are none */
  bool by_date;
  bool is_tie; /* a number and a date say the same */
} answer;

static void add(answer *answer, bool usable, double seconds, bool by_date) {
  if (!usable) {
    if (answer->state == BOXRETRY_RETRY_AFTER_ABSENT) answer->state = BOXRETRY_RETRY_AFTER_NOT_USABLE;
  } else if (answer->state != BOXRETRY_RETRY_AFTER_USABLE || seconds > answer->seconds) {
    *answer = (struct answer){BOXRETRY_RETRY_AFTER_USABLE, seconds, by_date, false};
  } else if (seconds == answer->seconds && by_date != answer->by_date) {
    answer->is_tie = true;
  }
}

/* The response's own Date, where it has a valid one: the first. Else the wall clock. */
static double reference_time(const boxretry_header *headers, size_t count) {
  int64_t date;
  for (size_t i = 0; i < count; i++)
    if (strcasecmp(headers[i].name, "date") == 0 && oracle_date(headers[i].value, (int64_t)floor(wall), &date))
      return (double)date;
  return wall;
}

/* With the first `further` delay headers. */
static answer expected(const boxretry_header *headers, size_t count, size_t further) {
  answer answer = {BOXRETRY_RETRY_AFTER_ABSENT, -1, false, false};
  for (size_t h = 0; h < further; h++) {
    for (size_t i = 0; i < count; i++) {
      double seconds = -1;
      if (strcasecmp(headers[i].name, delay_headers[h].name) != 0) continue;
      bool usable = oracle_number(headers[i].value, delay_headers[h].unit, &seconds);
      add(&answer, usable, seconds, false);
    }
    if (answer.state == BOXRETRY_RETRY_AFTER_USABLE) return answer;
  }
  double reference = reference_time(headers, count);
  for (size_t i = 0; i < count; i++) {
    double seconds = -1;
    int64_t date = 0;
    if (strcasecmp(headers[i].name, "retry-after") != 0) continue;
    if (oracle_number(headers[i].value, 1, &seconds)) {
      add(&answer, true, seconds, false);
    } else {
      bool usable = oracle_date(headers[i].value, (int64_t)floor(reference), &date);
      add(&answer, usable, oracle_delay((double)date - reference), true);
    }
  }
  return answer;
}

/* --- Checks --- */

static void check_value(const char *value) {
  double seconds = -5, number = -1;
  int64_t date = 0;
  boxretry_error error = boxretry_parse_retry_after(value, (int64_t)wall, &seconds);
  if (oracle_number(value, 1, &number)) {
    REQUIRE(error == BOXRETRY_OK, "B7: this number is usable");
    REQUIRE(nearly_equal(seconds, number, 1e-12), "B7: the number is the delay");
  } else if (oracle_date(value, (int64_t)wall, &date)) {
    REQUIRE(error == BOXRETRY_OK, "B7: this date is usable");
    REQUIRE(seconds == oracle_delay((double)(date - (int64_t)wall)), "B7: the delay counts from the given time");
  } else {
    REQUIRE(error == BOXRETRY_ERROR_NOT_USABLE, "B7: this is neither numbers nor a date");
    REQUIRE(seconds == -5, "convention 2: nothing is written on failure");
    REQUIRE(boxretry_last_error_detail()[0] != '\0', "convention 2: there is a detail");
  }
}

/* The decision about a 503 with these headers, at the time `wall`. */
static void check_decision(const boxretry_outcome *outcome, size_t further) {
  boxretry_retry_options options = BOXRETRY_RETRY_OPTIONS_INIT;
  options.delay_headers = delay_headers;
  options.delay_header_count = further;
  boxretry_loop_options loop_options = BOXRETRY_LOOP_OPTIONS_INIT;
  boxretry_clock *clock;
  boxretry_strategy *strategy;
  boxretry_retry_loop *loop;
  boxretry_decision decision = BOXRETRY_DECISION_INIT;
  REQUIRE(boxretry_clock_new_manual(&clock) == BOXRETRY_OK, "a clock can be made");
  REQUIRE(boxretry_clock_set_wall(clock, wall) == BOXRETRY_OK, "the year 2026 is between 1 and 9999");
  loop_options.clock = clock;
  REQUIRE(boxretry_strategy_new(&options, &strategy) == BOXRETRY_OK, "the options are valid");
  REQUIRE(boxretry_retry_loop_new(strategy, &loop_options, &loop) == BOXRETRY_OK, "the options are valid");
  REQUIRE(boxretry_retry_loop_next(loop, outcome, &decision) == BOXRETRY_OK, "the outcome is valid");
  boxretry_retry_loop_free(loop);
  boxretry_strategy_free(strategy);
  boxretry_clock_free(clock);

  answer answer = expected(outcome->headers, outcome->header_count, further);
  REQUIRE(decision.action == BOXRETRY_ACTION_RETRY, "B3: 503 is retried");
  REQUIRE(decision.retry_after_state == answer.state, "B7: absent, usable or not usable");
  REQUIRE(nearly_equal(decision.retry_after, answer.seconds, 1e-12), "B7, B11: the seconds that the server asked for");
  if (answer.state == BOXRETRY_RETRY_AFTER_USABLE) {
    REQUIRE(decision.delay == decision.retry_after, "B7: Retry-After is the delay");
    int32_t source = answer.by_date ? BOXRETRY_DELAY_RETRY_AFTER_DATE : BOXRETRY_DELAY_RETRY_AFTER;
    REQUIRE(decision.delay_source == source || answer.is_tie, "B7: it is a number or a date");
  } else {
    REQUIRE(decision.delay_source == BOXRETRY_DELAY_BACKOFF, "B7: without a usable Retry-After the backoff is used");
    REQUIRE(decision.delay >= 1 && decision.delay <= 3, "B6: the first backoff is 1 to 3 seconds");
  }
}

/* The same through the function that knows no loop. What dates say to it depends on the system's clock. */
static void check_strategy(const boxretry_outcome *outcome) {
  boxretry_strategy *strategy;
  double delay = -5;
  REQUIRE(boxretry_strategy_new(NULL, &strategy) == BOXRETRY_OK, "NULL is the defaults");
  REQUIRE(boxretry_strategy_retry_after(strategy, outcome, 1, &delay) == BOXRETRY_OK, "the outcome is valid");
  boxretry_strategy_free(strategy);
  REQUIRE(delay >= 0 && delay <= MAXIMUM_DELAY, "a delay is 0 to 2^31 - 1, and never NaN");

  int64_t date;
  for (size_t i = 0; i < outcome->header_count; i++)
    if (oracle_date(outcome->headers[i].value, (int64_t)wall, &date)) return;
  answer answer = expected(outcome->headers, outcome->header_count, 0);
  if (answer.state == BOXRETRY_RETRY_AFTER_USABLE)
    REQUIRE(nearly_equal(delay, answer.seconds, 1e-12), "B7: Retry-After is the delay");
  else
    REQUIRE(delay >= 1 && delay <= 3, "B6: the first backoff is 1 to 3 seconds");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  boxretry_header lines[MAXIMUM_LINES];
  size_t count = 0;
  while (size > 0 && count < MAXIMUM_LINES) {
    const uint8_t *newline = memchr(data, '\n', size);
    size_t length = newline ? (size_t)(newline - data) : size;
    const uint8_t *colon = memchr(data, ':', length);
    /* A date has colons too, but never a name before the first one. */
    size_t name_length = colon ? (size_t)(colon - data) : 0;
    bool has_name = colon && !memchr(data, ' ', name_length);
    const uint8_t *value = has_name ? colon + 1 : data;
    lines[count].name = has_name ? new_string(data, name_length) : new_string("Retry-After", 11);
    lines[count].value = new_string(value, length - (size_t)(value - data));
    check_value(lines[count].value);
    count++;
    data += length + (newline != NULL);
    size -= length + (newline != NULL);
  }

  boxretry_header *headers = new_block(count * sizeof *headers);
  memcpy(headers, lines, count * sizeof *headers);
  boxretry_outcome outcome = BOXRETRY_OUTCOME_INIT;
  outcome.status = 503;
  outcome.headers = headers;
  outcome.header_count = count;
  check_decision(&outcome, 0);
  check_decision(&outcome, DELAY_HEADERS);
  check_strategy(&outcome);

  for (size_t i = 0; i < count; i++) {
    free((char *)lines[i].name);
    free((char *)lines[i].value);
  }
  free(headers);
  return 0;
}
