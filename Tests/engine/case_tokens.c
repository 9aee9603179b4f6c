/* Cases of access tokens, each a scene that prints its result: case_tokens SCENE URL [OTHER] */
#include "cases.h"
#include <pthread.h>
#include <semaphore.h>

enum { PATIENCE_MS = 60000, GETS = 100000 };

static atomic_int calls;       /* of the provider */
static sem_t asked;            /* posted by each of them */
static sem_t opened;           /* what a provider waits for */
static boxretry_clock *manual; /* a clock that the scenes advance */

static void succeed(boxretry_token_request *request, int number) {
  char token[16];
  ok(boxretry_token_request_succeed(request, token, (size_t)snprintf(token, sizeof token, "t%d", number), 3600));
}

/* Blocks until it is let go. */
static void slow(void *context, boxretry_token_request *request) {
  (void)context;
  int number = ++calls;
  sem_post(&asked);
  sem_wait(&opened);
  succeed(request, number);
}

static void cancels(void *context, boxretry_token_request *request) {
  (void)context;
  ++calls;
  sem_wait(&opened);
  ok(boxretry_token_request_cancel(request));
}

static void numbers(void *context, boxretry_token_request *request) {
  (void)context;
  succeed(request, ++calls);
  sem_post(&asked);
}

/* Gives one token, and fails from then on: in a way that is not retryable, or that is, if the context says so. */
static void once_only(void *context, boxretry_token_request *request) {
  if (++calls == 1 && !context)
    succeed(request, 1);
  else
    ok(boxretry_token_request_fail(request, "no more", context != NULL));
  sem_post(&asked);
}

static boxretry_token_source *new_source(void (*provider)(void *, boxretry_token_request *)) {
  boxretry_token_options options = BOXRETRY_TOKEN_OPTIONS_INIT;
  boxretry_token_source *source;
  options.provider = provider, options.clock = manual;
  ok(boxretry_token_source_new(&options, &source));
  return source;
}

static boxretry_client *new_client_of(boxretry_token_source *source) {
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  options.token_source = source;
  return new_client(options, 5);
}

static boxretry_call *submit(boxretry_client *client, const char *url) {
  boxretry_request request = BOXRETRY_REQUEST_INIT;
  boxretry_call *call;
  request.url = url;
  ok(boxretry_client_submit(client, &request, &call));
  return call;
}

static void finish(boxretry_call *call) {
  ok(boxretry_call_wait(call, PATIENCE_MS));
  print(boxretry_call_take_response(call));
  boxretry_call_free(call);
}

/* F112: given a provider that blocks for 70 s, and no provider_timeout_ms. */
static void slow_provider(const char *url, const char *other) {
  boxretry_token_source *source = new_source(slow);
  boxretry_client *client = new_client_of(source);
  (void)other;
  boxretry_call *call = submit(client, url);
  sem_wait(&asked);
  ok(boxretry_clock_advance(manual, 70));
  sem_post(&opened);
  finish(call);
  printf("%d\n", calls);
  boxretry_client_free(client);
  boxretry_token_source_free(source);
}

/* F113: given a provider that cancels, and three who wait for it; and one that cancels for a call. */
static void is_cancelled(void *context, boxretry_error error, boxretry_token *token) {
  must(error == BOXRETRY_ERROR_CANCELLED && token == NULL, "the waiter gets CANCELLED");
  sem_post(&asked);
  (void)context;
}

static void cancelling_provider(const char *url, const char *other) {
  boxretry_token_source *source = new_source(cancels);
  boxretry_client *client = new_client_of(source);
  (void)other;
  for (int i = 0; i < 3; i++)
    ok(boxretry_token_source_get_async(source, NULL, is_cancelled, NULL));
  sem_post(&opened);
  for (int i = 0; i < 3; i++)
    sem_wait(&asked);
  printf("%d\n", calls);
  sem_post(&opened);
  get(client, url);
  printf("%d\n", calls);
  boxretry_client_free(client);
  boxretry_token_source_free(source);
}

/* F114: given a 401 with a Retry-After, then the provider is asked before the wait is over. `other`: end the call then. */
static void beside_the_wait(const char *url, const char *other) {
  boxretry_token_source *source = new_source(numbers);
  boxretry_client *client = new_client_of(source);
  boxretry_call *call = submit(client, url);
  sem_wait(&asked);
  sem_wait(&asked);
  if (*other) boxretry_call_cancel(call);
  finish(call);
  printf("%d\n", calls);
  boxretry_client_free(client);
  boxretry_token_source_free(source);
}

/* F115: given the same, and a provider that fails the second time. */
static void fails_beside_the_wait(const char *url, const char *other) {
  boxretry_token_source *source = new_source(once_only);
  boxretry_client *client = new_client_of(source);
  (void)other;
  finish(submit(client, url));
  printf("%d\n", calls);
  boxretry_client_free(client);
  boxretry_token_source_free(source);
}

/* F120: given a callback that looks for a token. */
static void look(void *context, boxretry_error error, boxretry_token *token) {
  boxretry_token *same;
  ok(error);
  ok(boxretry_token_source_get(context, 0, NULL, &same));
  printf("%s %s\n", boxretry_token_bytes(token), boxretry_token_bytes(same));
  boxretry_token_free(token);
  boxretry_token_free(same);
  sem_post(&asked);
}

static void look_inside(const char *url, const char *other) {
  boxretry_token_source *source = new_source(numbers);
  (void)url, (void)other;
  ok(boxretry_token_source_get_async(source, NULL, look, source));
  sem_wait(&asked);
  sem_wait(&asked);
  boxretry_token_source_free(source);
}

/* F126, F127: tokens of an endpoint. */
static boxretry_token_source *new_endpoint(const char *url, double default_expires_in) {
  boxretry_token_endpoint_options options = BOXRETRY_TOKEN_ENDPOINT_OPTIONS_INIT;
  boxretry_token_retry_policy policy = BOXRETRY_TOKEN_RETRY_POLICY_INIT;
  boxretry_token_source *source;
  policy.jitter_ratio = 0;
  options.url = url, options.policy = &policy, options.clock = manual, options.default_expires_in = default_expires_in;
  options.proxy_mode = BOXRETRY_PROXY_NONE;
  ok(boxretry_token_source_new_endpoint(&options, &source));
  return source;
}

static void busy_endpoint(const char *url, const char *other) {
  boxretry_token_source *source = new_endpoint(url, 0);
  boxretry_token *token;
  double began, ended;
  (void)other;
  ok(boxretry_clock_set_auto_advance(manual, 1));
  ok(boxretry_clock_now(manual, BOXRETRY_TIMELINE_MONOTONIC, &began));
  ok(boxretry_token_source_get(source, PATIENCE_MS, NULL, &token));
  ok(boxretry_clock_now(manual, BOXRETRY_TIMELINE_MONOTONIC, &ended));
  printf("%s %.1f\n", boxretry_token_bytes(token), ended - began);
  boxretry_token_free(token);
  boxretry_token_source_free(source);
}

static void no_life(const char *url, const char *other) {
  boxretry_token_source *without = new_endpoint(url, 0), *with = new_endpoint(url, 1800);
  boxretry_token *token;
  (void)other;
  boxretry_error error = boxretry_token_source_get(without, PATIENCE_MS, NULL, &token);
  printf("%s: %s\n", boxretry_error_name(error), boxretry_last_error_detail());
  ok(boxretry_token_source_get(with, PATIENCE_MS, NULL, &token));
  printf("%s %g\n", boxretry_token_bytes(token), boxretry_token_expires_in(token));
  boxretry_token_free(token);
  boxretry_token_source_free(without);
  boxretry_token_source_free(with);
}

/* F128, F128b: given serve_stale, a token with 40 s left and a provider that fails, at once or retryably. */
static void stale(const char *url, const char *retryable) {
  boxretry_token_options options = BOXRETRY_TOKEN_OPTIONS_INIT;
  boxretry_token_source *source;
  boxretry_token *token;
  (void)url;
  calls = 1; /* the first token was given already */
  options.provider = once_only, options.context = *retryable ? (void *)retryable : NULL, options.clock = manual;
  options.initial_token = "known", options.initial_expires_in = 200, options.serve_stale = 1;
  ok(boxretry_token_source_new(&options, &source));
  ok(boxretry_clock_advance(manual, 160));
  for (int i = 0; i < GETS; i++) {
    ok(boxretry_token_source_get(source, 0, NULL, &token));
    must(strcmp(boxretry_token_bytes(token), "known") == 0, "it is the token that is still valid");
    boxretry_token_free(token);
    if (i == 0) sem_wait(&asked);
    if (i == GETS / 2) ok(boxretry_clock_advance(manual, 0.5));
  }
  printf("%d\n", calls - 1);
  boxretry_token_source_free(source);
}

int main(int count, char **arguments) {
  const scene scenes[] = {{"slow_provider", slow_provider},
                          {"cancelling_provider", cancelling_provider},
                          {"beside_the_wait", beside_the_wait},
                          {"fails_beside_the_wait", fails_beside_the_wait},
                          {"look_inside", look_inside},
                          {"busy_endpoint", busy_endpoint},
                          {"no_life", no_life},
                          {"stale", stale},
                          {NULL, NULL}};
  sem_init(&asked, 0, 0);
  sem_init(&opened, 0, 0);
  ok(boxretry_clock_new_manual(&manual));
  int status = play(scenes, count, arguments);
  boxretry_clock_free(manual);
  return status;
}
