/* What may happen to calls at the same moment, again and again: races SCENARIO ROUNDS
 *
 * A round ends when every call in it has had its one ending (K3), and everything of the library has been freed: a
 * client's strategy is freed last, so that a client that stays, stays the program, which says so after a while. */
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crew.h"
#include "races.h"
#include "server.h"

enum { PATIENCE = 50 /* seconds for one round: less than the 60 of a timeout */ };

char hello[64], silent[64], busy[64], later[64], rejected[64], token[64];
boxretry_client *client;
boxretry_call *calls[CALLS];
atomic_long clients_made, clients_gone;
atomic_long endings;

/* --- What the scenarios are made of --- */

void ok(boxretry_error error) {
  if (error != BOXRETRY_OK) fprintf(stderr, "%s: %s\n", boxretry_error_name(error), boxretry_last_error_detail());
  REQUIRE(error == BOXRETRY_OK);
}

void wait_for(atomic_long *value, long least) {
  while (atomic_load(value) < least)
    sched_yield();
}

void stop(void *context, const boxretry_outcome *outcome, int32_t attempt_number, int32_t *action) {
  (void)context;
  (void)outcome;
  (void)attempt_number;
  *action = BOXRETRY_ACTION_STOP;
}

static void gone(void *count) {
  atomic_fetch_add((atomic_long *)count, 1);
}

typedef void should_retry_callback(void *, const boxretry_outcome *, int32_t, int32_t *);

static boxretry_client *make_client(should_retry_callback *should_retry, boxretry_client_options options) {
  static const char *const expired = "token_expired"; /* as `rejected` says */
  boxretry_strategy_callbacks callbacks = BOXRETRY_STRATEGY_CALLBACKS_INIT;
  boxretry_strategy *strategy;
  boxretry_client *made;
  callbacks.context = &clients_gone;
  callbacks.should_retry = should_retry;
  callbacks.context_free = gone;
  ok(boxretry_strategy_new_custom(&callbacks, &strategy));
  options.strategy = strategy;
  options.proxy_mode = BOXRETRY_PROXY_NONE;
  options.replay_codes = &expired;
  options.replay_code_count = 1;
  ok(boxretry_client_new(&options, &made));
  boxretry_strategy_free(strategy);
  atomic_fetch_add(&clients_made, 1);
  return made;
}

boxretry_client *new_client(should_retry_callback *should_retry) {
  return new_client_with(should_retry, NULL);
}

boxretry_client *new_client_with(should_retry_callback *should_retry, boxretry_token_source *source) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  options.token_source = source;
  return make_client(should_retry, options);
}

boxretry_client *new_sharing_client(should_retry_callback *should_retry) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  options.share_retry_after = BOXRETRY_SWITCH_ON;
  return make_client(should_retry, options);
}

boxretry_client *new_driven_client(should_retry_callback *should_retry, boxretry_token_source *source) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  options.threads = BOXRETRY_THREADS_NONE;
  options.token_source = source;
  return make_client(should_retry, options);
}

void free_client(void) {
  boxretry_client_free(client);
  wait_for(&clients_gone, atomic_load(&clients_made));
}

boxretry_request request_to(const char *url) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  request.url = url;
  return request;
}

boxretry_call *submit_to(const char *url) {
  const boxretry_request request = request_to(url);
  boxretry_call *call;
  ok(boxretry_client_submit(client, &request, &call));
  return call;
}

/* The response is there, and says one of the two things that may have happened. One that an earlier attempt received stays
 * attached to a canceled call (B10). */
void check_response(boxretry_response *response) {
  REQUIRE(response != NULL);
  const boxretry_error error = boxretry_response_error(response);
  const int32_t status = boxretry_response_status(response);
  const bool has_status = status == 200 || status == 503;
  REQUIRE((error == BOXRETRY_OK && has_status) || (error == BOXRETRY_ERROR_CANCELLED && (has_status || status == 0)));
  boxretry_response_free(response);
}

/* Waits for the end of a call, of which there is one, and frees it. */
void end_call(boxretry_call *call) {
  ok(boxretry_call_wait(call, BOXRETRY_NO_TIMEOUT));
  check_response(boxretry_call_take_response(call));
  REQUIRE(boxretry_call_take_response(call) == NULL);
  boxretry_call_free(call);
}

void count_ending(void *context, boxretry_call *call) {
  (void)context;
  (void)call;
  atomic_fetch_add(&endings, 1);
}

void submit_at_once(int number) {
  calls[number] = submit_to(hello);
}

/* --- The rounds --- */

typedef struct scenario {
  const char *name;
  void (*round)(void);
  bool makes_clients; /* in each round; else there is one for all rounds */
} scenario;

static const scenario scenarios[] = {
    {"cancel_against_end", cancel_against_end, false},
    {"free_against_end", free_against_end, false},
    {"free_against_queue", free_against_queue, false},
    {"many_waiters", many_waiters, false},
    {"free_client_under_calls", free_client_under_calls, true},
    {"free_queue_under_calls", free_queue_under_calls, true},
    {"close_under_calls", close_under_calls, true},
    {"close_after_callbacks", close_after_callbacks, true},
    {"cancel_after_end", cancel_after_end, true},
    {"callback_at_work", callback_at_work, false},
    {"free_against_callback", free_against_callback, false},
    {"cancel_switch", cancel_switch, true},
    {"cancel_switch_unused", cancel_switch_unused, true},
    {"perform_on_threads", perform_on_threads, false},
    {"perform_on_an_idle_client", perform_on_an_idle_client, true},
    {"cancel_while_deciding", cancel_while_deciding, true},
    {"cancel_before_decision", cancel_before_decision, true},
    {"decide_at_once", decide_at_once, true},
    {"answer_against_cancel", answer_against_cancel, false},
    {"invalidate_against_answer", invalidate_against_answer, false},
    {"free_against_answer", free_against_answer, false},
    {"free_against_get", free_against_get, false},
    {"late_answer_against_next", late_answer_against_next, false},
    {"read_against_drop", read_against_drop, false},
    {"two_clients_one_source", two_clients_one_source, true},
    {"clock_against_waits", clock_against_waits, true},
    {"clock_by_itself", clock_by_itself, true},
    {"clock_freed_under_calls", clock_freed_under_calls, true},
    {"gate_against_cancel", gate_against_cancel, true},
    {"gate_opens", gate_opens, true},
    {"gate_opens_under_cancels", gate_opens_under_cancels, true},
    {"free_client_under_gate", free_client_under_gate, true},
    {"driven_by_many", driven_by_many, true},
    {"driven_by_waiters", driven_by_waiters, true},
    {"driven_by_takers", driven_by_takers, true},
    {"free_driven_client_under_calls", free_driven_client_under_calls, true},
    {"close_driven_client", close_driven_client, true},
    {"driven_client_shares_source", driven_client_shares_source, true},
    {"free_driven_client_under_fetch", free_driven_client_under_fetch, true},
};

static void out_of_patience(int signal) {
  static const char text[] = "races: a round does not end: a call without an end, or a client that is not freed\n";
  (void)signal;
  if (write(STDERR_FILENO, text, sizeof text - 1)) abort();
}

static void run(const scenario *it, long rounds) {
  const int port = server_start();
  snprintf(hello, sizeof hello, "http://127.0.0.1:%d/", port);
  snprintf(silent, sizeof silent, "http://127.0.0.1:%d/silent", port);
  snprintf(rejected, sizeof rejected, "http://127.0.0.1:%d/rejected", port);
  snprintf(token, sizeof token, "http://127.0.0.1:%d/token", port);
  snprintf(busy, sizeof busy, "http://127.0.0.1:%d/busy", port);
  snprintf(later, sizeof later, "http://127.0.0.1:%d/later", port);
  crew_start();
  if (!it->makes_clients) client = new_client(stop);
  for (long i = 0; i < rounds; i++) {
    alarm(PATIENCE);
    atomic_store(&endings, 0);
    it->round();
  }
  if (!it->makes_clients) free_client();
  crew_stop();
  server_stop();
}

int main(int argc, char **argv) {
  signal(SIGALRM, out_of_patience);
  for (size_t i = 0; argc == 3 && i < sizeof scenarios / sizeof *scenarios; i++) {
    if (strcmp(argv[1], scenarios[i].name) != 0) continue;
    run(&scenarios[i], strtol(argv[2], NULL, 10));
    printf("%s: %s rounds\n", argv[1], argv[2]);
    return EXIT_SUCCESS;
  }
  fputs("usage: races SCENARIO ROUNDS\n", stderr);
  for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
    fprintf(stderr, "    %s\n", scenarios[i].name);
  return 2;
}
