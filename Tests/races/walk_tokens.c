/* Walks of walks.c: token sources, on a manual clock. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "crew.h"
#include "walks.h"

enum { KEPT = 8 /* requests of providers that are answered later */ };

static boxretry_token_source *sources[SOURCES];
static boxretry_clock *clock_of_tokens;
static atomic_int tokens_due, tokens_told;
static atomic_uint provider_calls;
/* How often the providers of a source have canceled, by its number: before and after they say so. */
static atomic_uint cancels_begun[SOURCES], cancels_ended[SOURCES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Guarded by the lock. */
static boxretry_token_request *kept[KEPT];
static bool keeps_more;

boxretry_token_source *some_token_source(void) {
  return sources[pick(SOURCES)];
}

/* --- Callbacks of the library, on its threads --- */

static bool keep(boxretry_token_request *request) {
  bool is_kept = false;
  pthread_mutex_lock(&lock);
  for (int i = 0; keeps_more && i < KEPT && !is_kept; i++) {
    if (kept[i]) continue;
    boxretry_token_request_retain(request);
    kept[i] = request;
    is_kept = true;
  }
  pthread_mutex_unlock(&lock);
  return is_kept;
}

static void succeed(boxretry_token_request *request) {
  char token[32];
  const int length = snprintf(token, sizeof token, "token-%u", atomic_fetch_add(&provider_calls, 1));
  const boxretry_error error = boxretry_token_request_succeed(request, token, (size_t)length, 3600);
  REQUIRE(error == BOXRETRY_OK || error == BOXRETRY_ERROR_TOKEN_REQUEST_ENDED);
  expect(boxretry_token_request_fail(request, "too late", 1), BOXRETRY_ERROR_TOKEN_REQUEST_ENDED);
}

/* `context`: the source's number, as for those who are waiting. */
static void provide(void *context, boxretry_token_request *request) {
  const uintptr_t number = (uintptr_t)context;
  switch (atomic_fetch_add(&provider_calls, 1) % 7) {
  case 0:
    boxretry_token_request_fail(request, "busy", 1);
    return;
  case 1:
    boxretry_token_request_fail(request, "no", 0);
    return;
  case 2:
    atomic_fetch_add(&cancels_begun[number], 1);
    boxretry_token_request_cancel(request);
    atomic_fetch_add(&cancels_ended[number], 1);
    return;
  case 3:
    return; /* no answer */
  case 4:
    if (keep(request)) return;
    break;
  default:
    break;
  }
  succeed(request);
}

static void on_token(void *context, boxretry_error error, boxretry_token *token) {
  REQUIRE((error == BOXRETRY_OK) == (token != NULL));
  REQUIRE(error != BOXRETRY_ERROR_CANCELLED || atomic_load(&cancels_begun[(uintptr_t)context]) > 0);
  boxretry_token_free(token);
  atomic_fetch_add(&tokens_told, 1);
}

/* --- Steps --- */

static void set_keeps_more(bool value) {
  pthread_mutex_lock(&lock);
  keeps_more = value;
  pthread_mutex_unlock(&lock);
}

void tokens_begin(void) {
  atomic_store(&provider_calls, pick(7));
  set_keeps_more(true);
  expect(boxretry_clock_new_manual(&clock_of_tokens), BOXRETRY_OK);
}

static void make_source(unsigned number) {
  boxretry_token_options options = BOXRETRY_TOKEN_OPTIONS_INIT;
  if (pick(4) == 0) {
    expect(boxretry_token_source_new_fixed("fixed", &sources[number]), BOXRETRY_OK);
    return;
  }
  options.provider = provide;
  options.context = (void *)(uintptr_t)number;
  options.context_free = free_context;
  options.clock = pick(2) ? clock_of_tokens : NULL;
  options.serve_stale = (int32_t)pick(2);
  options.refresh_ahead_window = pick(2) ? 60 : 0;
  atomic_fetch_add(&contexts_given, 1);
  expect(boxretry_token_source_new(&options, &sources[number]), BOXRETRY_OK);
}

/* It fails with CANCELLED only if the provider canceled while it was waiting (T4): failures are not kept (T7). */
static void get(unsigned number) {
  boxretry_token_source *const source = sources[number];
  boxretry_token *token = NULL;
  const unsigned cancels = atomic_load(&cancels_ended[number]);
  const boxretry_error error = boxretry_token_source_get(source, pick(3), NULL, &token);
  REQUIRE((error == BOXRETRY_OK) == (token != NULL));
  REQUIRE(error == BOXRETRY_OK || error == BOXRETRY_ERROR_WAIT_TIMEOUT ||
          error == BOXRETRY_ERROR_CLIENT_TOKEN_PROVIDER_FAILED || error == BOXRETRY_ERROR_CANCELLED);
  REQUIRE(error != BOXRETRY_ERROR_CANCELLED || atomic_load(&cancels_begun[number]) > cancels);
  if (!token) return;
  REQUIRE(boxretry_token_length(token) == strlen(boxretry_token_bytes(token)));
  REQUIRE(boxretry_token_generation(token) >= 1 && boxretry_token_expires_in(token) >= 0);
  if (pick(2)) {
    expect(boxretry_token_source_invalidate_generation(source, boxretry_token_generation(token)), BOXRETRY_OK);
  } else if (pick(2)) {
    expect(boxretry_token_source_invalidate(source, boxretry_token_bytes(token)), BOXRETRY_OK);
  }
  boxretry_token_free(token);
}

static void answer_kept(int number, bool with_success) {
  pthread_mutex_lock(&lock);
  boxretry_token_request *request = kept[number];
  kept[number] = NULL;
  pthread_mutex_unlock(&lock);
  if (request && with_success) succeed(request);
  boxretry_token_request_release(request);
}

void tokens_step(void) {
  const unsigned number = pick(SOURCES);
  boxretry_token_source **it = &sources[number];
  if (!*it) {
    make_source(number);
    return;
  }
  switch (pick(10)) {
  case 0:
    boxretry_token_source_free(*it);
    *it = NULL;
    return;
  case 1:
    expect(boxretry_token_source_clear(*it), BOXRETRY_OK);
    return;
  case 2:
    expect(boxretry_clock_advance(clock_of_tokens, pick(100)), BOXRETRY_OK);
    return;
  case 3:
    expect(boxretry_clock_suspend(clock_of_tokens, pick(2000)), BOXRETRY_OK);
    return;
  case 4:
    expect(boxretry_clock_set_wall(clock_of_tokens, pick(100000)), BOXRETRY_OK);
    return;
  case 5:
    answer_kept((int)pick(KEPT), pick(2));
    return;
  case 6:
  case 7:
    atomic_fetch_add(&tokens_due, 1);
    expect(boxretry_token_source_get_async(*it, NULL, on_token, (void *)(uintptr_t)number), BOXRETRY_OK);
    return;
  default:
    get(number);
  }
}

void tokens_in_child(void) {
  boxretry_token *token;
  for (int i = 0; i < SOURCES; i++) {
    if (!sources[i]) continue;
    expect(boxretry_token_source_get(sources[i], BOXRETRY_NO_TIMEOUT, NULL, &token), BOXRETRY_ERROR_FORKED);
    expect(boxretry_token_source_clear(sources[i]), BOXRETRY_ERROR_FORKED);
    boxretry_token_source_free(sources[i]);
  }
  boxretry_clock_free(clock_of_tokens);
}

/* Each waiter gets CLOSED, and once. */
void tokens_end(void) {
  for (int i = 0; i < SOURCES; i++) {
    boxretry_token_source_free(sources[i]);
    sources[i] = NULL;
  }
  wait_until(&tokens_told, atomic_load(&tokens_due));
  set_keeps_more(false); /* a provider may still be at work */
  for (int i = 0; i < KEPT; i++)
    answer_kept(i, pick(2));
  boxretry_clock_free(clock_of_tokens);
}
