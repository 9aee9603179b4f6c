/*
 * A program of an older release's time: it uses only what the oldest header in abi/ has, every struct and handle of
 * it, and must keep working with every newer library of the same SONAME. It never learns new functions.
 */
#include <boxretry.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(boxretry_error error, const char *what) {
  if (error == BOXRETRY_OK) return;
  fprintf(stderr, "%s: %s: %s\n", what, boxretry_error_name(error), boxretry_last_error_detail());
  exit(EXIT_FAILURE);
}

static void expect(int is_so, const char *what) {
  if (is_so) return;
  fprintf(stderr, "not so: %s\n", what);
  exit(EXIT_FAILURE);
}
#define EXPECT(condition) expect(condition, #condition)

static void decide(void) {
  boxretry_retry_options options = BOXRETRY_RETRY_OPTIONS_INIT;
  boxretry_loop_options loop_options = BOXRETRY_LOOP_OPTIONS_INIT;
  boxretry_outcome outcome = BOXRETRY_OUTCOME_INIT;
  boxretry_decision decision = BOXRETRY_DECISION_INIT;
  const boxretry_header headers[] = {{"Retry-After", "7"}};
  boxretry_strategy *strategy;
  boxretry_retry_loop *loop;
  boxretry_clock *clock;
  double delay;
  options.max_attempts = 2;
  options.retry_randomization_factor = 0;
  check(boxretry_strategy_new(&options, &strategy), "strategy_new");
  check(boxretry_clock_new_manual(&clock), "clock_new_manual");
  loop_options.clock = clock;
  check(boxretry_retry_loop_new(strategy, &loop_options, &loop), "retry_loop_new");
  outcome.status = 503;
  outcome.headers = headers;
  outcome.header_count = 1;
  check(boxretry_retry_loop_next(loop, &outcome, &decision), "retry_loop_next");
  EXPECT(decision.action == BOXRETRY_ACTION_RETRY && decision.delay == 7);
  EXPECT(decision.delay_source == BOXRETRY_DELAY_RETRY_AFTER && decision.attempt_number == 1);
  check(boxretry_retry_loop_next(loop, &outcome, &decision), "retry_loop_next");
  EXPECT(decision.action == BOXRETRY_ACTION_STOP && decision.reason == BOXRETRY_REASON_ATTEMPTS_EXHAUSTED);
  check(boxretry_strategy_retry_after(strategy, &outcome, 1, &delay), "strategy_retry_after");
  EXPECT(delay == 7);
  check(boxretry_backoff_delay(&options, 3, 0.5, &delay), "backoff_delay");
  EXPECT(delay == 8);
  check(boxretry_parse_retry_after("7", 0, &delay), "parse_retry_after");
  EXPECT(delay == 7);
  boxretry_retry_loop_free(loop);
  boxretry_clock_free(clock);
  boxretry_strategy_free(strategy);
}

static void answer(void *context, const boxretry_outcome *outcome, int32_t attempt_number, int32_t *action) {
  (void)outcome;
  *(int *)context += attempt_number;
  *action = BOXRETRY_ACTION_STOP;
}

static void decide_by_callback(void) {
  boxretry_strategy_callbacks callbacks = BOXRETRY_STRATEGY_CALLBACKS_INIT;
  boxretry_outcome outcome = BOXRETRY_OUTCOME_INIT;
  boxretry_decision decision = BOXRETRY_DECISION_INIT;
  boxretry_strategy *strategy;
  int asked = 0;
  callbacks.context = &asked;
  callbacks.should_retry = answer;
  check(boxretry_strategy_new_custom(&callbacks, &strategy), "strategy_new_custom");
  outcome.status = 503;
  check(boxretry_strategy_should_retry(strategy, &outcome, 5, &decision), "strategy_should_retry");
  EXPECT(asked == 5 && decision.action == BOXRETRY_ACTION_STOP && decision.reason == BOXRETRY_REASON_CUSTOM);
  boxretry_strategy_free(strategy);
}

static void wait_for_a_token(void) {
  boxretry_token_retry_policy policy = BOXRETRY_TOKEN_RETRY_POLICY_INIT;
  double delay;
  check(boxretry_token_delay(&policy, 4, 0.5, &delay), "token_delay");
  EXPECT(delay == 8);
}

static void on_event(void *context, const boxretry_event *event) {
  if (event->kind == BOXRETRY_EVENT_CALL_ENDED) *(int *)context += event->error == BOXRETRY_ERROR_CONNECT;
}

/* Nothing listens there: the connection is refused. */
static void send_in_vain(void) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_client_stats stats = BOXRETRY_CLIENT_STATS_INIT;
  boxretry_timeouts timeouts = BOXRETRY_TIMEOUTS_INIT;
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_attempt attempt = BOXRETRY_ATTEMPT_INIT;
  boxretry_client *client;
  boxretry_response *response;
  boxretry_call *call, *ended = NULL;
  boxretry_queue *queue;
  boxretry_cancel *cancel;
  int events = 0;
  options.max_total_attempts = 1;
  options.timeouts = &timeouts;
  options.proxy_mode = BOXRETRY_PROXY_NONE;
  options.on_event = on_event;
  options.on_event_context = &events;
  check(boxretry_client_new(&options, &client), "client_new");
  request.url = "http://127.0.0.1:1/";
  check(boxretry_client_perform(client, &request, &response), "client_perform");
  EXPECT(boxretry_response_error(response) == BOXRETRY_ERROR_CONNECT);
  EXPECT(boxretry_response_status(response) == 0 && boxretry_response_attempt_count(response) == 1);
  check(boxretry_response_attempt(response, 0, &attempt), "response_attempt");
  EXPECT(attempt.number == 1 && attempt.cause == BOXRETRY_CAUSE_CONNECT && attempt.curl_code != 0);
  boxretry_response_free(response);

  check(boxretry_queue_new(&queue), "queue_new");
  check(boxretry_cancel_new(&cancel), "cancel_new");
  request.queue = queue;
  request.cancel = cancel;
  check(boxretry_client_submit(client, &request, &call), "client_submit");
  EXPECT(boxretry_queue_take(queue, &ended, 1, BOXRETRY_NO_TIMEOUT) == 1 && ended == call);
  response = boxretry_call_take_response(call);
  EXPECT(boxretry_response_error(response) == BOXRETRY_ERROR_CONNECT);
  check(boxretry_client_get_stats(client, &stats), "client_get_stats");
  EXPECT(stats.calls_started == 2 && stats.attempts == 2 && events == 2);
  boxretry_response_free(response);
  boxretry_call_free(call);
  boxretry_cancel_free(cancel);
  boxretry_queue_free(queue);
  check(boxretry_client_close(client, BOXRETRY_NO_TIMEOUT), "client_close");
  boxretry_client_free(client);
}

int main(void) {
  EXPECT(boxretry_version_number() >= BOXRETRY_VERSION_NUMBER);
  decide();
  decide_by_callback();
  wait_for_a_token();
  send_in_vain();
  printf("compiled with %s, and works\n", BOXRETRY_VERSION);
  return 0;
}
