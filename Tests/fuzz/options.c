/*
 * The structs with which a caller configures something (conventions 3 and 8, B1, T5).
 *
 * The input says which struct (1 byte), then comes the struct, then what its pointers point to and what else the function
 * is given. What the header calls valid must be accepted, everything else refused, with nothing changed.
 */
#include <float.h>
#include <math.h>

#include "oracle.h"
#include "structs.h"

enum { MAXIMUM_DELAY_HEADERS = 16 };

static bool is_delay(double seconds) {
  return isfinite(seconds) && seconds >= 0;
}

/* Jitter is drawn in steps of 2^-53: smaller numbers are accepted, but need not be exact. */
static bool is_drawn(double unit_random) {
  return unit_random == 0 || unit_random >= DBL_EPSILON / 2;
}

/* --- boxretry_retry_options --- */

static bool is_header_name(const char *name) {
  if (!name || strlen(name) < 1 || strlen(name) > 256) return false;
  for (const char *c = name; *c != '\0'; c++)
    if (*c <= ' ' || *c > '~' || *c == ':') return false;
  return true;
}

static void fuzz_retry_options(input *in) {
  boxretry_retry_options value = BOXRETRY_RETRY_OPTIONS_INIT;
  raw_struct raw = take_struct(in, &value, sizeof value);
  boxretry_delay_header *headers = NULL;
  bool is_count = value.delay_header_count <= MAXIMUM_DELAY_HEADERS, are_headers = value.delay_header_count == 0;
  if (take_flag(in)) {
    size_t length = is_count ? value.delay_header_count : 1;
    headers = new_block(length * sizeof *headers);
    are_headers = is_count;
    for (size_t i = 0; i < length; i++) {
      headers[i].name = take_text(in);
      headers[i].unit = take_double(in);
      bool is_unit = headers[i].unit > 0 && headers[i].unit <= 86400;
      are_headers = are_headers && is_header_name(headers[i].name) && is_unit;
    }
  }
  value.delay_headers = headers;
  PUT_POINTER(&raw, &value, boxretry_retry_options, delay_headers);
  const char *name = take_flag(in) ? take_text(in) : NULL;
  if (has_field(&raw, sizeof value)) value.should_retry_header = name; /* an older, shorter struct does not have it */
  PUT_POINTER(&raw, &value, boxretry_retry_options, should_retry_header);
  are_headers = are_headers && (value.should_retry_header == NULL || is_header_name(value.should_retry_header));
  bool is_valid = is_in(value.max_attempts, 0, 1000000) && is_in(value.max_retries_on_exception, 0, 1000000) &&
                  is_delay(value.retry_base_interval) && is_in(value.retry_randomization_factor, 0, 1) &&
                  is_delay(value.backoff_cap) && is_delay(value.retry_after_cap) &&
                  is_in(value.retry_after_over_cap, 0, 1) && is_in(value.retry_after_jitter, 0, 1);
  const boxretry_retry_options *options = (const void *)raw.block;

  boxretry_strategy *strategy = NULL;
  boxretry_error error = boxretry_strategy_new(options, &strategy);
  bool is_ok = check_error(error, &raw, sizeof value, is_valid && are_headers);
  REQUIRE((strategy != NULL) == is_ok, "convention 2: nothing is written on failure");
  boxretry_strategy_free(strategy);

  double delay = -5, unit_random = take_double(in);
  int32_t attempt_number = take_i32(in);
  error = boxretry_backoff_delay(options, attempt_number, unit_random, &delay);
  bool are_numbers = attempt_number >= 0 && is_in(unit_random, 0, 1);
  if (check_error(error, &raw, sizeof value, is_valid && are_headers && are_numbers)) {
    REQUIRE(is_in(delay, 0, MAXIMUM_DELAY), "B6: a delay is 0 to 2^31 - 1, and never NaN");
    if (is_drawn(unit_random))
      REQUIRE(nearly_equal(delay, oracle_backoff(&value, attempt_number, unit_random), 1e-12), "B6: the formula");
  } else {
    REQUIRE(delay == -5, "convention 2: nothing is written on failure");
  }
  free(headers);
  free(raw.block);
}

/* --- boxretry_token_retry_policy --- */

static void fuzz_token_retry_policy(input *in) {
  boxretry_token_retry_policy value = BOXRETRY_TOKEN_RETRY_POLICY_INIT;
  raw_struct raw = take_struct(in, &value, sizeof value);
  double delay = -5, unit_random = take_double(in);
  int32_t failed_attempt = take_i32(in);
  bool is_valid = value.maximum_attempts >= 1 && is_delay(value.initial_delay) && isfinite(value.multiplier) &&
                  value.multiplier >= 1 && is_delay(value.maximum_delay) && is_in(value.jitter_ratio, 0, 1) &&
                  failed_attempt >= 1 && is_in(unit_random, 0, 1);

  boxretry_error error = boxretry_token_delay((const void *)raw.block, failed_attempt, unit_random, &delay);
  if (check_error(error, &raw, sizeof value, is_valid)) {
    /* The power is computed by squaring: each factor may add a rounding error. */
    double tolerance = 1e-12 + 2 * DBL_EPSILON * failed_attempt;
    REQUIRE(is_in(delay, 0, fmin(value.maximum_delay, MAXIMUM_DELAY)), "T5: no wait is longer than maximum_delay");
    /* Where multiplier^k is beyond a Double, any delay but the tiniest has reached the maximum. */
    if (is_drawn(unit_random) && (value.initial_delay == 0 || value.initial_delay >= 1e-280))
      REQUIRE(nearly_equal(delay, oracle_token_delay(&value, failed_attempt, unit_random), tolerance),
              "T5: the formula");
  } else {
    REQUIRE(delay == -5, "convention 2: nothing is written on failure");
  }
  free(raw.block);
}

/* --- boxretry_loop_options --- */

static void fuzz_loop_options(input *in) {
  boxretry_loop_options value = BOXRETRY_LOOP_OPTIONS_INIT;
  raw_struct raw = take_struct(in, &value, sizeof value);
  boxretry_clock *clock = NULL;
  boxretry_strategy *strategy;
  boxretry_retry_loop *loop = NULL;
  if (take_flag(in)) REQUIRE(boxretry_clock_new_manual(&clock) == BOXRETRY_OK, "a clock can be made");
  REQUIRE(boxretry_strategy_new(NULL, &strategy) == BOXRETRY_OK, "NULL is the defaults");
  bool is_other_handle = take_flag(in); /* a strategy where a clock should be */
  value.clock = is_other_handle ? (const void *)strategy : clock;
  PUT_POINTER(&raw, &value, boxretry_loop_options, clock);
  bool has_clock = has_field(&raw, offsetof(boxretry_loop_options, clock) + sizeof(void *));
  boxretry_budget *budget = NULL;
  if (take_flag(in)) REQUIRE(boxretry_budget_new(1, 0, &budget) == BOXRETRY_OK, "a budget can be made");
  bool is_other_budget = take_flag(in); /* a strategy where a budget should be */
  value.budget = is_other_budget ? (boxretry_budget *)strategy : budget;
  PUT_POINTER(&raw, &value, boxretry_loop_options, budget);
  bool has_budget = has_field(&raw, offsetof(boxretry_loop_options, budget) + sizeof(void *));
  bool is_valid = value.deadline_ms >= 1 && is_in(value.max_total_attempts, 0, 1000000) && value.reserved == 0 &&
                  !(is_other_handle && has_clock) && !(is_other_budget && has_budget);

  boxretry_error error = boxretry_retry_loop_new(strategy, (const void *)raw.block, &loop);
  bool is_ok = check_error(error, &raw, sizeof value, is_valid);
  REQUIRE((loop != NULL) == is_ok, "convention 2: nothing is written on failure");
  boxretry_budget_free(budget);
  boxretry_clock_free(clock);
  boxretry_strategy_free(strategy);
  boxretry_retry_loop_free(loop);
  free(raw.block);
}

/* --- boxretry_strategy_callbacks --- */

static void stop(void *context, const boxretry_outcome *outcome, int32_t attempt_number, int32_t *action) {
  (void)context, (void)outcome, (void)attempt_number;
  *action = BOXRETRY_ACTION_STOP;
}

static void fuzz_callbacks(input *in) {
  boxretry_strategy_callbacks value = BOXRETRY_STRATEGY_CALLBACKS_INIT;
  raw_struct raw = take_struct(in, &value, sizeof value);
  value.should_retry = take_flag(in) ? stop : NULL;
  value.retry_after = NULL;
  value.context_free = NULL;
  PUT_POINTER(&raw, &value, boxretry_strategy_callbacks, should_retry);
  PUT_POINTER(&raw, &value, boxretry_strategy_callbacks, retry_after);
  PUT_POINTER(&raw, &value, boxretry_strategy_callbacks, context_free);
  boxretry_strategy *strategy = NULL;
  boxretry_error error = boxretry_strategy_new_custom((const void *)raw.block, &strategy);
  bool is_ok = check_error(error, &raw, sizeof value, value.should_retry != NULL);
  REQUIRE((strategy != NULL) == is_ok, "convention 2: nothing is written on failure");
  boxretry_strategy_free(strategy);
  free(raw.block);
}

/* --- The _init functions --- */

static void fuzz_init(input *in) {
  static const boxretry_request request = BOXRETRY_REQUEST_INIT;
  static const boxretry_retry_options retry_options = BOXRETRY_RETRY_OPTIONS_INIT;
  static const boxretry_outcome outcome = BOXRETRY_OUTCOME_INIT;
  static const boxretry_decision decision = BOXRETRY_DECISION_INIT;
  static const boxretry_strategy_callbacks callbacks = BOXRETRY_STRATEGY_CALLBACKS_INIT;
  static const boxretry_loop_options loop_options = BOXRETRY_LOOP_OPTIONS_INIT;
  static const boxretry_token_retry_policy policy = BOXRETRY_TOKEN_RETRY_POLICY_INIT;
  static const struct {
    const void *macro;
    size_t size;
  } structs[] = {{&request, sizeof request},     {&retry_options, sizeof retry_options},
                 {&outcome, sizeof outcome},     {&decision, sizeof decision},
                 {&callbacks, sizeof callbacks}, {&loop_options, sizeof loop_options},
                 {&policy, sizeof policy}};
  size_t which = take_byte(in) % (sizeof structs / sizeof structs[0]);
  char ignored[LONGEST_STRUCT];
  raw_struct raw = take_struct(in, ignored, LONGEST_STRUCT);
  void *block = raw.block;
  char *expected = new_string(raw.block, raw.length);
  boxretry_error error;
  switch (which) {
  case 0:
    error = boxretry_request_init(block, raw.size);
    break;
  case 1:
    error = boxretry_retry_options_init(block, raw.size);
    break;
  case 2:
    error = boxretry_outcome_init(block, raw.size);
    break;
  case 3:
    error = boxretry_decision_init(block, raw.size);
    break;
  case 4:
    error = boxretry_strategy_callbacks_init(block, raw.size);
    break;
  case 5:
    error = boxretry_loop_options_init(block, raw.size);
    break;
  default:
    error = boxretry_token_retry_policy_init(block, raw.size);
  }
  if (check_error(error, &raw, structs[which].size, true)) {
    memset(expected, 0, raw.length);
    memcpy(expected, structs[which].macro, raw.length < structs[which].size ? raw.length : structs[which].size);
    memcpy(expected, &raw.size, sizeof raw.size);
  }
  REQUIRE(memcmp(raw.block, expected, raw.length) == 0, "convention 3: what the macro gives; nothing on failure");
  free(expected);
  free(raw.block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static void (*const fuzz[])(input *) = {fuzz_retry_options, fuzz_token_retry_policy, fuzz_loop_options,
                                          fuzz_callbacks, fuzz_init};
  input in = {data, size};
  fuzz[take_byte(&in) % (sizeof fuzz / sizeof fuzz[0])](&in);
  return 0;
}
