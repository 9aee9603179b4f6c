/*
 * What goes through a decision: the outcome and the request that a caller hands in (B2), and the decision that the
 * library writes (conventions 2, 3 and 8).
 *
 * The input says which (1 byte), then comes the struct, then what its pointers point to.
 */
#include "structs.h"

enum { MAXIMUM_HEADERS = 65536, FEW_HEADERS = 64 };
enum { LAST_BODY_STATE = BOXRETRY_BODY_PENDING, LAST_REASON = BOXRETRY_REASON_RETRY_REFUSED };

/* --- Header lines: as many as a struct claims to have, or one if it claims too many. --- */

typedef struct lines {
  boxretry_header *headers;
  bool are_valid;
} lines;

/* Counts in between take long, and show nothing that few and most do not show. */
static bool is_tedious(size_t count) {
  return count > FEW_HEADERS && count < MAXIMUM_HEADERS;
}

/* NULL, or headers of which each is one of a few. */
static lines take_lines(input *in, size_t count, bool is_null) {
  if (is_null || is_tedious(count)) return (lines){NULL, count == 0};
  size_t length = count <= MAXIMUM_HEADERS ? count : 1;
  lines lines = {new_block(length * sizeof *lines.headers), count <= MAXIMUM_HEADERS};
  boxretry_header few[4];
  for (size_t i = 0; i < 4; i++) {
    few[i].name = take_text(in);
    few[i].value = take_text(in);
  }
  for (size_t i = 0; i < length; i++) {
    lines.headers[i] = few[i % 4];
    if (!lines.headers[i].name || !lines.headers[i].value) lines.are_valid = false;
  }
  return lines;
}

/* --- boxretry_request --- */

typedef struct sent_request {
  raw_struct raw;
  lines lines;
  bool is_valid;
} sent_request;

static sent_request take_request(input *in) {
  boxretry_request value = BOXRETRY_REQUEST_INIT;
  sent_request request;
  request.raw = take_struct(in, &value, sizeof value);
  value.method = take_text(in);
  value.url = take_text(in);
  value.body = take_text(in);
  request.lines = take_lines(in, value.header_count, take_flag(in));
  value.headers = request.lines.headers;
  PUT_POINTER(&request.raw, &value, boxretry_request, method);
  PUT_POINTER(&request.raw, &value, boxretry_request, url);
  PUT_POINTER(&request.raw, &value, boxretry_request, body);
  PUT_POINTER(&request.raw, &value, boxretry_request, headers);
  request.is_valid = request.raw.is_size && is_in(value.retry_safety, 0, 2) && request.lines.are_valid &&
                     (value.body || value.body_length == 0);
  return request;
}

/* --- boxretry_outcome --- */

static void fuzz_outcome(input *in) {
  boxretry_outcome value = BOXRETRY_OUTCOME_INIT;
  raw_struct raw = take_struct(in, &value, sizeof value);
  lines lines = take_lines(in, value.header_count, take_flag(in));
  sent_request request = {.is_valid = true};
  int32_t attempt_number = take_i32(in);
  if (take_flag(in) && has_field(&raw, offsetof(boxretry_outcome, request) + sizeof value.request))
    request = take_request(in);
  value.headers = lines.headers;
  value.request = (const void *)request.raw.block;
  value.body = take_text(in);
  value.url = take_text(in);
  PUT_POINTER(&raw, &value, boxretry_outcome, headers);
  PUT_POINTER(&raw, &value, boxretry_outcome, request);
  PUT_POINTER(&raw, &value, boxretry_outcome, body);
  PUT_POINTER(&raw, &value, boxretry_outcome, url);
  const bool has_body = value.body && has_field(&raw, offsetof(boxretry_outcome, body) + sizeof value.body);
  bool is_valid = (value.status == 0 || is_in(value.status, 100, 999)) && is_in(value.cause, 0, 8) &&
                  is_in(value.request_sent, 0, 2) && value.reserved == 0 && lines.are_valid && request.is_valid &&
                  is_in(value.body_state, BOXRETRY_BODY_NONE, LAST_BODY_STATE) && value.reserved_2 == 0 &&
                  (has_body || value.body_length == 0) && attempt_number >= 0;
  bool is_short = request.raw.block && request.raw.size < sizeof(boxretry_request);

  boxretry_strategy *strategy;
  boxretry_decision decision = BOXRETRY_DECISION_INIT, before = decision;
  REQUIRE(boxretry_strategy_new(NULL, &strategy) == BOXRETRY_OK, "NULL is the defaults");
  boxretry_error error = boxretry_strategy_should_retry(strategy, (const void *)raw.block, attempt_number, &decision);
  boxretry_strategy_free(strategy);
  if (check_error(error, &raw, is_short ? SIZE_MAX : sizeof value, is_valid)) {
    REQUIRE(is_in(decision.action, 0, 3) && is_in(decision.reason, 0, LAST_REASON),
            "the decision is one of the header's");
    REQUIRE(is_in(decision.delay, 0, MAXIMUM_DELAY), "a delay is 0 to 2^31 - 1, and never NaN");
    REQUIRE(decision.attempt_number == attempt_number, "the number that was given");
  } else {
    REQUIRE(memcmp(&decision, &before, sizeof before) == 0, "convention 2: nothing is written on failure");
  }
  free(request.lines.headers);
  free(request.raw.block);
  free(lines.headers);
  free(raw.block);
}

/* --- boxretry_decision, which the library writes --- */

static void fuzz_decision(input *in) {
  boxretry_decision value = BOXRETRY_DECISION_INIT, whole = BOXRETRY_DECISION_INIT;
  raw_struct raw = take_struct(in, &value, sizeof value);
  boxretry_outcome outcome = BOXRETRY_OUTCOME_INIT;
  boxretry_loop_options options = BOXRETRY_LOOP_OPTIONS_INIT;
  boxretry_strategy *strategy;
  boxretry_retry_loop *loop, *twin;
  options.seed = 1;
  REQUIRE(boxretry_strategy_new(NULL, &strategy) == BOXRETRY_OK, "NULL is the defaults");
  REQUIRE(boxretry_retry_loop_new(strategy, &options, &loop) == BOXRETRY_OK, "the options are valid");
  REQUIRE(boxretry_retry_loop_new(strategy, &options, &twin) == BOXRETRY_OK, "the options are valid");
  REQUIRE(boxretry_retry_loop_next(twin, &outcome, &whole) == BOXRETRY_OK, "the outcome is valid");

  char *before = new_string(raw.block, raw.length);
  boxretry_error error = boxretry_retry_loop_next(loop, &outcome, (void *)raw.block);
  if (check_error(error, &raw, sizeof value, true)) {
    whole.struct_size = raw.size;
    size_t known = raw.length < sizeof whole ? raw.length : sizeof whole;
    REQUIRE(memcmp(raw.block, &whole, known) == 0, "convention 3: a struct of any size gets the same fields");
    REQUIRE(memcmp(raw.block + known, before + known, raw.length - known) == 0, "convention 3: the rest is left alone");
  } else {
    REQUIRE(memcmp(raw.block, before, raw.length) == 0, "convention 2: nothing is written on failure");
    boxretry_decision next = BOXRETRY_DECISION_INIT;
    REQUIRE(boxretry_retry_loop_next(loop, &outcome, &next) == BOXRETRY_OK, "the loop continues");
    REQUIRE(memcmp(&next, &whole, sizeof whole) == 0, "INVALID_ARGUMENT: the attempt was not counted");
  }
  free(before);
  free(raw.block);
  boxretry_retry_loop_free(twin);
  boxretry_retry_loop_free(loop);
  boxretry_strategy_free(strategy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input in = {data, size};
  if (take_flag(&in))
    fuzz_decision(&in);
  else
    fuzz_outcome(&in);
  return 0;
}
