/*
 * Runs the test vectors of Tests/vectors against libboxretry. `usage` describes the input and the output.
 *
 *     cc conformance.c $(pkg-config --cflags --libs boxretry) -o conformance
 *     ./conformance decisions Tests/vectors/decisions.tsv
 */
#define _POSIX_C_SOURCE 200809L /* getline(), strtok_r() */
#include <boxretry.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: conformance decisions|retry_after|retry_after_jitter|backoff|token_delays FILE...\n"
    "\n"
    "Feeds the cases in each FILE to libboxretry, and compares the results with the expected ones.\n"
    "\n"
    "Each case is one line. Lines end in LF, fields are separated by tabs; empty lines and lines that begin with # are "
    "skipped.\n"
    "  decisions     id, max_attempts, max_retries_on_exception, auth (0 or 1), outcomes, an action for each outcome\n"
    "                  outcome: STATUS, STATUS+ra=VALUE (with that Retry-After), or E (a network exception)\n"
    "                  action: stop, success, retry:bN (after 2^N seconds), retry:raS (after S seconds, from\n"
    "                  Retry-After), refresh:bN, refresh:raS\n"
    "  retry_after   value (\\t: a tab), seconds or - (not a valid delay); the last tab of the line is between them\n"
    "  retry_after_jitter\n"
    "                value, retry_after_jitter, retry_after_cap, and the shortest, middle and longest delay, in\n"
    "                  seconds. 1000 delays are drawn, with the seeds from 1 on: all must be in the range. The\n"
    "                  shortest, median and longest may differ from the expected ones by a tenth of the range\n"
    "  backoff       attempt_number, retry_base_interval, retry_randomization_factor, unit_random, seconds\n"
    "  token_delays  failed_attempt, initial_delay, multiplier, maximum_delay, jitter_ratio, unit_random, seconds\n"
    "Numbers are decimal. Seconds may differ by 1e-12 of their value; the 2^N of the backoff must be exact.\n"
    "\n"
    "Prints one line for each failure, then a summary:\n"
    "  FILE:LINE: expected EXPECTED, got GOT\n"
    "  FILE:LINE: outcome N: expected EXPECTED, got GOT    (the first that differs)\n"
    "  FILE:LINE: malformed line\n"
    "  FILE: no cases\n"
    "  FILE: cannot be read: REASON\n"
    "  N passed, N failed\n"
    "EXPECTED is the file's text. GOT is SECONDS, - or error NAME; for an outcome, ACTION DELAY_SOURCE SECONDS or\n"
    "error NAME. The names are those of the library, and SECONDS are printed with %.17g.\n"
    "\n"
    "Exit status: 0 if everything passed, 1 if anything failed, 2 if the command line is wrong.\n";

enum { WALL_CLOCK = 1790000000 }; /* for dates in Retry-After, seconds since 1970 */
static const double LONGEST_DELAY = 2147483647.0;

typedef enum verdict { PASSED, DIFFERS, MALFORMED } verdict;

/* The outcome that a file expects. */
typedef struct expectation {
  int32_t action;
  int32_t delay_source;
  double delay;
} expectation;

/* ---- Reading ---- */

/* Splits a line at its tabs, in place. Returns false unless it has exactly that number of fields. */
static bool split(char *line, char **fields, size_t count) {
  for (size_t i = 0; i < count; i++) {
    fields[i] = line;
    line = strchr(line, '\t');
    if (line == NULL) return i + 1 == count;
    *line++ = '\0';
  }
  return false;
}

static bool parse_number(const char *text, double *number) {
  char *end;
  *number = strtod(text, &end);
  return end != text && *end == '\0' && text[strspn(text, "0123456789+-.eE")] == '\0';
}

static bool parse_integer(const char *text, int32_t *integer) {
  char *end;
  errno = 0;
  long number = strtol(text, &end, 10);
  if (end == text || *end != '\0' || text[strspn(text, "0123456789+-")] != '\0') return false;
  if (errno == ERANGE || number < INT32_MIN || number > INT32_MAX) return false;
  *integer = (int32_t)number;
  return true;
}

/* Replaces each \t escape by a tab, in place. */
static void unescape_tabs(char *text) {
  char *to = text;
  for (const char *from = text; *from != '\0'; from++) {
    bool is_tab = from[0] == '\\' && from[1] == 't';
    *to++ = is_tab ? '\t' : *from;
    from += is_tab;
  }
  *to = '\0';
}

/* Reads 503, 503+ra=VALUE or E, in place. `header` stores the outcome's Retry-After. */
static bool parse_outcome(char *text, boxretry_header *header, boxretry_outcome *outcome) {
  if (strcmp(text, "E") == 0) {
    outcome->cause = BOXRETRY_CAUSE_CONNECT;
    return true;
  }
  char *suffix = strstr(text, "+ra=");
  if (suffix != NULL) {
    *suffix = '\0';
    header->name = "Retry-After";
    header->value = suffix + strlen("+ra=");
    outcome->headers = header;
    outcome->header_count = 1;
  }
  return parse_integer(text, &outcome->status);
}

/* The backoff without jitter for a base interval of one second: 2^n, up to the longest delay. */
static double power_of_two(int32_t n) {
  double power = 1.0;
  for (; n > 0 && power < LONGEST_DELAY; n--)
    power *= 2.0;
  return power < LONGEST_DELAY ? power : LONGEST_DELAY;
}

/* Whether the text begins with the prefix; if so, skips it. */
static bool skip(const char **text, const char *prefix) {
  size_t length = strlen(prefix);
  if (strncmp(*text, prefix, length) != 0) return false;
  *text += length;
  return true;
}

/* Reads stop, success, retry:bN, retry:raS, refresh:bN or refresh:raS. */
static bool parse_action(const char *text, expectation *expected) {
  *expected = (expectation){BOXRETRY_ACTION_STOP, BOXRETRY_DELAY_NONE, 0.0};
  if (strcmp(text, "stop") == 0) return true;
  expected->action = BOXRETRY_ACTION_SUCCEED;
  if (strcmp(text, "success") == 0) return true;

  if (skip(&text, "retry:"))
    expected->action = BOXRETRY_ACTION_RETRY;
  else if (skip(&text, "refresh:"))
    expected->action = BOXRETRY_ACTION_REFRESH_TOKEN_AND_RETRY;
  else
    return false;

  if (skip(&text, "ra")) {
    expected->delay_source = BOXRETRY_DELAY_RETRY_AFTER;
    return parse_number(text, &expected->delay);
  }
  int32_t exponent;
  if (!skip(&text, "b") || !parse_integer(text, &exponent) || exponent < 0) return false;
  expected->delay_source = BOXRETRY_DELAY_BACKOFF;
  expected->delay = power_of_two(exponent);
  return true;
}

/* ---- Comparing ---- */

static bool nearly_equal(double got, double expected) {
  double difference = got > expected ? got - expected : expected - got;
  return difference <= 1e-12 * expected;
}

/* Compares the seconds that the library returned, or its error, with the text in the file. */
static verdict compare_seconds(const char *where, const char *expected, boxretry_error error, double got) {
  double seconds;
  bool passed;
  if (strcmp(expected, "-") == 0)
    passed = error == BOXRETRY_ERROR_NOT_USABLE;
  else if (parse_number(expected, &seconds))
    passed = error == BOXRETRY_OK && nearly_equal(got, seconds);
  else
    return MALFORMED;
  if (passed) return PASSED;

  printf("%s: expected %s, got ", where, expected);
  if (error == BOXRETRY_OK)
    printf("%.17g\n", got);
  else if (error == BOXRETRY_ERROR_NOT_USABLE)
    puts("-");
  else
    printf("error %s\n", boxretry_error_name(error));
  return DIFFERS;
}

/* Compares the decision about one outcome, or the library's error, with the text in the file. */
static verdict compare_decision(const char *where, int outcome_number, const char *expected, boxretry_error error,
                                const boxretry_decision *got) {
  expectation parsed;
  if (!parse_action(expected, &parsed)) return MALFORMED;
  bool is_exact = parsed.delay_source != BOXRETRY_DELAY_RETRY_AFTER;
  if (error == BOXRETRY_OK && got->action == parsed.action && got->delay_source == parsed.delay_source &&
      (is_exact ? got->delay == parsed.delay : nearly_equal(got->delay, parsed.delay)))
    return PASSED;

  printf("%s: outcome %d: expected %s, got ", where, outcome_number, expected);
  if (error == BOXRETRY_OK)
    printf("%s %s %.17g\n", boxretry_action_name(got->action), boxretry_delay_source_name(got->delay_source),
           got->delay);
  else
    printf("error %s\n", boxretry_error_name(error));
  return DIFFERS;
}

/* ---- The modes: each checks one line, which it may modify ---- */

/* Feeds outcomes to a loop as long as its decisions match. `error`: why the loop could not be created. */
static verdict compare_decisions(const char *where, boxretry_retry_loop *loop, boxretry_error error, char *outcomes,
                                 char *actions) {
  char *outcomes_rest, *actions_rest;
  char *outcome_text = strtok_r(outcomes, " ", &outcomes_rest);
  char *action_text = strtok_r(actions, " ", &actions_rest);
  if (outcome_text == NULL) return MALFORMED;
  for (int number = 1; outcome_text != NULL && action_text != NULL; number++) {
    boxretry_header header;
    boxretry_outcome outcome = BOXRETRY_OUTCOME_INIT;
    boxretry_decision decision = BOXRETRY_DECISION_INIT;
    if (!parse_outcome(outcome_text, &header, &outcome)) return MALFORMED;
    if (error == BOXRETRY_OK) error = boxretry_retry_loop_next(loop, &outcome, &decision);
    verdict result = compare_decision(where, number, action_text, error, &decision);
    if (result != PASSED) return result;
    outcome_text = strtok_r(NULL, " ", &outcomes_rest);
    action_text = strtok_r(NULL, " ", &actions_rest);
  }
  return outcome_text == NULL && action_text == NULL ? PASSED : MALFORMED;
}

static verdict check_decisions(const char *where, char *line) {
  char *fields[6];
  boxretry_retry_options options = BOXRETRY_RETRY_OPTIONS_INIT;
  boxretry_loop_options loop_options = BOXRETRY_LOOP_OPTIONS_INIT;
  if (!split(line, fields, 6) || !parse_integer(fields[1], &options.max_attempts) ||
      !parse_integer(fields[2], &options.max_retries_on_exception) ||
      !parse_integer(fields[3], &loop_options.auth_available))
    return MALFORMED;
  options.retry_randomization_factor = 0.0;
  loop_options.max_total_attempts = 1000000; /* so that the ceiling (B14) is not reached before max_attempts */

  boxretry_strategy *strategy = NULL;
  boxretry_retry_loop *loop = NULL;
  boxretry_error error = boxretry_strategy_new(&options, &strategy);
  if (error == BOXRETRY_OK) error = boxretry_retry_loop_new(strategy, &loop_options, &loop);
  verdict result = compare_decisions(where, loop, error, fields[4], fields[5]);
  boxretry_retry_loop_free(loop);
  boxretry_strategy_free(strategy);
  return result;
}

static verdict check_retry_after(const char *where, char *line) {
  char *tab = strrchr(line, '\t');
  if (tab == NULL) return MALFORMED;
  *tab = '\0';
  unescape_tabs(line);
  double seconds = 0.0;
  boxretry_error error = boxretry_parse_retry_after(line, WALL_CLOCK, &seconds);
  return compare_seconds(where, tab + 1, error, seconds);
}

static verdict check_backoff(const char *where, char *line) {
  char *fields[5];
  int32_t attempt_number;
  double unit_random, seconds = 0.0;
  boxretry_retry_options options = BOXRETRY_RETRY_OPTIONS_INIT;
  if (!split(line, fields, 5) || !parse_integer(fields[0], &attempt_number) ||
      !parse_number(fields[1], &options.retry_base_interval) ||
      !parse_number(fields[2], &options.retry_randomization_factor) || !parse_number(fields[3], &unit_random))
    return MALFORMED;
  boxretry_error error = boxretry_backoff_delay(&options, attempt_number, unit_random, &seconds);
  return compare_seconds(where, fields[4], error, seconds);
}

static verdict check_token_delays(const char *where, char *line) {
  char *fields[7];
  int32_t failed_attempt;
  double unit_random, seconds = 0.0;
  boxretry_token_retry_policy policy = BOXRETRY_TOKEN_RETRY_POLICY_INIT;
  if (!split(line, fields, 7) || !parse_integer(fields[0], &failed_attempt) ||
      !parse_number(fields[1], &policy.initial_delay) || !parse_number(fields[2], &policy.multiplier) ||
      !parse_number(fields[3], &policy.maximum_delay) || !parse_number(fields[4], &policy.jitter_ratio) ||
      !parse_number(fields[5], &unit_random))
    return MALFORMED;
  boxretry_error error = boxretry_token_delay(&policy, failed_attempt, unit_random, &seconds);
  return compare_seconds(where, fields[6], error, seconds);
}

static int compare_numbers(const void *a, const void *b) {
  const double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

enum { DRAWN = 1000 };

/* Draws the delays that follow a Retry-After. */
static boxretry_error draw_delays(const boxretry_retry_options *options, const char *value, double delays[DRAWN]) {
  boxretry_strategy *strategy = NULL;
  const boxretry_header header = {"Retry-After", value};
  boxretry_error error = boxretry_strategy_new(options, &strategy);
  for (int i = 0; i < DRAWN && error == BOXRETRY_OK; i++) {
    boxretry_loop_options loop_options = BOXRETRY_LOOP_OPTIONS_INIT;
    boxretry_outcome outcome = BOXRETRY_OUTCOME_INIT;
    boxretry_decision decision = BOXRETRY_DECISION_INIT;
    boxretry_retry_loop *loop = NULL;
    loop_options.seed = (uint64_t)i + 1;
    outcome.status = 503;
    outcome.headers = &header;
    outcome.header_count = 1;
    error = boxretry_retry_loop_new(strategy, &loop_options, &loop);
    if (error == BOXRETRY_OK) error = boxretry_retry_loop_next(loop, &outcome, &decision);
    delays[i] = decision.delay;
    boxretry_retry_loop_free(loop);
  }
  boxretry_strategy_free(strategy);
  qsort(delays, DRAWN, sizeof delays[0], compare_numbers);
  return error;
}

static verdict check_retry_after_jitter(const char *where, char *line) {
  char *fields[6];
  double expected[3], delays[DRAWN] = {0};
  boxretry_retry_options options = BOXRETRY_RETRY_OPTIONS_INIT;
  if (!split(line, fields, 6) || !parse_number(fields[1], &options.retry_after_jitter) ||
      !parse_number(fields[2], &options.retry_after_cap))
    return MALFORMED;
  for (int i = 0; i < 3; i++)
    if (!parse_number(fields[3 + i], &expected[i])) return MALFORMED;
  const boxretry_error error = draw_delays(&options, fields[0], delays);
  if (error != BOXRETRY_OK) return compare_seconds(where, fields[3], error, 0.0);

  const double got[] = {delays[0], delays[DRAWN / 2], delays[DRAWN - 1]};
  const double room = (expected[2] - expected[0]) / 10, exactness = 1e-12 * expected[2];
  bool is_right = got[0] >= expected[0] - exactness && got[2] <= expected[2] + exactness;
  for (int i = 0; i < 3; i++) {
    const double difference = got[i] - expected[i];
    if (difference > room + exactness || -difference > room + exactness) is_right = false;
  }
  if (is_right) return PASSED;
  printf("%s: expected %s %s %s, got %.17g %.17g %.17g\n", where, fields[3], fields[4], fields[5], got[0], got[1],
         got[2]);
  return DIFFERS;
}

typedef verdict check_line(const char *where, char *line);

static const struct {
  const char *name;
  check_line *check;
} modes[] = {
    {"decisions", check_decisions},
    {"retry_after", check_retry_after},
    {"retry_after_jitter", check_retry_after_jitter},
    {"backoff", check_backoff},
    {"token_delays", check_token_delays},
};

static check_line *find_mode(const char *name) {
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
    if (strcmp(modes[i].name, name) == 0) return modes[i].check;
  return NULL;
}

/* ---- Files ---- */

static long passed_count, failed_count;

/* Checks a case, or skips a comment. `length` is needed because the line may contain a NUL. */
static void check_case(check_line *check, const char *path, long line_number, char *line, size_t length) {
  if (length > 0 && line[length - 1] == '\n') line[--length] = '\0';
  if (length == 0 || line[0] == '#') return;
  char where[4096];
  snprintf(where, sizeof where, "%s:%ld", path, line_number);
  verdict result = strlen(line) == length ? check(where, line) : MALFORMED;
  if (result == MALFORMED) printf("%s: malformed line\n", where);
  if (result == PASSED)
    passed_count++;
  else
    failed_count++;
}

static void check_file(check_line *check, const char *path) {
  long count_before = passed_count + failed_count;
  char *line = NULL;
  size_t capacity = 0;
  ssize_t length;
  FILE *file = fopen(path, "rb");
  if (file != NULL)
    for (long number = 1; (length = getline(&line, &capacity, file)) >= 0; number++)
      check_case(check, path, number, line, (size_t)length);
  if (file == NULL || !feof(file)) {
    printf("%s: cannot be read: %s\n", path, strerror(errno));
    failed_count++;
  } else if (passed_count + failed_count == count_before) {
    printf("%s: no cases\n", path);
    failed_count++;
  }
  if (file != NULL) fclose(file);
  free(line);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--help") == 0) {
    fputs(usage, stdout);
    return 0;
  }
  check_line *check = argc >= 3 ? find_mode(argv[1]) : NULL;
  if (check == NULL) {
    fputs(usage, stderr);
    return 2;
  }
  for (int i = 2; i < argc; i++)
    check_file(check, argv[i]);
  printf("%ld passed, %ld failed\n", passed_count, failed_count);
  return failed_count == 0 ? 0 : 1;
}
