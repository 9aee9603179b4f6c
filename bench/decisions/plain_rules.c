/* The floor for one decision: the rules of B3, B4, B6 and B7 written straight in C, as a separate shared library, with
 * no checking of arguments, no custom strategies, no caps, and numbers only in Retry-After. */
#include "plain_rules.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <strings.h>

static _Atomic uint64_t random_state;

static double unit_random(void) {
  uint64_t mixed = atomic_fetch_add_explicit(&random_state, 0x9E3779B97F4A7C15U, memory_order_relaxed);
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9U;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
  mixed ^= mixed >> 31;
  return (double)(mixed >> 11) * (1.0 / 9007199254740991.0);
}

/* The value of a Retry-After that is a decimal number without an exponent; -1 if it is not one. */
static double parse_seconds(const char *text) {
  double value = 0, unit = 1;
  bool any = false;
  while (*text == ' ' || *text == '\t')
    text++;
  for (; *text >= '0' && *text <= '9'; text++, any = true)
    value = value * 10 + (*text - '0');
  if (*text == '.')
    for (text++; *text >= '0' && *text <= '9'; text++, any = true)
      value += (unit /= 10) * (*text - '0');
  while (*text == ' ' || *text == '\t')
    text++;
  if (!any || *text) return -1;
  return value < 2147483647.0 ? value : 2147483647.0;
}

void plain_should_retry(const boxretry_retry_options *options, const boxretry_outcome *outcome, int32_t attempt_number,
                        boxretry_decision *out) {
  bool has_retry_after = false;
  double retry_after = -1;
  for (size_t i = 0; i < outcome->header_count; i++) {
    if (strcasecmp(outcome->headers[i].name, "Retry-After") != 0) continue;
    double seconds = parse_seconds(outcome->headers[i].value);
    has_retry_after = true;
    if (seconds > retry_after) retry_after = seconds;
  }
  out->attempt_number = attempt_number;
  out->exception_number = outcome->status == 0 ? attempt_number : 0;
  out->retry_after_state = !has_retry_after   ? BOXRETRY_RETRY_AFTER_ABSENT
                           : retry_after >= 0 ? BOXRETRY_RETRY_AFTER_USABLE
                                              : BOXRETRY_RETRY_AFTER_NOT_USABLE;
  out->retry_after = retry_after;
  out->delay = 0;
  out->delay_source = BOXRETRY_DELAY_NONE;
  out->action = BOXRETRY_ACTION_RETRY;

  if (outcome->status == 0) {
    if (attempt_number <= options->max_retries_on_exception) {
      out->reason = BOXRETRY_REASON_NETWORK_EXCEPTION;
    } else {
      out->action = BOXRETRY_ACTION_STOP;
      out->reason = BOXRETRY_REASON_EXCEPTIONS_EXHAUSTED;
    }
  } else if (attempt_number >= options->max_attempts) {
    out->action = outcome->status >= 200 && outcome->status < 400 ? BOXRETRY_ACTION_SUCCEED : BOXRETRY_ACTION_STOP;
    out->reason = BOXRETRY_REASON_ATTEMPTS_EXHAUSTED;
  } else if (outcome->status == 202 && has_retry_after) {
    out->reason = BOXRETRY_REASON_ACCEPTED;
  } else if (outcome->status >= 500) {
    out->reason = BOXRETRY_REASON_SERVER_ERROR;
  } else if (outcome->status == 429) {
    out->reason = BOXRETRY_REASON_RATE_LIMITED;
  } else if (outcome->status == 401 && outcome->auth_available) {
    out->action = BOXRETRY_ACTION_REFRESH_TOKEN_AND_RETRY;
    out->reason = BOXRETRY_REASON_UNAUTHORIZED;
  } else if (outcome->status >= 200 && outcome->status < 400) {
    out->action = BOXRETRY_ACTION_SUCCEED;
    out->reason = BOXRETRY_REASON_SUCCESS;
  } else {
    out->action = BOXRETRY_ACTION_STOP;
    out->reason = BOXRETRY_REASON_NOT_RETRYABLE;
  }
  if (out->action != BOXRETRY_ACTION_RETRY && out->action != BOXRETRY_ACTION_REFRESH_TOKEN_AND_RETRY) return;

  if (retry_after >= 0) {
    out->delay = retry_after;
    out->delay_source = BOXRETRY_DELAY_RETRY_AFTER;
    return;
  }
  double delay = options->retry_base_interval;
  for (int32_t i = 0; i < attempt_number && delay < 2147483647.0; i++)
    delay *= 2;
  delay *= 1 - options->retry_randomization_factor + unit_random() * 2 * options->retry_randomization_factor;
  out->delay = delay < 2147483647.0 ? delay : 2147483647.0;
  out->delay_source = BOXRETRY_DELAY_BACKOFF;
}
