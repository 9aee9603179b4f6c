#define _GNU_SOURCE /* gettid() */
/* Scenarios of races.c: token sources. Their providers run on threads of the library, and so do the waiters' callbacks. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crew.h"
#include "races.h"

enum { GETTERS = 4 };

static boxretry_token_source *source;
static boxretry_cancel *cancel;
static atomic_long provided; /* calls of the provider in this round */
static atomic_long told;
static atomic_long freed; /* contexts */
static _Atomic(boxretry_token_request *) kept[64];

/* A token whose text is the number of the call that brought it. */
static boxretry_error answer(boxretry_token_request *request, long number) {
  char text[32];
  const int length = snprintf(text, sizeof text, "%ld", number);
  return boxretry_token_request_succeed(request, text, (size_t)length, 3600);
}

static void answer_later(void *context, boxretry_token_request *request) {
  (void)context;
  const long number = atomic_fetch_add(&provided, 1);
  boxretry_token_request_retain(request);
  REQUIRE(number < 64);
  atomic_store(&kept[number], request);
}

static void answer_at_once(void *context, boxretry_token_request *request) {
  (void)context;
  const long number = atomic_fetch_add(&provided, 1) + 1;
  dawdle();
  const boxretry_error error = number % 3 ? answer(request, number) : boxretry_token_request_fail(request, "no", 0);
  REQUIRE(error == BOXRETRY_OK || error == BOXRETRY_ERROR_TOKEN_REQUEST_ENDED);
}

static void count_freed(void *context) {
  (void)context;
  atomic_fetch_add(&freed, 1);
}

static void make_source(void (*provider)(void *, boxretry_token_request *)) {
  boxretry_token_options options = BOXRETRY_TOKEN_OPTIONS_INIT;
  options.provider = provider;
  options.context_free = count_freed;
  atomic_store(&provided, 0);
  atomic_store(&told, 0);
  atomic_store(&freed, 0);
  for (int i = 0; i < 64; i++)
    atomic_store(&kept[i], NULL);
  ok(boxretry_token_source_new(&options, &source));
}

static boxretry_token_request *wait_for_request(int number) {
  wait_for(&provided, number + 1);
  boxretry_token_request *request;
  while (!(request = atomic_load(&kept[number])))
    sched_yield();
  return request;
}

static void end_source(void) {
  boxretry_token_source_free(source);
  wait_for(&freed, 1);
}

/* Gets a token, in one of the ways that there are; it is as it should be. The error, if there is none. */
static boxretry_error get(boxretry_cancel *by, int64_t timeout_ms) {
  boxretry_token *token;
  const boxretry_error error = boxretry_token_source_get(source, timeout_ms, by, &token);
  if (error != BOXRETRY_OK) return error;
  REQUIRE(boxretry_token_length(token) == strlen(boxretry_token_bytes(token)));
  REQUIRE(boxretry_token_generation(token) > 0);
  boxretry_token_free(token);
  return BOXRETRY_OK;
}

static void on_token(void *context, boxretry_error error, boxretry_token *token) {
  (void)context;
  REQUIRE((error == BOXRETRY_OK) == (token != NULL));
  REQUIRE(error == BOXRETRY_OK || error == BOXRETRY_ERROR_CANCELLED || error == BOXRETRY_ERROR_CLOSED ||
          error == BOXRETRY_ERROR_CLIENT_TOKEN_PROVIDER_FAILED);
  boxretry_token_free(token);
  atomic_fetch_add(&told, 1);
}

/* --- Answer against cancel --- */

static void answer_or_cancel(int number) {
  if (number == 0) {
    boxretry_token_request *request = wait_for_request(0);
    dawdle();
    ok(answer(request, 1));
    REQUIRE(answer(request, 2) == BOXRETRY_ERROR_TOKEN_REQUEST_ENDED);
    boxretry_token_request_release(request);
  } else if (number == 1) {
    dawdle();
    boxretry_cancel_trigger(cancel);
  } else if (number < 5) {
    const boxretry_error error = get(cancel, BOXRETRY_NO_TIMEOUT);
    REQUIRE(error == BOXRETRY_OK || error == BOXRETRY_ERROR_CANCELLED);
    ok(get(NULL, BOXRETRY_NO_TIMEOUT));
  } else {
    ok(boxretry_token_source_get_async(source, number % 2 ? cancel : NULL, on_token, NULL));
  }
}

/* T9: given callers who cancel while the answer comes, each has one end, and the token is there for the others. */
void answer_against_cancel(void) {
  make_source(answer_later);
  ok(boxretry_cancel_new(&cancel));
  at_once(8, answer_or_cancel);
  wait_for(&told, 3);
  boxretry_cancel_free(cancel);
  REQUIRE(atomic_load(&provided) == 1);
  end_source();
}

/* --- Invalidate against answer --- */

static void get_or_invalidate(int number) {
  for (int i = 0; i < 4; i++) {
    boxretry_token *token;
    const boxretry_error error = boxretry_token_source_get(source, BOXRETRY_NO_TIMEOUT, NULL, &token);
    if (error != BOXRETRY_OK) {
      REQUIRE(error == BOXRETRY_ERROR_CLIENT_TOKEN_PROVIDER_FAILED);
      continue;
    }
    const uint64_t generation = boxretry_token_generation(token);
    if (number % 2) {
      ok(boxretry_token_source_invalidate_generation(source, generation));
    } else if (number == 2) {
      ok(boxretry_token_source_invalidate(source, boxretry_token_bytes(token)));
    } else if (number == 4) {
      ok(boxretry_token_source_clear(source));
    }
    if (number % 2 || number == 2) {
      /* T8: what was dropped does not come back. */
      boxretry_token *next;
      if (boxretry_token_source_get(source, BOXRETRY_NO_TIMEOUT, NULL, &next) == BOXRETRY_OK) {
        REQUIRE(boxretry_token_generation(next) > generation);
        boxretry_token_free(next);
      }
    }
    boxretry_token_free(token);
  }
}

/* T8: given callers who drop tokens while others come, no caller ever gets one again that it has dropped. */
void invalidate_against_answer(void) {
  make_source(answer_at_once);
  at_once(8, get_or_invalidate);
  end_source();
}

/* --- Free against all the rest --- */

static void free_or_get(int number) {
  if (number == 0) {
    dawdle();
    boxretry_token_source_free(source);
  } else if (number == 1) {
    boxretry_token_request *request = wait_for_request(0);
    dawdle();
    const boxretry_error error = answer(request, 1);
    REQUIRE(error == BOXRETRY_OK || error == BOXRETRY_ERROR_TOKEN_REQUEST_ENDED);
    boxretry_token_request_release(request);
  }
}

/* T10: given waiters and a request that is being answered, when the source is freed, all waiters have an end. */
void free_against_answer(void) {
  make_source(answer_later);
  for (int i = 0; i < 6; i++)
    ok(boxretry_token_source_get_async(source, NULL, on_token, NULL));
  at_once(2, free_or_get);
  wait_for(&told, 6);
  wait_for(&freed, 1);
}

static atomic_int waiting[GETTERS]; /* the thread that is about to wait */

static void *wait_for_free(void *number) {
  atomic_store(&waiting[(intptr_t)number], (int)gettid());
  REQUIRE(get(NULL, BOXRETRY_NO_TIMEOUT) == BOXRETRY_ERROR_CLOSED);
  return NULL;
}

/* A source that is freed must not be given to anybody: so all of them have to be in the call. */
static void wait_until_asleep(atomic_int *thread) {
  char path[64], line[256], state = 'R';
  while (state != 'S') {
    sched_yield();
    if (!atomic_load(thread)) continue;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", atomic_load(thread));
    FILE *file = fopen(path, "r");
    REQUIRE(file && fgets(line, sizeof line, file) && strrchr(line, ')'));
    state = strrchr(line, ')')[2];
    fclose(file);
  }
}

/* T10: given threads that wait, when the source is freed, they are back. */
void free_against_get(void) {
  pthread_t threads[GETTERS];
  make_source(answer_later);
  for (intptr_t i = 0; i < GETTERS; i++) {
    atomic_store(&waiting[i], 0);
    REQUIRE(pthread_create(&threads[i], NULL, wait_for_free, (void *)i) == 0);
  }
  for (int i = 0; i < GETTERS; i++)
    wait_until_asleep(&waiting[i]);
  boxretry_token_request *request = wait_for_request(0);
  dawdle();
  boxretry_token_source_free(source);
  boxretry_token_request_release(request); /* without an answer: no waiter is left */
  for (int i = 0; i < GETTERS; i++)
    pthread_join(threads[i], NULL);
  wait_for(&freed, 1);
}

/* --- A late answer against the next fetch --- */

static boxretry_clock *clock_of_round;

static void answer_late_or_next(int number) {
  boxretry_token_request *request = wait_for_request(number);
  dawdle();
  const boxretry_error error = answer(request, number + 1);
  REQUIRE(error == (number == 0 ? BOXRETRY_ERROR_TOKEN_REQUEST_ENDED : BOXRETRY_OK));
  boxretry_token_request_release(request);
}

/* T4: given a call that has timed out, its late answer is refused while the next one is taken. */
void late_answer_against_next(void) {
  boxretry_token_options options = BOXRETRY_TOKEN_OPTIONS_INIT;
  boxretry_token_retry_policy policy = BOXRETRY_TOKEN_RETRY_POLICY_INIT;
  make_source(answer_later);
  boxretry_token_source_free(source);
  wait_for(&freed, 1);
  atomic_store(&freed, 0);
  ok(boxretry_clock_new_manual(&clock_of_round));
  policy.initial_delay = 0;
  options.provider = answer_later;
  options.context_free = count_freed;
  options.policy = &policy;
  options.provider_timeout_ms = 1000;
  options.clock = clock_of_round;
  ok(boxretry_token_source_new(&options, &source));
  ok(boxretry_token_source_get_async(source, NULL, on_token, NULL));
  wait_for_request(0);
  ok(boxretry_clock_wait_for_timer(clock_of_round, BOXRETRY_NO_TIMEOUT));
  ok(boxretry_clock_advance(clock_of_round, 1));
  wait_for_request(1);
  at_once(2, answer_late_or_next);
  wait_for(&told, 1);
  boxretry_token *token;
  ok(boxretry_token_source_get(source, 0, NULL, &token));
  REQUIRE(strcmp(boxretry_token_bytes(token), "2") == 0);
  boxretry_token_free(token);
  end_source();
  boxretry_clock_free(clock_of_round);
}

/* --- Many who read --- */

static void read_or_drop(int number) {
  for (int i = 0; i < 50; i++) {
    if (number == 0 && i % 10 == 0) ok(boxretry_token_source_clear(source));
    const boxretry_error error = get(NULL, BOXRETRY_NO_TIMEOUT);
    REQUIRE(error == BOXRETRY_OK || error == BOXRETRY_ERROR_CLIENT_TOKEN_PROVIDER_FAILED);
  }
}

/* Given threads that read one token, when it is dropped and comes again, each of them has a whole one. */
void read_against_drop(void) {
  make_source(answer_at_once);
  at_once(8, read_or_drop);
  end_source();
}

/* --- Two clients, one source --- */

static boxretry_client *other; /* than `client` */

static void perform_with_token(int number) {
  boxretry_request request = request_to(number < 2 ? rejected : hello);
  boxretry_response *response;
  request.token_source = source;
  ok(boxretry_client_perform(number % 2 ? client : other, &request, &response));
  const boxretry_error error = boxretry_response_error(response);
  const int32_t status = boxretry_response_status(response);
  if (error == BOXRETRY_OK) {
    REQUIRE(status == (number < 2 ? 401 : 200));
  } else {
    REQUIRE(error == BOXRETRY_ERROR_CLIENT_TOKEN_PROVIDER_FAILED);
  }
  boxretry_response_free(response);
}

/* T3, R1: given two clients that want the token of one source, while both get a 401 and drop it, then
 * each request has its answer. */
void two_clients_one_source(void) {
  make_source(answer_at_once);
  client = new_client(stop);
  other = new_client(stop);
  at_once(4, perform_with_token);
  boxretry_client_free(other);
  free_client();
  REQUIRE(atomic_load(&provided) >= 2);
  end_source();
}
