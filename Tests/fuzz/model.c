#include "model.h"

#include <math.h>

#include "oracle.h"

static bool is_exception(const boxretry_outcome *outcome) {
  return outcome->status == 0 || outcome->cause != BOXRETRY_CAUSE_NONE;
}

static bool is_success(const boxretry_outcome *outcome) {
  return !is_exception(outcome) && outcome->status >= 200 && outcome->status < 400;
}

bool is_retry(int32_t action) {
  return action == BOXRETRY_ACTION_RETRY || action == BOXRETRY_ACTION_REFRESH_TOKEN_AND_RETRY;
}

void model_count(model *model, const boxretry_outcome *outcome) {
  model->attempts++;
  if (is_exception(outcome)) model->exceptions++;
}

int32_t model_number(const model *model, const boxretry_outcome *outcome) {
  return is_exception(outcome) ? model->exceptions : model->attempts;
}

/* --- What Box's strategy wants --- */

static bool is_unsafe(const boxretry_request *request) {
  if (!request || request->retry_safety == BOXRETRY_SAFETY_SAFE) return false;
  if (request->retry_safety == BOXRETRY_SAFETY_UNSAFE) return true;
  if (request->idempotency_key) return false;
  return request->method && (strcmp(request->method, "POST") == 0 || strcmp(request->method, "PATCH") == 0);
}

/* B3, B5 and B12. */
static int32_t box_action(const model *model, const boxretry_outcome *outcome) {
  const boxretry_retry_options *options = &model->options;
  bool has_retry_after = outcome->header_count > 0;
  bool server_cannot_have_acted = outcome->request_sent == BOXRETRY_SENT_NOTHING;
  int32_t action = BOXRETRY_ACTION_STOP;
  if (is_exception(outcome)) {
    if (model->exceptions <= options->max_retries_on_exception && model->attempts - 1 < options->max_attempts)
      action = BOXRETRY_ACTION_RETRY;
  } else if (model->attempts < options->max_attempts) {
    int32_t status = outcome->status;
    if ((status == 202 && has_retry_after) || status >= 500 || status == 429) {
      action = BOXRETRY_ACTION_RETRY;
      if (status == 429 || (status == 503 && has_retry_after)) server_cannot_have_acted = true;
    } else if (status == 401 && (outcome->auth_available || model->limits.auth_available)) {
      action = BOXRETRY_ACTION_REFRESH_TOKEN_AND_RETRY;
      server_cannot_have_acted = true;
    }
  }
  if (!options->retry_unsafe_methods && is_unsafe(outcome->request) && !server_cannot_have_acted)
    return BOXRETRY_ACTION_STOP;
  return action;
}

/* --- The delay --- */

typedef struct range {
  double least, most;
} range;

static double at_most(double delay, double cap) {
  if (cap > 0 && delay > cap) delay = cap;
  return delay < MAXIMUM_DELAY ? delay : MAXIMUM_DELAY;
}

#define ROUNDED_DOWN(delay) ((delay) * (1 - 1e-12))
#define ROUNDED_UP(delay) ((delay) * (1 + 1e-12))

/* What the delay of a retry may be, and where it must come from (B6, B7, B9, B11, C2). */
static range expected_delay(const model *model, const boxretry_outcome *outcome, const boxretry_decision *decision,
                            bool *is_source) {
  int32_t source = decision->delay_source;
  if (model->has_custom_delay) {
    double delay = oracle_delay(model->custom_delay);
    *is_source = source == BOXRETRY_DELAY_CUSTOM;
    return (range){delay, delay};
  }
  if (decision->retry_after_state == BOXRETRY_RETRY_AFTER_USABLE) {
    const boxretry_retry_options *options = &model->options;
    double cap = options->retry_after_cap, least = decision->retry_after;
    *is_source = source == BOXRETRY_DELAY_RETRY_AFTER || source == BOXRETRY_DELAY_RETRY_AFTER_DATE;
    return (range){at_most(least, cap), at_most(least * (1 + options->retry_after_jitter), cap)};
  }
  int32_t number = model_number(model, outcome);
  *is_source = source == BOXRETRY_DELAY_BACKOFF;
  return (range){oracle_backoff(&model->options, number, 0), oracle_backoff(&model->options, number, 1)};
}

static double nanoseconds(double seconds) {
  return floor(seconds * 1e9 + 0.5);
}

/* Whether a wait that begins now reaches the deadline (B11). A clock has whole nanoseconds. */
static bool reaches_deadline(const model *model, double delay) {
  int64_t deadline_ms = model->limits.deadline_ms;
  if (deadline_ms == BOXRETRY_NO_TIMEOUT) return false;
  return nanoseconds(model->now) + nanoseconds(delay) >= (double)deadline_ms * 1e6;
}

static int32_t ceiling(const model *model) {
  if (model->limits.max_total_attempts != 0) return model->limits.max_total_attempts;
  return model->is_custom ? 1000 : INT32_MAX; /* Box's strategy has a bound of its own */
}

/* --- Checks --- */

static void check_form(const boxretry_decision *decision) {
  REQUIRE(decision->struct_size == sizeof *decision, "convention 3: the struct_size stays");
  REQUIRE(decision->action >= 0 && decision->action <= 3, "an action of the header");
  REQUIRE(strcmp(boxretry_reason_name(decision->reason), "unknown") != 0, "a reason of the header");
  REQUIRE(strcmp(boxretry_delay_source_name(decision->delay_source), "unknown") != 0, "a delay source of the header");
  REQUIRE(decision->delay >= 0 && decision->delay <= MAXIMUM_DELAY, "a delay is 0 to 2^31 - 1, and never NaN");
  REQUIRE(is_retry(decision->action) == (decision->delay_source != BOXRETRY_DELAY_NONE), "a retry has a delay");
  REQUIRE(is_retry(decision->action) || decision->delay == 0, "no retry, no delay");
  REQUIRE((decision->retry_after_state == BOXRETRY_RETRY_AFTER_USABLE) == (decision->retry_after >= 0),
          "B7: a usable Retry-After has a value, and no other");
}

/* A retry that the strategy wants, and the loop does not make: the reason must be a true one. */
static void check_refusal(const model *model, const boxretry_outcome *outcome, const boxretry_decision *decision) {
  const boxretry_retry_options *options = &model->options;
  bool ignored;
  switch (decision->reason) {
  case BOXRETRY_REASON_ATTEMPT_CEILING:
    REQUIRE(model->attempts >= ceiling(model), "B14: the ceiling is reached");
    break;
  case BOXRETRY_REASON_NOT_REPLAYABLE:
    REQUIRE(outcome->body_not_replayable, "R3: the body cannot be sent again");
    break;
  case BOXRETRY_REASON_RETRY_AFTER_OVER_CAP:
    REQUIRE(options->retry_after_over_cap == BOXRETRY_OVER_CAP_STOP && options->retry_after_cap > 0 &&
                decision->retry_after > options->retry_after_cap,
            "B11: the server asks for more than the cap");
    break;
  case BOXRETRY_REASON_DEADLINE:
    REQUIRE(reaches_deadline(model, ROUNDED_UP(expected_delay(model, outcome, decision, &ignored).most)),
            "B11: the wait would reach the deadline");
    break;
  default:
    REQUIRE(false, "B3: what the strategy retries is retried");
  }
}

void model_check(const model *model, const boxretry_outcome *outcome, const boxretry_decision *decision) {
  check_form(decision);
  REQUIRE(decision->attempt_number == model->attempts, "B4: attempts are counted from 1, one by one");
  REQUIRE(decision->exception_number == (is_exception(outcome) ? model->exceptions : 0), "B4: exceptions are, too");
  REQUIRE((decision->retry_after_state != BOXRETRY_RETRY_AFTER_ABSENT) == (outcome->header_count > 0),
          "B7: the only header is Retry-After");

  int32_t wanted = model->is_custom ? model->custom_action : box_action(model, outcome);
  if (!is_retry(decision->action)) {
    REQUIRE((decision->action == BOXRETRY_ACTION_SUCCEED) == is_success(outcome), "B10: how the call ends");
    if (is_retry(wanted)) check_refusal(model, outcome, decision);
    return;
  }
  REQUIRE(decision->action == wanted, "B3, B5, B9, B12: what the strategy does not retry is not retried");
  REQUIRE(model->attempts < ceiling(model), "B14: the ceiling holds");
  REQUIRE(!outcome->body_not_replayable, "R3: the body can be sent again");
  REQUIRE(!reaches_deadline(model, decision->delay), "B11: the wait ends before the deadline");
  bool is_source;
  range delay = expected_delay(model, outcome, decision, &is_source);
  REQUIRE(is_source, "B6, B7, B9: where the delay comes from");
  REQUIRE(decision->delay >= ROUNDED_DOWN(delay.least) && decision->delay <= ROUNDED_UP(delay.most),
          "B6, B7, B9, B11: the delay");
}
