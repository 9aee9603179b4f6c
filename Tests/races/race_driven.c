/* Scenarios of races.c: clients without a thread, which several threads drive, wait on, cancel, close and free at once. */
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>

#include "crew.h"
#include "races.h"

static atomic_long working; /* threads that have not done their part of the round */
static boxretry_token_source *source;
static boxretry_client *threaded;

/* The strategy runs on whichever thread drives. */
static void retry_busy_once(void *context, const boxretry_outcome *outcome, int32_t attempt_number, int32_t *action) {
  (void)context;
  *action = outcome->status == 503 && attempt_number == 1 ? BOXRETRY_ACTION_RETRY : BOXRETRY_ACTION_STOP;
}

/* One after another, until the others have done their part. */
static void drive(void) {
  while (atomic_load(&working) > 0) {
    const boxretry_error error = boxretry_client_drive(client, 1);
    REQUIRE(error == BOXRETRY_OK || error == BOXRETRY_ERROR_CLOSED);
  }
}

/* As an event loop does. */
static void poll_and_drive(void) {
  struct pollfd descriptor = {boxretry_client_fd(client), POLLIN, 0};
  while (atomic_load(&working) > 0) {
    if (poll(&descriptor, 1, 1) == 1) ok(boxretry_client_drive(client, 0));
  }
}

static void perform(const char *url) {
  const boxretry_request request = request_to(url);
  boxretry_response *response;
  ok(boxretry_client_perform(client, &request, &response));
  check_response(response);
}

static void take_three(void) {
  boxretry_queue *queue;
  ok(boxretry_queue_new(&queue));
  for (int i = 0; i < 3; i++) {
    boxretry_request request = request_to(i == 1 ? busy : hello);
    request.queue = queue;
    ok(boxretry_client_submit(client, &request, NULL));
  }
  for (int i = 0; i < 3;) {
    boxretry_call *taken[3];
    const size_t count = boxretry_queue_take(queue, taken, 3, BOXRETRY_NO_TIMEOUT);
    for (size_t j = 0; j < count; j++, i++)
      end_call(taken[j]);
  }
  boxretry_queue_free(queue);
}

static void drive_and_wait(int number) {
  boxretry_call *call;
  switch (number) {
  case 0:
    drive();
    return;
  case 1:
    poll_and_drive();
    return;
  case 2:
    perform(busy);
    break;
  case 3:
    take_three();
    break;
  case 4:
    call = submit_to(silent);
    dawdle();
    boxretry_call_cancel(call);
    end_call(call);
    break;
  case 5:
    call = submit_to(hello);
    dawdle();
    boxretry_call_free(call);
    break;
  default:
    call = submit_to(hello);
    const boxretry_error error = boxretry_call_wait(call, 0);
    REQUIRE(error == BOXRETRY_OK || error == BOXRETRY_ERROR_WAIT_TIMEOUT);
    end_call(call);
  }
  atomic_fetch_sub(&working, 1);
}

/* Runs the threads of a round at once; then nothing of the client is left. One of them may have freed it, and set it to
 * NULL. */
static void play(int count, void (*body)(int number)) {
  at_once(count, body);
  free_client();
}

/* K3: given threads that drive, wait and cancel at once, then each call has one ending, and none waits for a thread that
 * has left. */
void driven_by_many(void) {
  client = new_driven_client(retry_busy_once, NULL);
  atomic_store(&working, CREW - 2);
  play(CREW, drive_and_wait);
}

static void wait_only(int number) {
  end_call(calls[number]);
}

/* Given calls that several threads wait for, when the one that drives has its own, then another drives. */
void driven_by_waiters(void) {
  client = new_driven_client(retry_busy_once, NULL);
  for (int i = 0; i < CREW; i++)
    calls[i] = submit_to(i % 2 ? busy : hello);
  play(CREW, wait_only);
}

static boxretry_queue *shared_queue;

static void take_one(int number) {
  boxretry_call *call;
  boxretry_request request = request_to(number % 2 ? busy : hello);
  request.queue = shared_queue;
  dawdle();
  ok(boxretry_client_submit(client, &request, NULL));
  while (boxretry_queue_take(shared_queue, &call, 1, BOXRETRY_NO_TIMEOUT) == 0) {
  }
  end_call(call);
}

/* Given threads that submit to one queue and take from it, then each gets a call. */
void driven_by_takers(void) {
  client = new_driven_client(retry_busy_once, NULL);
  ok(boxretry_queue_new(&shared_queue));
  play(CREW, take_one);
  boxretry_queue_free(shared_queue);
}

/* Calls, of which the server does not answer every other one, and at once threads of which the first one ends the client.
 * Each call has one ending. */
static void end_client(void (*end_or_help)(int number)) {
  client = new_driven_client(stop, NULL);
  for (int i = 0; i < CREW; i++) {
    boxretry_request request = request_to(i % 2 ? silent : hello);
    request.on_complete = count_ending;
    ok(boxretry_client_submit(client, &request, &calls[i]));
  }
  atomic_store(&working, 1);
  play(CREW, end_or_help);
  REQUIRE(atomic_load(&endings) == CREW);
}

static void free_or_wait(int number) {
  if (number == 0) {
    dawdle();
    boxretry_client_free(client);
    client = NULL;
  }
  end_call(calls[number]);
}

/* K5: given calls that threads wait for, when the client is freed, then all end, whichever thread drives. */
void free_driven_client_under_calls(void) {
  end_client(free_or_wait);
}

static void close_or_drive(int number) {
  if (number == 0) {
    dawdle();
    ok(boxretry_client_close(client, BOXRETRY_NO_TIMEOUT));
    REQUIRE(atomic_load(&endings) == CREW);
    atomic_fetch_sub(&working, 1);
  } else {
    drive();
  }
  end_call(calls[number]);
}

/* Given threads that drive, when the client is closed, then its calls have ended, and no thread drives. */
void close_driven_client(void) {
  end_client(close_or_drive);
}

/* --- Token sources --- */

static atomic_long provided;

static void provide(void *context, boxretry_token_request *request) {
  (void)context;
  const boxretry_error error = atomic_fetch_add(&provided, 1) % 2 == 0
                                   ? boxretry_token_request_fail(request, "busy", 1)
                                   : boxretry_token_request_succeed(request, "token", 5, 3600);
  REQUIRE(error == BOXRETRY_OK || error == BOXRETRY_ERROR_TOKEN_REQUEST_ENDED);
}

static boxretry_token_source *new_source(void) {
  static int round;
  boxretry_token_source *made;
  if (round++ % 2) {
    boxretry_token_endpoint_options options = BOXRETRY_TOKEN_ENDPOINT_OPTIONS_INIT;
    options.url = token;
    options.proxy_mode = BOXRETRY_PROXY_NONE;
    ok(boxretry_token_source_new_endpoint(&options, &made));
  } else {
    boxretry_token_retry_policy policy = BOXRETRY_TOKEN_RETRY_POLICY_INIT;
    boxretry_token_options options = BOXRETRY_TOKEN_OPTIONS_INIT;
    policy.initial_delay = 0.001;
    options.policy = &policy;
    options.provider = provide;
    options.provider_timeout_ms = 60000;
    ok(boxretry_token_source_new(&options, &made));
  }
  return made;
}

static void perform_on(boxretry_client *other) {
  const boxretry_request request = request_to(hello);
  boxretry_response *response;
  ok(boxretry_client_perform(other, &request, &response));
  check_response(response);
}

static void use_token(int number) {
  boxretry_token *got;
  boxretry_call *call;
  switch (number) {
  case 0:
    drive();
    return;
  case 1:
    perform_on(threaded);
    break;
  case 2:
    ok(boxretry_token_source_get(source, BOXRETRY_NO_TIMEOUT, NULL, &got));
    boxretry_token_free(got);
    break;
  case 3:
    dawdle();
    ok(boxretry_token_source_clear(source));
    perform(hello);
    break;
  case 4:
    call = submit_to(hello);
    dawdle();
    boxretry_call_cancel(call);
    end_call(call);
    break;
  default:
    perform(hello);
  }
  atomic_fetch_sub(&working, 1);
}

/* T3: given a source that clients with and without a thread share, then each call gets its token, whichever client requests it. */
void driven_client_shares_source(void) {
  source = new_source();
  client = new_driven_client(stop, source);
  threaded = new_client_with(stop, source);
  atomic_store(&working, CREW - 1);
  at_once(CREW, use_token);
  boxretry_client_free(threaded);
  boxretry_token_source_free(source);
  free_client();
}

static bool frees_source; /* in this round, instead of waiting for its token */

static void free_under_fetch(int number) {
  boxretry_token *got;
  dawdle();
  switch (number) {
  case 0:
    boxretry_client_free(client);
    client = NULL;
    break;
  case 1:
    ok(boxretry_call_wait(calls[0], BOXRETRY_NO_TIMEOUT));
    boxretry_call_free(calls[0]);
    break;
  default:
    if (!frees_source) {
      ok(boxretry_token_source_get(source, BOXRETRY_NO_TIMEOUT, NULL, &got));
      boxretry_token_free(got);
    }
    boxretry_token_source_free(source);
  }
}

/* K5, T10: given a fetch that a driven client has begun, when the client is freed, then who waits elsewhere gets the token;
 * and when the source is freed, too, nothing stays behind. */
void free_driven_client_under_fetch(void) {
  source = new_source();
  client = new_driven_client(stop, source);
  calls[0] = submit_to(hello);
  frees_source = rand() % 2;
  for (int i = rand() % 3; i > 0; i--)
    ok(boxretry_client_drive(client, 0));
  play(3, free_under_fetch);
}
