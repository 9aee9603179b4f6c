/*
 * The retry loop, run by a program of bytes: first how everything is made, then one step after another. A model says what
 * each decision must be. With a seed, a twin of the loop is given the same outcomes and must decide the same.
 */
#include <math.h>

#include "model.h"

/* How far a manual clock goes, in seconds, and how precise a Double is there. */
#define CLOCK_END 4294967296.0
#define CLOCK_PRECISION 1e-6

typedef struct run {
  input in;
  model model;
  /* NULL once freed. */
  boxretry_strategy *strategy;
  boxretry_clock *clock;
  boxretry_retry_loop *loop, *twin;
  bool has_ended;

  /* What happens in the callbacks of a custom strategy. */
  const boxretry_outcome *outcome; /* the one that is being decided */
  bool has_failed, is_context_freed;
} run;

/* --- The custom strategy: answers as the input says, and tries what is not allowed --- */

static void try_something(run *run) {
  boxretry_decision decision = BOXRETRY_DECISION_INIT, before = decision;
  switch (take_byte(&run->in) % 8) {
  case 0:
    REQUIRE(boxretry_clock_sleep(NULL, 1000) == BOXRETRY_ERROR_IN_CALLBACK, "convention 6: no blocking in a callback");
    break;
  case 1:
    if (!run->loop) break;
    REQUIRE(boxretry_retry_loop_next(run->loop, run->outcome, &decision) == BOXRETRY_ERROR_IN_CALLBACK,
            "a loop cannot be asked by its own callback");
    REQUIRE(memcmp(&decision, &before, sizeof before) == 0, "convention 2: nothing is written on failure");
    break;
  case 2: /* convention 1: free is allowed anywhere */
    boxretry_retry_loop_free(run->loop);
    run->loop = NULL;
    break;
  case 3:
    boxretry_strategy_free(run->strategy);
    run->strategy = NULL;
    break;
  case 4:
    boxretry_clock_free(run->clock);
    run->clock = NULL;
    break;
  default:
    break;
  }
  REQUIRE(!run->is_context_freed, "context_free is called when the last use is over");
}

static void check_outcome(const run *run, const boxretry_outcome *outcome, int32_t attempt_number) {
  REQUIRE(outcome->struct_size == sizeof *outcome, "convention 3: the library writes its size");
  REQUIRE(outcome->status == run->outcome->status && outcome->cause == run->outcome->cause,
          "B9: the outcome as it was");
  REQUIRE(outcome->header_count == run->outcome->header_count, "B9: with its headers");
  for (size_t i = 0; i < outcome->header_count; i++)
    REQUIRE(strcmp(outcome->headers[i].value, run->outcome->headers[i].value) == 0, "B9: with its headers");
  REQUIRE((outcome->request != NULL) == (run->outcome->request != NULL), "B9: with its request");
  REQUIRE((outcome->body_not_replayable != 0) == (run->outcome->body_not_replayable != 0), "B9: and the body");
  REQUIRE((outcome->auth_available != 0) == (run->outcome->auth_available || run->model.limits.auth_available),
          "the loop's auth_available counts for every outcome");
  REQUIRE(attempt_number == model_number(&run->model, run->outcome), "B4: the number of its kind");
}

static void should_retry(void *context, const boxretry_outcome *outcome, int32_t attempt_number, int32_t *action) {
  static const int32_t answers[] = {BOXRETRY_ACTION_RETRY,   BOXRETRY_ACTION_REFRESH_TOKEN_AND_RETRY,
                                    BOXRETRY_ACTION_RETRY,   BOXRETRY_ACTION_STOP,
                                    BOXRETRY_ACTION_SUCCEED, INT32_MAX,
                                    BOXRETRY_ACTION_RETRY,   BOXRETRY_ACTION_UNANSWERED};
  run *run = context;
  REQUIRE(*action == BOXRETRY_ACTION_UNANSWERED, "B9: the answer is preset to \"failed\"");
  check_outcome(run, outcome, attempt_number);
  try_something(run);
  *action = answers[take_byte(&run->in) % (sizeof answers / sizeof answers[0])];
  run->model.custom_action = *action;
  run->has_failed = !is_retry(*action) && *action != BOXRETRY_ACTION_STOP;
}

static void retry_after(void *context, const boxretry_outcome *outcome, int32_t attempt_number, double *delay) {
  run *run = context;
  REQUIRE(*delay == BOXRETRY_DELAY_UNANSWERED, "B9: the answer is preset to \"failed\"");
  REQUIRE(is_retry(run->model.custom_action), "called only when there is a retry");
  check_outcome(run, outcome, attempt_number);
  try_something(run);
  uint8_t kind = take_byte(&run->in) % 4;
  if (kind != 0) *delay = kind == 1 ? take_double(&run->in) : take_u16(&run->in);
  run->model.custom_delay = *delay;
  run->has_failed = *delay == BOXRETRY_DELAY_UNANSWERED;
}

static void context_free(void *context) {
  run *run = context;
  REQUIRE(!run->is_context_freed, "context_free is called once");
  run->is_context_freed = true;
}

/* --- Beginning and end --- */

/* Mostly small. */
static int32_t take_count(input *in) {
  uint8_t byte = take_byte(in);
  return byte < 250 ? byte % 12 : (int32_t)((uint32_t)take_i32(in) % 1000001);
}

static double take_delay(input *in) {
  if (take_flag(in)) return take_u16(in) / 16.0;
  double delay = fabs(take_double(in));
  return isnormal(delay) ? delay : 0;
}

static void make_custom_strategy(run *run, bool has_retry_after) {
  boxretry_strategy_callbacks callbacks = BOXRETRY_STRATEGY_CALLBACKS_INIT;
  callbacks.context = run;
  callbacks.should_retry = should_retry;
  callbacks.retry_after = has_retry_after ? retry_after : NULL;
  callbacks.context_free = context_free;
  run->model.is_custom = true;
  run->model.has_custom_delay = has_retry_after;
  REQUIRE(boxretry_strategy_new_custom(&callbacks, &run->strategy) == BOXRETRY_OK, "the callbacks are valid");
}

static void make_box_strategy(run *run, bool has_options) {
  boxretry_retry_options *options = &run->model.options;
  input *in = &run->in;
  if (has_options) {
    options->max_attempts = take_count(in);
    options->max_retries_on_exception = take_count(in);
    options->retry_base_interval = take_delay(in);
    options->retry_randomization_factor = take_byte(in) / 255.0;
    options->backoff_cap = take_delay(in);
    options->retry_after_cap = take_delay(in);
    options->retry_after_over_cap = take_flag(in);
    options->retry_unsafe_methods = take_flag(in);
    options->retry_after_jitter = take_byte(in) / 255.0;
  }
  REQUIRE(boxretry_strategy_new(options, &run->strategy) == BOXRETRY_OK, "the options are valid");
}

static void begin(run *run) {
  boxretry_loop_options *limits = &run->model.limits;
  uint8_t flags = take_byte(&run->in);
  run->model.options = (boxretry_retry_options)BOXRETRY_RETRY_OPTIONS_INIT;
  *limits = (boxretry_loop_options)BOXRETRY_LOOP_OPTIONS_INIT;
  if (flags & 1)
    make_custom_strategy(run, flags & 2);
  else
    make_box_strategy(run, flags & 2);

  REQUIRE(boxretry_clock_new_manual(&run->clock) == BOXRETRY_OK, "a clock can be made");
  limits->clock = run->clock;
  limits->auth_available = flags & 4;
  if (flags & 8) limits->deadline_ms = 1 + take_u16(&run->in);
  if (flags & 16) limits->seed = take_u16(&run->in);
  if (flags & 32) limits->max_total_attempts = take_count(&run->in);
  REQUIRE(boxretry_retry_loop_new(run->strategy, limits, &run->loop) == BOXRETRY_OK, "the options are valid");
  if (limits->seed && !run->model.is_custom)
    REQUIRE(boxretry_retry_loop_new(run->strategy, limits, &run->twin) == BOXRETRY_OK, "the options are valid");
}

static void end(run *run) {
  boxretry_strategy_free(run->strategy);
  boxretry_clock_free(run->clock);
  REQUIRE(!run->is_context_freed || !run->loop, "convention 1: a loop retains its strategy");
  boxretry_retry_loop_free(run->loop);
  boxretry_retry_loop_free(run->twin);
  REQUIRE(run->is_context_freed == run->model.is_custom, "context_free is called when the last use is over");
}

/* --- Steps --- */

static void step_next(run *run) {
  static const int32_t statuses[] = {503, 0, 429, 401, 202, 200, 500, 302, 404, 100, 999, 499};
  static const char *const values[] = {"0", "3", "1e9", "soon", "0.5", "Sun, 06 Nov 1994 08:49:37 GMT", "1,2", "1e400"};
  static const char *const methods[] = {"POST", "PATCH", "GET", NULL};
  input *in = &run->in;
  boxretry_outcome outcome = BOXRETRY_OUTCOME_INIT;
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_header header = {"retry-after", NULL};
  outcome.status = statuses[take_byte(in) % (sizeof statuses / sizeof statuses[0])];
  uint8_t flags = take_byte(in);
  if (flags & 1) {
    header.value = values[take_byte(in) % 8];
    outcome.headers = &header;
    outcome.header_count = 1;
  }
  if (flags & 2) {
    request.method = methods[take_byte(in) % 4];
    uint8_t safety = take_byte(in);
    request.retry_safety = safety % 3;
    if (safety >= 192) request.idempotency_key = "key";
    outcome.request = &request;
    outcome.request_sent = take_byte(in) % 3;
  }
  if (flags & 4) outcome.cause = take_byte(in) % 9;
  outcome.auth_available = flags & 8;
  outcome.body_not_replayable = flags & 16;

  boxretry_decision decision = BOXRETRY_DECISION_INIT, before = decision, of_twin = decision;
  run->outcome = &outcome;
  run->has_failed = false;
  if (!run->has_ended) model_count(&run->model, &outcome);
  boxretry_error error = boxretry_retry_loop_next(run->loop, &outcome, &decision);
  if (run->has_ended || run->has_failed) {
    REQUIRE(error == (run->has_ended ? BOXRETRY_ERROR_ENDED : BOXRETRY_ERROR_CALLBACK_FAILED), "how a loop ends");
    REQUIRE(memcmp(&decision, &before, sizeof before) == 0, "convention 2: nothing is written on failure");
    run->has_ended = true;
    return;
  }
  REQUIRE(error == BOXRETRY_OK, "the outcome is valid");
  model_check(&run->model, &outcome, &decision);
  run->has_ended = !is_retry(decision.action);
  if (!run->twin) return;
  REQUIRE(boxretry_retry_loop_next(run->twin, &outcome, &of_twin) == BOXRETRY_OK, "the outcome is valid");
  REQUIRE(memcmp(&decision, &of_twin, sizeof decision) == 0, "the same seed gives the same delays");
}

/* What is refused is not counted. */
static void step_invalid(run *run) {
  boxretry_outcome outcome = BOXRETRY_OUTCOME_INIT;
  boxretry_decision decision = BOXRETRY_DECISION_INIT;
  uint8_t kind = take_byte(&run->in) % 8;
  if (kind == 0) outcome.status = 99;
  if (kind == 1) outcome.cause = 9;
  if (kind == 2) outcome.request_sent = -1;
  if (kind == 3) outcome.header_count = 1;
  if (kind == 4) outcome.struct_size = 7;
  if (kind == 5) decision.struct_size = 0;
  boxretry_decision before = decision;
  boxretry_error error = boxretry_retry_loop_next(run->loop, kind == 6 ? NULL : &outcome, kind == 7 ? NULL : &decision);
  REQUIRE(error == BOXRETRY_ERROR_INVALID_ARGUMENT, "convention 8: an invalid argument is refused");
  REQUIRE(memcmp(&decision, &before, sizeof before) == 0, "convention 2: nothing is written on failure");
}

static void step_clock(run *run, bool is_asleep) {
  if (!run->clock) return;
  double seconds = take_flag(&run->in) ? take_u16(&run->in) / 1000.0 : take_double(&run->in);
  boxretry_error error =
      is_asleep ? boxretry_clock_suspend(run->clock, seconds) : boxretry_clock_advance(run->clock, seconds);
  double later = run->model.now + seconds, now;
  bool is_delay = seconds >= 0 && seconds <= MAXIMUM_DELAY;
  if (error == BOXRETRY_OK) {
    REQUIRE(boxretry_clock_now(run->clock, BOXRETRY_TIMELINE_BOOTTIME, &now) == BOXRETRY_OK, "the clock is there");
    REQUIRE(is_delay && later <= CLOCK_END + CLOCK_PRECISION, "a clock goes 2^32 seconds far");
    REQUIRE(fabs(now - later) <= CLOCK_PRECISION, "it has moved by this time");
    run->model.now = now;
  } else {
    REQUIRE(error == BOXRETRY_ERROR_INVALID_ARGUMENT, "convention 8: an invalid argument is refused");
    REQUIRE(!is_delay || later >= CLOCK_END - CLOCK_PRECISION, "a clock goes 2^32 seconds far");
  }
}

static void step(run *run) {
  uint8_t kind = take_byte(&run->in) % 12;
  if (kind == 0) {
    step_invalid(run);
  } else if (kind <= 2) {
    step_clock(run, kind == 2);
  } else if (kind == 3) {
    boxretry_clock_set_wall(run->clock,
                            take_double(&run->in)); /* refused if the time is invalid, or the clock is NULL */
  } else if (kind == 4) {
    boxretry_clock_free(run->clock);
    run->clock = NULL;
  } else if (kind == 5) {
    boxretry_strategy_free(run->strategy);
    run->strategy = NULL;
  } else {
    step_next(run);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  run run = {.in = {data, size}};
  begin(&run);
  while (run.in.size > 0 && run.loop)
    step(&run);
  end(&run);
  return 0;
}
